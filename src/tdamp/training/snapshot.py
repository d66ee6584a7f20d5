"""A posterior as named arrays, and back: for checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from ..engine.state import State, path_name
from ..io.records import Arrays, below


def arrays_of(name: str, state: State, kept: Sequence[np.ndarray]) -> Arrays:
    """Every array of a state, to the last bit, and the units that it has."""
    leaves = jax.tree_util.tree_leaves_with_path(jax.device_get(state))
    arrays = {f"{name}.{path_name(path)}": np.asarray(leaf) for path, leaf in leaves}
    return arrays | {f"{name}.kept.{l}": units for l, units in enumerate(kept)}


def state_of(name: str, arrays: Arrays, like: State) -> tuple[State, list[np.ndarray]]:
    """What `arrays_of` made arrays of: the state and its kept units, as a state of the structure of `like`."""
    here = below(arrays, name)
    state = jax.tree_util.tree_map_with_path(lambda path, _: here[path_name(path)], like)
    return jax.device_put(state), [here[f"kept.{l}"] for l in range(len(like.layers))]
