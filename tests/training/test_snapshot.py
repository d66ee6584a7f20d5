"""A state as arrays with names, and back."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.engine.state import State, init
from tdamp.training.snapshot import arrays_of, state_of

NETWORK = Network((3, 4, 2))


def started(seed: int, prior: str) -> State:
    """The start of a training."""
    rng = np.random.default_rng(seed)
    settings = Settings(prior=prior)  # type: ignore[arg-type]
    return init(NETWORK, settings, rng, rng.normal(size=(9, 3)), rng.normal(size=(9, 2)))


@pytest.mark.parametrize("prior", ["group", "burst"])
def test_a_state_comes_back(prior: str) -> None:
    """identity: every bit, into the structure of another state; of two in one file each under its name."""
    state, other, kept = started(0, prior), started(1, prior), [np.array([0, 2]), np.arange(4)]
    arrays = arrays_of("now", state, kept) | arrays_of("best", other, kept[::-1])
    back, kept_back = state_of("now", arrays, like=other)
    assert jax.tree.structure(back) == jax.tree.structure(state)
    for one, same in zip(jax.tree.leaves(state), jax.tree.leaves(back), strict=True):
        assert one.dtype == same.dtype
        np.testing.assert_array_equal(one, same)
    assert all(np.array_equal(*pair) for pair in zip(kept, kept_back, strict=True))


def test_names() -> None:
    """contract: the state's name first, then the path of the leaf."""
    names = set(arrays_of("best", started(0, "group"), [np.arange(3), np.arange(4)]))
    assert {"best.layers.0.weight.mean", "best.noise_var", "best.kept.1"} <= names
