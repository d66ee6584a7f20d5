"""Estimators in folders: `save` and `load`, without pickle (see export.store for the files themselves)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import jax
import numpy as np

from ..engine.network import Network
from ..engine.settings import Settings, check_network
from ..engine.state import State, init, is_finite, path_name
from ..estimators import TDAMPClassifier, TDAMPRegressor
from ..estimators.parameters import group_ids_of
from ..training.calibration import Calibration
from ..training.data import check_groups
from ..training.fitted import Fitted, active_units
from ..training.outcome import Outcome
from . import folder as store
from .folder import ModelFileError
from .model_card import card

ESTIMATORS = {kind.__name__: kind for kind in (TDAMPRegressor, TDAMPClassifier)}
NOT_STORED = ("callbacks", "checkpoint_dir")
SCALES = ("x_mean_", "x_scale_", "lost_log_likelihood_", "y_mean_", "y_scale_")

MOST_UNITS = 10**7
"""Of a layer: more were never trained, and lists of them would fill the memory."""

Estimator: TypeAlias = TDAMPRegressor | TDAMPClassifier


def save(estimator: Estimator, folder: str | Path, **extra: Any) -> None:
    """Write a fitted estimator into `folder`: whole, or not at all. `extra` is kept in the config, as JSON.

    Callbacks and checkpoint_dir are not stored, and a random_state that is not a number becomes None.
    """
    fitted = estimator._need_fitted()
    arrays = {path_name(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(fitted.state)}
    arrays |= {f"kept.{l}": np.asarray(kept, np.int64) for l, kept in enumerate(fitted.kept)}
    arrays |= {name: getattr(estimator, name) for name in SCALES if hasattr(estimator, name)}
    if fitted.calibration is not None:
        arrays |= {f"calibration.{name}": value for name, value in fitted.calibration._asdict().items()}
    config = {
        "estimator": type(estimator).__name__,
        "params": {name: _json(value) for name, value in estimator.get_params().items() if name not in NOT_STORED},
        "network": asdict(fitted.network),
        "asked": asdict(estimator.network_),
        "outcome": fitted.outcome.name,
        "epoch": fitted.epoch,
        "n_rows": estimator.n_rows_,
        "settings": _json(asdict(estimator.settings_)),
        "history": [_json(record) for record in fitted.history],
        "feature_names": [str(n) for n in getattr(estimator, "feature_names_in_", ())],
        "classes": _json(getattr(estimator, "classes_", None)),
        "single_output": getattr(estimator, "single_output_", None),
        "extra": extra,
    }
    store.save(folder, arrays, config, card(estimator))


def load(folder: str | Path) -> Estimator:
    """A fitted estimator from `folder`; ModelFileError says what is wrong with one that cannot be read."""
    return load_with_extra(folder)[0]


def load_with_extra(folder: str | Path) -> tuple[Estimator, dict[str, Any]]:
    """The estimator, and the extra that was saved with it."""
    arrays, config = store.load(folder)
    try:
        return _restore(arrays, config), dict(config["extra"])
    except ModelFileError as error:
        raise ModelFileError(f"{folder}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"{folder}: config.json does not describe a tdamp model ({error!r})") from error


def _restore(arrays: dict[str, np.ndarray], config: dict[str, Any]) -> Estimator:
    kind: Any = ESTIMATORS[config["estimator"]]
    estimator: Any = kind(**_tuples(config["params"]))
    network, asked = _network(config["network"]), _network(config["asked"])
    if network.task != kind._task or asked.task != kind._task or network.n_layers != asked.n_layers:
        raise ModelFileError("the networks in config.json do not belong to the estimator")
    kept = tuple(arrays[f"kept.{l}"] for l in range(network.n_layers))
    for units, width, full in zip(kept, network.widths, asked.widths, strict=False):
        if full > MOST_UNITS:
            raise ModelFileError(f"a layer of {full} units is asked for, above {MOST_UNITS}")
        if units.shape != (width,) or units.dtype != np.int64:
            raise ModelFileError("the lists of units do not fit the network")
        if (units < 0).any() or (units >= full).any() or (np.diff(units) <= 0).any():
            raise ModelFileError("a unit is listed that the network does not have, or out of order")
    history = tuple(dict(record) for record in config["history"])
    epoch = config["epoch"]
    if type(epoch) is not int or not 0 <= epoch <= len(history):
        raise ModelFileError(f"epoch is {epoch!r}, in a history of {len(history)}")
    if not all(type(record["epoch"]) is int and _is_numbers([*record.values()]) for record in history):
        raise ModelFileError("the history has an epoch without its number, or neither numbers nor words")
    if history and not 0 < history[epoch - 1]["counted"] < np.inf:
        raise ModelFileError("the history has an epoch that counted no data")
    state, calibration = _state(network, arrays), _calibration(network, arrays)
    settings = Settings(**_tuples(config["settings"]))
    outcome, prediction = Outcome[config["outcome"]], settings.prediction
    estimator.fitted_ = Fitted(network, state, kept, history, outcome, epoch, calibration, prediction=prediction)
    estimator.network_ = asked
    estimator.n_rows_ = _count("n_rows", config["n_rows"])
    estimator.settings_ = settings
    estimator.n_features_in_ = asked.widths[0]
    names = np.asarray(config["feature_names"], object)
    if names.size:
        if names.shape != (asked.widths[0],) or not all(isinstance(name, str) for name in names):
            raise ModelFileError("there are more or fewer feature names than inputs")
        estimator.feature_names_in_ = names
    check_groups(group_ids_of(estimator, asked.widths[0]), asked.widths[0])
    outputs = asked.n_targets
    for name in SCALES if kind is TDAMPRegressor else SCALES[:3]:
        scale = arrays[name]
        if scale.shape != (outputs if name.startswith("y") else asked.widths[0],) or not np.isfinite(scale).all():
            raise ModelFileError(f"{name} does not fit the network")
        if name.endswith("scale_") and not (scale > 0).all():
            raise ModelFileError(f"{name} must be positive")
        setattr(estimator, name, scale.astype(np.float64))
    if isinstance(estimator, TDAMPClassifier):
        estimator.classes_ = np.asarray(config["classes"])
        if estimator.classes_.shape != (outputs,) or len(np.unique(estimator.classes_)) != outputs:
            raise ModelFileError("there are more or fewer classes than outputs")
    else:
        estimator.single_output_ = config["single_output"]
        if not isinstance(estimator.single_output_, bool) or (estimator.single_output_ and outputs != 1):
            raise ModelFileError(f"single_output is {config['single_output']!r}, with {outputs} outputs")
    return estimator


def _count(name: str, value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ModelFileError(f"{name} is {value!r}, expected a whole number of at least 0")
    return value


def _is_numbers(value: Any) -> bool:
    """Or plain words, or lists of both."""
    if isinstance(value, list | tuple):
        return all(map(_is_numbers, value))
    return isinstance(value, int | float | None) or (isinstance(value, str) and value.isascii())


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """JSON's lists were tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def _network(fields: dict[str, Any]) -> Network:
    network = Network(**{**fields, "widths": tuple(fields["widths"])})
    check_network(network)
    return network


