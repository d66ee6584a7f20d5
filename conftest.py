"""What all tests share, those of the library and those of the benchmarks: JAX, compiled code, Hypothesis.

Both precisions are tested by explicit dtype, so JAX must be able to hold float64.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

if "TDAMP_CACHE" not in os.environ:  # compiled code is shared between the workers, and not with the user's own
    os.environ["TDAMP_CACHE"] = tempfile.mkdtemp(prefix="tdamp-tests-")
    atexit.register(shutil.rmtree, os.environ["TDAMP_CACHE"], ignore_errors=True)

import jax
import pytest
from hypothesis import settings

from tdamp.training.compilation import keep_compiled

jax.config.update("jax_enable_x64", True)
keep_compiled()

settings.register_profile("house", deadline=None, derandomize=True, max_examples=50, database=None)
settings.load_profile("house")

MOST_MAPS = 20_000
"""Memory maps of a process above which compiled code is released: Linux allows 65,530, and XLA crashes beyond them."""


_STARTS: dict[str, dict] = {}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Every test draws the same numbers from its module's RNG, whichever tests ran before it in the same process."""
    module = getattr(item, "module", None)
    if hasattr(module, "RNG"):
        numbers = module.RNG.bit_generator
        numbers.state = _STARTS.setdefault(module.__name__, numbers.state)


@pytest.fixture(autouse=True, scope="module")
def _release_compiled_code() -> Iterator[None]:
    """What the oracles and benchmarks have compiled, in many shapes, is released before there is too much of it."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_text().count("\n") > MOST_MAPS:
        jax.clear_caches()
