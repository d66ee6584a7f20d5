"""The compilation cache: compiled code is kept in the user's cache folder, so that only the first fit waits for it.

JAX keeps it by a key of the program, the versions and the machine's processor. A folder that the user gave to JAX is
left alone; TDAMP_COMPILATION_CACHE=off turns ours off.
"""

from __future__ import annotations

import os

import jax

from ..io.cache import cache_folder
from .compiled import FOLDER

VARIABLE = "TDAMP_COMPILATION_CACHE"
LEAST_SECONDS = 0.2
"""What compiles faster than this is not kept."""


def keep_compiled() -> None:
    """Switch the cache on, unless it is switched off, the user has one of their own, or the folder cannot be made."""
    theirs = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    if theirs or os.environ.get(VARIABLE, "on").lower() in ("off", "0", "no", "false"):
        return
    folder = cache_folder() / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a home that cannot be written to: compiling again is all that is lost
        return
    FOLDER[:] = [folder]
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)
