"""Federations of tables in files: every node reads its own, through an encoder that all of them have.

The app folder (`flower.app`) has the encoder and the estimator's parameters in one JSON file; how long and with whom
to train is in Flower's run configuration, where `flwr run --run-config` can change it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..._optional import need
from ...estimators import ESTIMATOR_OF_TASK, ESTIMATORS, save
from ...persistence import folder as store
from ...tables import Encoder, read_table
from ..privacy.central import Privacy
from .client import client_app, number_of
from .membership import LOG, Rules
from .server import federate, forget

DATA, PARTS = "data", "parts"
"""Where a client's rows are: the table of its node's configuration, or a folder of the run's (simulations)."""


def table_client_app(schema: str | Path) -> Any:
    """A ClientApp that reads the node's table: `--node-config 'partition-id=0 data="my.csv"'`."""

    def rows(context: Any) -> tuple[Any, Any]:
        encoder = read_schema(schema)[0]
        if context.run_config.get(PARTS):
            return _part(Path(str(context.run_config[PARTS])), number_of(context), encoder)
        path = context.node_config.get(DATA)
        if not isinstance(path, str) or not path:
            raise ValueError(
                f"{DATA} is {path!r} in this node's configuration: expected the path of its table: "
                f"start it with --node-config 'partition-id=0 {DATA}=\"my.csv\"'"
            )
        X, y = encoder.pairs(read_table(path))
        for note in encoder.last_notes:
            LOG.info("%s: %s", path, note)
        return pd.DataFrame(X, columns=list(encoder.feature_names)), y

    return client_app(rows)


def table_server_app(schema: str | Path) -> Any:
    """A ServerApp that trains by the run's configuration and saves the model, encoder and all, in its folder `out`."""
    app = need("flwr.serverapp", "federated").ServerApp()

    @app.main()
    def main(grid: Any, context: Any) -> None:
        encoder, kind, params = read_schema(schema)
        config = context.run_config
        out = Path(str(config["out"])).absolute()
        store.check_ours(out)
        place = out.with_name(f"{out.name}.checkpoint")
        fit = federate(
            grid,
            ESTIMATORS[kind](**params, random_state=int(config["seed"])),
            rules=rules_of(config),
            classes=list(encoder.classes) or None,
            folder=place,
            privacy=privacy_of(config),
            rounds=int(config["rounds"]),
            local_epochs=int(config["local-epochs"]),
            aggregation=str(config["aggregation"]),
            precision=str(config["precision"]),
            robust=bool(config["robust"]),
        )
        save(fit.estimator, out, encoder=encoder.to_json())
        forget(place)
        LOG.info("The model is in %s.", out)

    return app


def rules_of(config: Any) -> Rules:
    """The rules in a run's configuration."""
    return Rules(
        int(config["min-clients"]),
        int(config["min-replies"]),
        float(config["participation"]),
        float(config["round-timeout"]),
        float(config["patience"]),
    )


def privacy_of(config: Any) -> Privacy | None:
    """The privacy in a run's configuration: none if neither clip nor noise is asked for."""
    clip, noise = float(config["clip"]), float(config["noise-multiplier"])
    return Privacy(clip, noise, float(config["delta"])) if clip or noise else None


def schema_of(encoder: Encoder, params: dict[str, Any]) -> dict[str, Any]:
    """What every node has to know: the encoder, and the estimator with its parameters."""
    kind = ESTIMATOR_OF_TASK[encoder.task].__name__
    return {"estimator": kind, "params": {**params, "groups": encoder.groups.tolist()}, "encoder": encoder.to_json()}


def read_schema(path: str | Path) -> tuple[Encoder, str, dict[str, Any]]:
    """Encoder, kind of estimator, and its parameters."""
    schema = json.loads(Path(path).read_text())
    params = {name: tuple(value) if isinstance(value, list) else value for name, value in schema["params"].items()}
    return Encoder.from_json(schema["encoder"]), schema["estimator"], params


def write_part(folder: Path, number: int, X: np.ndarray, y: np.ndarray) -> None:
    """Encoded rows of a client of a simulation."""
    np.savez(folder / f"{number}.npz", X=X, y=y)


def _part(folder: Path, number: int, encoder: Encoder) -> tuple[Any, Any]:
    with np.load(folder / f"{number}.npz") as part:
        return pd.DataFrame(part["X"], columns=list(encoder.feature_names)), part["y"]
