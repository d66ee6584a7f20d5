"""`tdamp federate`: the app folder, and a run on Flower's simulation engine.

covers: cli.federate, federated.flower.server, federated.flower.tables, federated.flower.wire
"""

from __future__ import annotations

import ast
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flwr.app import Context, RecordDict

from helpers.flower_grid import DirectGrid
from tdamp import load
from tdamp.cli import main
from tdamp.estimators import ESTIMATORS
from tdamp.federated import federated_fit
from tdamp.federated.flower import server, wire
from tdamp.federated.flower.tables import read_schema, table_client_app, table_server_app
from tdamp.federated.privacy.central import epsilon
from tdamp.federated.rounds import PrivateRounds
from tdamp.io.errors import ModelFileError
from tdamp.persistence.save import load_with_extra
from tdamp.tables import Encoder, read_table

SMALL = ["--hidden", "8", "--batch-size", "16", "--rounds", "2", "--local-epochs", "1"]
PRIVATE = ["--clip", "4", "--noise-multiplier", "2", "--delta", "1e-4"]
RECORD = {"epoch", "counted", "round", "active_units", "noise_var", "epsilon", "seconds"}


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Three tables with text, a class to predict and, in the last, a cell without one."""
    rng = np.random.default_rng(0)
    places = []
    for k, rows in enumerate((30, 36, 24)):
        area, kind = rng.uniform(40, 200, rows).round(1), rng.choice(["flat", "house"], rows)
        band = np.where(area > 120, "dear", "cheap").astype(object)
        band[0] = None if k == 2 else band[0]
        places.append(tmp_path / f"{k}.csv")
        pd.DataFrame({"area": area, "kind": kind, "band": band}).to_csv(places[-1], index=False)
    return places


def test_the_app_runs(tables: list[Path], tmp_path: Path) -> None:
    """twin: the app's server and clients, called by hand, give what `federated_fit` gives of the encoded tables."""
    app = tmp_path / "app"
    arguments = ["federate", "app", str(app), "--like", str(tables[0]), "--target", "band", "--clients", "3", *SMALL]
    assert main.main(arguments) == 0
    config = tomllib.loads((app / "pyproject.toml").read_text())["tool"]["flwr"]["app"]["config"]
    assert (config["min-clients"], config["min-replies"], config["rounds"]) == (3, 1, 2)
    for name in ("server_app.py", "client_app.py"):
        assert len(ast.parse((app / name).read_text()).body) == 4  # a docstring, two imports, the app
    grid = DirectGrid(with_data(table_client_app(app / "federation.json"), tables), 3)
    context = Context(1, 0, {}, RecordDict(), {**config, "out": str(tmp_path / "model")})
    table_server_app(app / "federation.json")(grid, context)
    result, extra = load_with_extra(tmp_path / "model")
    encoder, kind, params = read_schema(app / "federation.json")
    rows = []
    for path in tables:
        X, y = encoder.pairs(read_table(path))
        rows.append((pd.DataFrame(X, columns=list(encoder.feature_names)), y))
    assert len(rows[2][1]) == 23
    here = federated_fit(ESTIMATORS[kind](**params, random_state=0), rows, rounds=2, local_epochs=1).estimator
    np.testing.assert_array_equal(result.predict_proba(rows[0][0]), here.predict_proba(rows[0][0]))  # type: ignore[union-attr]
    assert Encoder.from_json(extra["encoder"]).target_names == ("band",)
    assert not (tmp_path / "model.checkpoint").exists()


def with_data(app: Any, tables: list[Path]) -> Any:
    """The ClientApp on nodes whose configuration names their tables."""

    def call(message: Any, context: Context) -> Any:
        context.node_config["data"] = str(tables[int(context.node_config["partition-id"])])
        return app(message, context)

    return call


def test_no_rows_in_the_app(tables: list[Path], tmp_path: Path) -> None:
    """contract: no number of the sample but those of the encoder is in any file."""
    main.main(["federate", "app", str(tmp_path / "app"), "--like", str(tables[0]), "--target", "band", *SMALL])
    text = "".join(path.read_text() for path in (tmp_path / "app").iterdir())
    areas = pd.read_csv(tables[0])["area"].astype(str)
    medians = json.dumps(read_schema(tmp_path / "app" / "federation.json")[0].to_json())
    assert not [area for area in areas if f" {area}" in text and area not in medians]


