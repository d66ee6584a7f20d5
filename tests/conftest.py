"""Both precisions are tested by explicit dtype, so JAX must be able to hold float64."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import pytest
from hypothesis import settings

jax.config.update("jax_enable_x64", True)

settings.register_profile("house", deadline=None, derandomize=True, max_examples=50, database=None)
settings.load_profile("house")


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    """Every test that takes it runs in both precisions."""
    return request.param
