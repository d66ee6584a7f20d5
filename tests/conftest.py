"""Both precisions are tested by explicit dtype, so JAX must be able to hold float64."""

import atexit
import os
import shutil
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")

if "TDAMP_CACHE" not in os.environ:  # compiled code is shared between the workers, and not with the user's own
    os.environ["TDAMP_CACHE"] = tempfile.mkdtemp(prefix="tdamp-tests-")
    atexit.register(shutil.rmtree, os.environ["TDAMP_CACHE"], ignore_errors=True)

import jax
import pytest
from hypothesis import settings

from tdamp.compilation import keep_compiled

jax.config.update("jax_enable_x64", True)
keep_compiled()

settings.register_profile("house", deadline=None, derandomize=True, max_examples=50, database=None)
settings.load_profile("house")


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    """Every test that takes it runs in both precisions."""
    return request.param
