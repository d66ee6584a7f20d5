"""The module of PyTorch that makes rates of their logarithms, `Rate`: made when it is first asked for, as PyTorch is an
extra, and found again under this name by files of whole modules."""

from __future__ import annotations

from typing import Any

from .._optional import need
from ..numerics.counts import MAX_LOG_RATE


def __getattr__(name: str) -> Any:
    if name != "Rate":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    torch: Any = need("torch", "torch")
    module: Any = torch.nn.Module

    class Rate(module):
        """exp(z), held below exp(MAX_LOG_RATE) as in predictions."""

        def forward(self, z: Any) -> Any:
            """Rates of outputs z."""
            return torch.exp(torch.clamp(z, max=MAX_LOG_RATE))

    Rate.__qualname__ = "Rate"
    return globals().setdefault("Rate", Rate)
