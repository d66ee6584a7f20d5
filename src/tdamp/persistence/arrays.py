"""The arrays of a model folder: the posterior by name, and what is checked before it is believed."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..engine.network import Network
from ..engine.settings import Settings
from ..engine.state import State, init, is_finite, path_name
from ..io.errors import ModelFileError
from ..training.calibration import Calibration
from ..training.fitted import active_units

Arrays = dict[str, np.ndarray]


def array_name(path: Any) -> str:
    """The name in files of a leaf of the state, such as layers.0.weight.mean.

    Names in files outlive the code: where a field of the state is renamed or moves, the file's name is kept here.
    """
    return path_name(path).replace(".prior_state.", ".chain.")


def state_arrays(state: State) -> Arrays:
    """The posterior as arrays by name."""
    return {array_name(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(state)}


def restore_state(network: Network, prior: str, arrays: Arrays) -> State:
    """The posterior under this prior from arrays by name, each of the shape that this network's has."""
    if network.n_params > sum(array.size for array in arrays.values()):
        raise ModelFileError("the network is larger than the arrays of its file")

    def checked(path: Any, expected: Any) -> np.ndarray:
        name = array_name(path)
        array = arrays[name]
        if array.shape != expected.shape or array.dtype.kind != expected.dtype.kind:
            raise ModelFileError(f"the array {name} has shape {array.shape}, expected {expected.shape}")
        if np.isnan(array).any() or (name.endswith("var") and (array < 0).any()):
            raise ModelFileError(f"the array {name} holds values that no posterior has")
        if name == "noise_var" and not (array > 0).all():
            raise ModelFileError("noise_var must be positive")
        return array.astype(expected.dtype)

    state = jax.device_put(jax.tree_util.tree_map_with_path(checked, _untrained(network, prior)))
    if not is_finite(state) or not all(mask.any() for mask in active_units(state)):
        raise ModelFileError("the posterior is not finite, or a layer is empty")
    return state


def _untrained(network: Network, prior: str) -> State:
    """A state with the arrays' shapes and types."""
    columns = network.columns(np.arange(network.widths[0]))
    x, y = np.zeros((1, len(columns)), np.float32), network.output.example_y(network.n_targets)
    return init(network, Settings(prior=prior), np.random.default_rng(0), x, y)


def calibration_arrays(calibration: Calibration | None) -> Arrays:
    """The calibration of a regression, or nothing."""
    if calibration is None:
        return {}
    return {f"calibration.{name}": value for name, value in calibration._asdict().items()}


def restore_calibration(network: Network, arrays: Arrays) -> Calibration | None:
    """The calibration, or None for a model that has none."""
    if "calibration.dof" not in arrays:
        return None
    calibration = Calibration(*(arrays[f"calibration.{name}"].astype(np.float64) for name in Calibration._fields))
    fits = all(a.shape == (network.n_targets,) and (a > 0).all() for a in calibration)
    if not fits or not np.isfinite(calibration[:2]).all() or not (calibration.dof > 2).all():
        raise ModelFileError("the calibration does not fit the network")
    return calibration