def test_wrong_wishes(tables: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """contract: each ends with 2 and a line that says what was expected."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    like = ["--like", str(tables[0]), "--target", "band"]
    for arguments, words in (
        (["app", str(tmp_path / "full"), *like], "choose a new or empty folder"),
        (["app", str(tmp_path / "a"), *like, "--clients", "2", "--min-replies", "3"], "at most the number of clients"),
        (["app", str(tmp_path / "a"), *like, "--clip", "4"], "--clip and --noise-multiplier go together"),
        (["app", str(tmp_path / "a"), *like, *PRIVATE, "--robust"], "keeps sums alone"),
        (["run", str(tables[0]), "--target", "band", "--out", str(tmp_path / "m"), "--split", "odd"], "expected"),
        (["run", str(tables[0]), "--target", "band", "--out", str(tmp_path / "full")], "holds other files"),
    ):
        assert main.main(["federate", *arguments]) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


def test_a_private_app(tables: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: privacy goes from the command to the history, which has its account and nothing of a client.

    This seed's noise makes some weights surer than any rows could: the next round's honest uploads count all the same.
    """
    rng = np.random.default_rng(22)
    monkeypatch.setattr(
        server, "round_policy", lambda privacy, participation: PrivateRounds(privacy, participation, rng)
    )
    app = tmp_path / "app"
    arguments = ["federate", "app", str(app), "--like", str(tables[0]), "--target", "band", "--clients", "3"]
    assert main.main([*arguments, *PRIVATE, *SMALL]) == 0
    config = tomllib.loads((app / "pyproject.toml").read_text())["tool"]["flwr"]["app"]["config"]
    grid = DirectGrid(with_data(table_client_app(app / "federation.json"), tables), 3)
    context = Context(1, 0, {}, RecordDict(), {**config, "out": str(tmp_path / "model")})
    table_server_app(app / "federation.json")(grid, context)
    result = load(tmp_path / "model")
    assert [set(record) for record in result.fitted_.history] == [RECORD, RECORD]
    spent = [record["epsilon"] for record in result.fitted_.history]
    assert spent == [epsilon(rounds, 1.0, 2.0, 1e-4) for rounds in (1, 2)]
    assert (result.feature_active_prob_ == 1).all()
    assert {kind for _, kind, _ in grid.asked} == {wire.INTRODUCE, wire.TRAIN}


def test_no_table_named(tables: list[Path], tmp_path: Path) -> None:
    """contract: a node without `data` says how to name it; a folder in the way is seen before training."""
    main.main(["federate", "app", str(tmp_path / "app"), "--like", str(tables[0]), "--target", "band", *SMALL])
    schema = tmp_path / "app" / "federation.json"
    grid = DirectGrid(table_client_app(schema), 1)
    config = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())["tool"]["flwr"]["app"]["config"]
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.tex").touch()
    context = Context(1, 0, {}, RecordDict(), {**config, "out": str(tmp_path / "work")})
    with pytest.raises(ModelFileError, match="holds other files"):
        table_server_app(schema)(grid, context)
    assert grid.asked == []
    message = wire.message(wire.INTRODUCE, next(iter(grid.nodes)), wire.task_content("classification"), "", 60.0)
    (reply,) = grid.send_and_receive([message])
    assert "expected the path of its table: start it with --node-config" in str(reply.error.reason)


def test_run_on_the_simulation_engine(tables: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """contract: `tdamp federate run` ends with a model whose history has every client in every round."""
    frame = pd.concat([pd.read_csv(path) for path in tables]).dropna()
    frame.to_csv(tmp_path / "all.csv", index=False)
    arguments = ["federate", "run", str(tmp_path / "all.csv"), "--target", "band", "--clients", "2", "--json"]
    code = main.main([*arguments, "--split", "dirichlet:5", "--out", str(tmp_path / "model"), *SMALL])
    out = capsys.readouterr()
    assert code == 0, out.err
    report = json.loads(out.out)
    assert [record["clients"] for record in report["history"]] == [[0, 1], [0, 1]]
    assert report["train_rows"] + report["test_rows"] == len(frame) and 0 <= report["test"]["accuracy"] <= 1
    assert 0.85 * report["train_rows"] < load(tmp_path / "model").n_rows_ < report["train_rows"]  # a tenth is held out
