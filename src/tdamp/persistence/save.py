"""Estimators in folders: `save` and `load`, without pickle (see `folder` for the files themselves)."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..engine.network import Network
from ..engine.settings import Settings, check_network
from ..factors.layers.catalog import layer_of
from ..io.errors import ModelFileError
from ..training.fitted import Fitted
from ..training.outcome import Outcome
from ..training.pruning_loss import PruningLoss
from . import folder as model_folder
from .arrays import Arrays, calibration_arrays, restore_calibration, restore_state, state_arrays
from .model_card import card
from .registry import FORMS

NOT_STORED = ("callbacks", "checkpoint_dir")

MOST_UNITS = 10**7
"""Largest number of units of a layer that is read: more were never trained, and lists of them would fill the memory."""

Estimator: TypeAlias = Any
"""An estimator of a registered class, `TDAMPRegressor` or `TDAMPClassifier`."""


def save(estimator: Estimator, folder: str | Path, **extra: Any) -> None:
    """Write a fitted estimator into `folder`: whole, or not at all. `extra` is kept in the config, as JSON.

    Callbacks and checkpoint_dir are not stored, and a random_state that is not a number becomes None.
    """
    check_is_fitted(estimator, msg="This %(name)s is not fitted yet: call fit first.")
    fitted, name = estimator.fitted_, type(estimator).__name__
    arrays = state_arrays(fitted.state)
    arrays |= {f"kept.{l}": np.asarray(kept, np.int64) for l, kept in enumerate(fitted.kept)}
    arrays |= {name: getattr(estimator, name) for name in FORMS[name].arrays}
    arrays |= calibration_arrays(fitted.calibration)
    config = {
        "estimator": name,
        "params": {name: _json(value) for name, value in estimator.get_params().items() if name not in NOT_STORED},
        "network": asdict(fitted.network),
        "asked": asdict(estimator.network_),
        "outcome": fitted.outcome.name,
        "epoch": fitted.epoch,
        "pruning": None if fitted.pruning is None else _json(fitted.pruning._asdict()),
        "n_rows": estimator.n_rows_,
        "settings": _json(asdict(estimator.settings_)),
        "history": [_json(record) for record in fitted.history],
        "feature_names": [str(n) for n in getattr(estimator, "feature_names_in_", ())],
        "classes": _json(getattr(estimator, "classes_", None)),
        "single_output": getattr(estimator, "single_output_", None),
        "extra": extra,
    }
    model_folder.save(folder, arrays, config, card(estimator))


def load(folder: str | Path) -> Estimator:
    """A fitted estimator from `folder`; ModelFileError says what is wrong with one that cannot be read."""
    return load_with_extra(folder)[0]


def load_with_extra(folder: str | Path) -> tuple[Estimator, dict[str, Any]]:
    """The estimator, and the extra that was saved with it."""
    arrays, config = model_folder.load(folder)
    try:
        return _restore(arrays, config), dict(config["extra"])
    except ModelFileError as error:
        raise ModelFileError(f"{folder}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"{folder}: config.json does not describe a tdamp model ({error!r})") from error


def _restore(arrays: Arrays, config: dict[str, Any]) -> Estimator:
    form = FORMS[config["estimator"]]
    estimator = form.kind(**_tuples(config["params"]))
    if isinstance(estimator.layers, tuple):
        estimator.layers = tuple(map(layer_of, estimator.layers))
    network, asked = _network(config["network"]), _network(config["asked"])
    if network.task != form.task or asked.task != form.task or network.n_layers != asked.n_layers:
        raise ModelFileError("the networks in config.json do not belong to the estimator")
    kept = _kept_units(network, asked, arrays)
    history, epoch = _history(config)
    settings = Settings(**_tuples(config["settings"]))
    estimator.fitted_ = Fitted(
        network,
        restore_state(network, settings.prior, arrays),
        kept,
        history,
        Outcome[config["outcome"]],
        epoch,
        restore_calibration(network, arrays),
        prediction=settings.prediction,
        pruning=_pruning_loss(config.get("pruning")),
    )
    estimator.network_ = asked
    estimator.n_rows_ = _count("n_rows", config["n_rows"])
    estimator.settings_ = settings
    estimator.n_features_in_ = asked.n_columns
    if asked.input_shape is not None:
        estimator.input_shape_ = asked.input_shape
    _restore_feature_names(estimator, config["feature_names"])
    for name in form.arrays:
        setattr(estimator, name, _scale(name, arrays[name], asked))
    form.restore(estimator, config, asked)
    return estimator


def _network(fields: dict[str, Any]) -> Network:
    network = Network(**{**fields, "widths": tuple(fields["widths"])})
    check_network(network)
    return network


def _kept_units(network: Network, asked: Network, arrays: Arrays) -> tuple[np.ndarray, ...]:
    """The units of the network that was asked for that are left, in order, a layer at a time."""
    kept = tuple(arrays[f"kept.{l}"] for l in range(network.n_layers))
    for units, width, full in zip(kept, network.widths, asked.widths, strict=False):
        if full > MOST_UNITS:
            raise ModelFileError(f"a layer of {full} units is asked for, above {MOST_UNITS}")
        if units.shape != (width,) or units.dtype != np.int64:
            raise ModelFileError("the lists of units do not fit the network")
        if (units < 0).any() or (units >= full).any() or (np.diff(units) <= 0).any():
            raise ModelFileError("a unit is listed that the network does not have, or out of order")
    return kept


def _history(config: dict[str, Any]) -> tuple[tuple[dict[str, Any], ...], int]:
    """The records of the epochs, and the number of the one whose posterior was kept."""
    history = tuple(dict(record) for record in config["history"])
    epoch = config["epoch"]
    if type(epoch) is not int or not 0 <= epoch <= len(history):
        raise ModelFileError(f"epoch is {epoch!r}, in a history of {len(history)}")
    if not all(type(record["epoch"]) is int and _is_plain([*record.values()]) for record in history):
        raise ModelFileError("the history has an epoch without its number, or neither numbers nor words")
    if history and not 0 < history[epoch - 1]["counted"] < np.inf:
        raise ModelFileError("the history has an epoch that counted no data")
    return history, epoch


def _pruning_loss(stored: dict[str, Any] | None) -> PruningLoss | None:
    """What pruning cost; None where nothing judged it, and in the folders of versions that did not store it."""
    if stored is None:
        return None
    loss = PruningLoss(**stored)
    if not all(isinstance(value, int | float) for value in loss):
        raise ModelFileError("what pruning cost is said in something else than numbers")
    return loss


def _restore_feature_names(estimator: Estimator, stored: Any) -> None:
    names = np.asarray(stored, object)
    if names.size:
        if names.shape != (estimator.n_features_in_,) or not all(isinstance(name, str) for name in names):
            raise ModelFileError("there are more or fewer feature names than inputs")
        estimator.feature_names_in_ = names


def _scale(name: str, values: np.ndarray, asked: Network) -> np.ndarray:
    """One number for each target, where the name begins with y, for each column (x) or for each input."""
    length = {"x": asked.n_columns, "y": asked.n_targets}.get(name[0], asked.widths[0])
    if values.shape != (length,) or not np.isfinite(values).all():
        raise ModelFileError(f"{name} does not fit the network")
    if name.endswith("scale_") and not (values > 0).all():
        raise ModelFileError(f"{name} must be positive")
    return values.astype(np.float64)


def _count(name: str, value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ModelFileError(f"{name} is {value!r}, expected a whole number of at least 0")
    return value


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, a plain word, or a list of both."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return isinstance(value, int | float | None) or (isinstance(value, str) and value.isascii())


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with tuples where JSON has lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def _json(value: Any) -> Any:
    """The value as JSON can hold it; numbers that are not finite and foreign objects become None."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_json(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if is_dataclass(value) and not isinstance(value, type):
        return _json(asdict(value))
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else None
