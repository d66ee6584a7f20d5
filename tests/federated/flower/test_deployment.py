"""The how-to page, step by step, with real processes on this machine: TLS, node keys, and a node that dies.

covers: federated.flower.simulation
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.flower_deployment import SMALL, houses, rounds_done, status
from helpers.flower_processes import Hanging, Processes
from tdamp import load
from tdamp.estimators import ESTIMATORS
from tdamp.federated import federated_fit
from tdamp.federated.flower.simulation import environment, free_port, wait_for
from tdamp.federated.flower.tables import read_schema
from tdamp.federated.messages import named
from tdamp.persistence import folder
from tdamp.tables import read_table

PAGE = (Path(__file__).parents[3] / "docs" / "federated-howto.md").read_text()
TABLES = {"north": 60, "south": 50, "harbour": 40}


def command(start: str) -> str:
    """The page's command that begins so."""
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith(start):
                return line
    raise AssertionError(f"the page has no command {start}")


def twin(app: Path, data: Path) -> Any:
    """The first of the two rounds in one process."""
    encoder, kind, params = read_schema(app / "federation.json")
    rows = []
    for name in TABLES:
        X, y = encoder.pairs(read_table(data / f"{name}.csv"))
        rows.append((pd.DataFrame(X, columns=list(encoder.feature_names)), y))
    estimator = ESTIMATORS[kind](**params, random_state=0)
    return federated_fit(estimator, rows, rounds=2, local_epochs=2, callback=lambda record: True).estimator


def test_three_machines(tmp_path: Path) -> None:
    """twin: the page's commands give the first round of `federated_fit` bit for bit; then a node dies in mid-round.

    The others end the training: the model predicts, and its history says who took part.
    """
    data, home = tmp_path / "data", tmp_path / "home"
    data.mkdir()
    for seed, (name, rows) in enumerate(TABLES.items()):
        houses(rows, seed).to_csv(data / f"{name}.csv", index=False)
    houses(30, 9).to_csv(tmp_path / "sample.csv", index=False)
    houses(20, 10).to_csv(tmp_path / "new.csv", index=False)
    port = free_port()
    around = {**environment(home), "JAX_ENABLE_X64": "1"}  # as in this process
    words = {"0.0.0.0": "127.0.0.1", "server.example": "127.0.0.1", ":8000": f":{port}", "port 8000": f"port {port}"}
    words |= {"/data/": f"{data}/", "/srv/federation": str(tmp_path / "federation")}

    def local(text: str) -> str:
        for old, new in words.items():
            text = text.replace(old, new)
        return text

    with Processes(tmp_path, around) as flower:
        flower.run(f"{command('tdamp federate app')} {SMALL}", tmp_path)
        app = tmp_path / "federation"
        flower.run(local(command("sh keys.sh")), app)
        (home / "config.toml").write_text(local(re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)[0]))
        link = flower.start("link", local(command("flower-superlink")), tmp_path)
        wait_for(port, link, flower.log("link"))
        for number, name in enumerate(TABLES):
            flower.run(command("flwr supernode register").replace("node-0", f"node-{number}"), app)
            place = tmp_path / f"machine-{number}"
            place.mkdir()
            for file in ("ca.crt", f"node-{number}"):
                shutil.copy(app / "keys" / file, place)
            line = local(command("flower-supernode")).replace("node-0", f"node-{number}")
            line = line.replace("partition-id=0", f"partition-id={number}").replace("north", name)
            hanging = Hanging(place, 3)  # introductions, the first round, the second one
            programs = hanging.programs if number == 2 else None
            flower.start(f"node-{number}", f"{line} --port {free_port()}", place, programs)
        flower.start("run", command("flwr run"), app)
        checkpoint = tmp_path / "model.checkpoint"
        flower.wait("the first round", lambda: rounds_done(checkpoint) > 0)
        arrays, config = folder.load(checkpoint)
        assert config["rounds_done"] == 1
        flower.wait("the second round", hanging.stands)
        flower.kill("node-2")
        here = twin(app, data)
        for field, array in named(here.fitted_.state).items():
            np.testing.assert_array_equal(arrays[f"broadcast.state.{field}"], array, err_msg=field)
        flower.wait("the end", lambda: flower.started["run"].poll() is not None)
        assert status(flower, app) == "finished:completed", flower.log_text("run")
        flower.run(command("tdamp predict"), tmp_path)
    model: Any = load(tmp_path / "model")
    assert [record["clients"] for record in model.fitted_.history] == [[0, 1, 2], [0, 1]]
    assert not checkpoint.exists()
    result = pd.read_csv(tmp_path / "predictions.csv")
    truth = pd.read_csv(tmp_path / "new.csv")["price"]
    assert np.corrcoef(result["mean"], truth)[0, 1] > 0.9
