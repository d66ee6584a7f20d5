"""The libraries torch and laplace, or a sentence that says what to install."""

from __future__ import annotations

from tdamp._optional import MissingExtra, need

torch = need("torch", "peers", "tdamp-bench")
try:
    laplace = need("laplace", "peers", "tdamp-bench")
except RuntimeError as error:  # from torchvision, which laplace-torch asks for but does not use
    raise MissingExtra(
        f"laplace-torch could not be imported ({error}). If torchvision was built for another PyTorch, install the "
        "build that belongs to yours, or remove it (pip uninstall torchvision): it is not needed here."
    ) from error