def _state(network: Network, arrays: dict[str, np.ndarray]) -> State:
    """The state by the names of its arrays, each of the shape that this network's has."""
    y = np.zeros((1, network.n_targets)) if network.task == "regression" else np.zeros(1, int)
    size = sum(array.size for array in arrays.values())
    if network.n_params > size:
        raise ModelFileError("the network is larger than the arrays of its file")
    like = init(network, Settings(), np.random.default_rng(0), np.zeros((1, network.widths[0]), np.float32), y)

    def put(path: Any, expected: Any) -> np.ndarray:
        array = arrays[path_name(path)]
        if array.shape != expected.shape or array.dtype.kind != expected.dtype.kind:
            raise ModelFileError(f"the array {path_name(path)} has shape {array.shape}, expected {expected.shape}")
        if np.isnan(array).any() or (path_name(path).endswith("var") and (array < 0).any()):
            raise ModelFileError(f"the array {path_name(path)} holds values that no posterior has")
        if path_name(path) == "noise_var" and not (array > 0).all():
            raise ModelFileError("noise_var must be positive")
        return array.astype(expected.dtype)

    state = jax.device_put(jax.tree_util.tree_map_with_path(put, like))
    if not is_finite(state) or not all(mask.any() for mask in active_units(state)):
        raise ModelFileError("the posterior is not finite, or a layer is empty")
    return state


def _calibration(network: Network, arrays: dict[str, np.ndarray]) -> Calibration | None:
    if "calibration.dof" not in arrays:
        return None
    found = Calibration(*(arrays[f"calibration.{name}"].astype(np.float64) for name in Calibration._fields))
    fits = all(a.shape == (network.n_targets,) and (a > 0).all() for a in found) and network.task == "regression"
    if not fits or not np.isfinite(found[:2]).all() or not (found.dof > 2).all():
        raise ModelFileError("the calibration does not fit the network")
    return found


def _json(value: Any) -> Any:
    """The value as JSON can hold it; numbers that are not finite and foreign objects become None."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_json(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else None
