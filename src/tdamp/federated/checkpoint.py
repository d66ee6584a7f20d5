"""A federation between two rounds, in a folder: what the server needs to go on as if nothing had happened.

It is written as models are (`persistence.folder`): whole or not at all, without pickle, to the last bit.
Oracle: a run that is stopped and started again gives the bits of one that is not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.parameters import group_ids_of
from ..io.errors import ModelFileError
from ..io.records import below
from ..persistence import folder as store
from ..training.best import Best
from ..training.data import check_groups
from .client import network_of
from .messages import Arrays, Broadcast, broadcast_from, named
from .quality import Judged
from .rounds import Record
from .server import Server
from .terms import Terms

KIND = "federation"
CARD = (
    "A federated training that has not come to its end. `tdamp` goes on from here when the server is started again.\n"
)
SCALES = ("x_mean_", "x_scale_", "y_mean_", "y_scale_")
PARTS = ("weight", "bias")
NOT_REQUESTED = ("callbacks", "verbose", "checkpoint_dir", "devices")


def request_of(estimator: Any, classes: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What was requested, as JSON has it: a checkpoint is good for the same request only."""
    params = {name: value for name, value in estimator.get_params().items() if name not in NOT_REQUESTED}
    asked = {"estimator": type(estimator).__name__, **params, "classes": classes, **options}
    return json.loads(json.dumps(asked, default=_plain))


def save(folder: str | Path, request: dict[str, Any], estimator: Any, server: Server, history: list[Record]) -> None:
    """Replace the checkpoint in a folder that is new, empty or has an older one."""
    state = Broadcast(server.state, server.kept[0], None, np.asarray(0.0), np.asarray(0))
    arrays: Arrays = {f"broadcast.{name}": array for name, array in named(state).items()}
    arrays |= {f"kept.{l}": np.asarray(kept, np.int64) for l, kept in enumerate(server.kept)}
    arrays |= {f"rows.{k}": np.asarray(rows, np.float64) for k, rows in server.rows.items()}
    if server.best:
        best = Broadcast(server.best.state, server.best.kept[0], None, np.asarray(0.0), np.asarray(0))
        arrays |= {f"best.{name}": array for name, array in named(best).items()}
        arrays |= {f"best_kept.{l}": np.asarray(kept, np.int64) for l, kept in enumerate(server.best.kept)}
    if server.whole is not None:
        arrays |= {f"whole.{name}": np.asarray(sums) for name, sums in server.whole._asdict().items()}
    for l, moves in enumerate(server.velocity or ()):
        arrays |= {f"velocity.{l}.{part}": np.asarray(move) for part, move in zip(PARTS, moves, strict=True)}
    arrays |= {f"{server.rule.name}.{name}": array for name, array in server.rule.to_arrays(server.memory).items()}
    arrays |= {f"scales.{name}": getattr(estimator, name) for name in SCALES if hasattr(estimator, name)}
    config = {
        "kind": KIND,
        "wish": request,  # the format's name for it
        "terms": server.terms.to_json(),
        "rounds_done": server.rounds_done,
        "best": [server.best.score, server.best.at] if server.best else None,
        "history": json.dumps(history),  # as text: a record may hold a NaN, which JSON proper has not
        "feature_names": [str(name) for name in getattr(estimator, "feature_names_in_", ())],
        "classes": np.asarray(estimator.classes_).tolist() if hasattr(estimator, "classes_") else None,
        "single_output": getattr(estimator, "single_output_", None),
    }
    store.save(folder, arrays, config, CARD)


def load(folder: str | Path, request: dict[str, Any], estimator: Any) -> tuple[Server, list[Record]] | None:
    """Server and history of the checkpoint in a folder, None if there is none; the estimator takes what it had learned.

    ModelFileError says why a checkpoint cannot be used.
    """
    folder = Path(folder)
    if not (folder / store.CONFIG).exists():
        store.check_ours(folder)
        return None
    arrays, config = store.load(folder)
    if config.get("kind") != KIND:
        raise ModelFileError(f"{folder}: holds a model, not a checkpoint: choose another folder")
    try:
        _check_request(config["wish"], request)
        server = _server(arrays, config, estimator)
        return server, json.loads(config["history"])
    except ModelFileError as error:
        raise ModelFileError(f"{folder}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelFileError(f"{folder}: does not hold a checkpoint of tdamp ({error!r}): remove it") from error


def _check_request(stored: dict[str, Any], request: dict[str, Any]) -> None:
    differ = sorted(name for name in stored.keys() | request.keys() if stored.get(name) != request.get(name))
    if differ:
        raise ModelFileError(
            f"the checkpoint is of another federation ({', '.join(differ)} differ): ask for the same to go on, or "
            "remove the folder to begin anew"
        )


def _server(arrays: Arrays, config: dict[str, Any], estimator: Any) -> Server:
    terms = Terms.from_json(config["terms"])
    widths = terms.network.widths
    estimator.n_features_in_ = terms.network.n_columns
    if terms.network.input_shape is not None:
        estimator.input_shape_ = terms.network.input_shape
    if config["feature_names"]:
        estimator.feature_names_in_ = np.asarray(config["feature_names"], object)
    if config["classes"] is not None:
        estimator.classes_ = np.asarray(config["classes"])
    if config["single_output"] is not None:
        estimator.single_output_ = config["single_output"]
    for name, array in below(arrays, "scales").items():
        setattr(estimator, name, array)
    n_layers = terms.network.n_layers
    state = broadcast_from(below(arrays, "broadcast"), n_layers, terms.settings.prior).state
    rows = {int(k): float(count) for k, count in below(arrays, "rows").items()}
    server = Server(terms, state, rows, check_groups(group_ids_of(estimator, widths[0]), widths[0]))
    server.kept = [arrays[f"kept.{l}"] for l in range(n_layers)]
    server.rounds_done = server.posterior_round = int(config["rounds_done"])
    if config["best"] is not None:
        score, when = config["best"]
        best = broadcast_from(below(arrays, "best"), n_layers, terms.settings.prior).state
        kept = [arrays[f"best_kept.{l}"] for l in range(n_layers)]
        server.best = Best(float(score), int(when), best, network_of(terms, best), kept)
    if "whole.scores" in arrays:  # not in those of older versions
        server.whole = Judged(**below(arrays, "whole"))
    if any(name.startswith("velocity.") for name in arrays):
        server.velocity = [(arrays[f"velocity.{l}.weight"], arrays[f"velocity.{l}.bias"]) for l in range(n_layers)]
    server.memory = server.rule.from_arrays(below(arrays, server.rule.name), n_layers)
    return server


def _plain(value: Any) -> Any:
    """NumPy's arrays and numbers as Python's, anything else by its name."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)
