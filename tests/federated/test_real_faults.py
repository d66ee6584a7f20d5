"""Faults with real processes on this machine: a server that dies, a late client, one that fails, one that is slow."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from flower_processes import Processes
from test_deployment import SMALL, houses, rounds_done, status

from tdamp import cli, load
from tdamp.federated.engine import environment, free_port, wait_for

SECONDS = 300
TIMEOUT = 60
"""Of a round, in seconds: long enough for a client that is not stopped."""


@pytest.mark.faults
def test_nothing_is_lost(tmp_path: Path) -> None:
    """identity: the history says who took part in every round, and no round is missing or twice.

    The server is killed after the first round and started again; a third client joins, and a fourth whose table has
    no such column; the second client is stopped in the last round, which goes on without it.
    """
    for number, rows in enumerate((40, 50, 30)):
        houses(rows, number).to_csv(tmp_path / f"{number}.csv", index=False)
    houses(30, 9).drop(columns="area").to_csv(tmp_path / "3.csv", index=False)
    app, home, port = tmp_path / "app", tmp_path / "home", free_port()
    said = ["federate", "app", str(app), "--like", str(tmp_path / "0.csv"), "--target", "price", "--clients", "2"]
    assert cli.main([*said, *SMALL.replace("rounds 2", "rounds 3").split(), "--round-timeout", str(TIMEOUT)]) == 0
    checkpoint = tmp_path / "model.checkpoint"
    with Processes(tmp_path, environment(home), time.monotonic() + SECONDS) as flower:
        (home / "config.toml").write_text(f'[superlink.federation]\naddress = "127.0.0.1:{port}"\ninsecure = true\n')

        def serve(name: str) -> None:
            line = (
                f"flower-superlink --insecure --host 127.0.0.1 --port {port} --disable-runtime-dependency-installation"
            )
            wait_for(port, flower.start(name, line, tmp_path), flower.log(name))

        def join(number: int) -> None:
            table = f'partition-id={number} data="{tmp_path / f"{number}.csv"}"'
            line = (
                f"flower-supernode --insecure --superlink 127.0.0.1:{port} --port {free_port()} --node-config '{table}'"
            )
            flower.start(f"node-{number}", line, tmp_path)

        serve("link")
        for number in (0, 1):
            join(number)
        flower.start("run", "flwr run . federation --stream", app)
        flower.wait("the first round", lambda: rounds_done(checkpoint) == 1)
        for name in ("run", "link", "node-0", "node-1"):
            flower.kill(name)
        assert rounds_done(checkpoint) == 1
        serve("link-again")
        for number in (0, 1, 2, 3):
            join(number)
        flower.start("again", "flwr run . federation --stream", app)
        flower.wait("the second round", lambda: rounds_done(checkpoint) == 2)
        flower.wait("the last round", lambda: flower.said("node-1").count("Received successfully") >= 3)
        flower.pause("node-1")
        flower.wait("the end", lambda: flower.started["again"].poll() is not None)
        assert status(flower, app) == "finished:completed", flower.said("again")
        told = flower.said("again")
    model: Any = load(tmp_path / "model")
    assert [record["clients"] for record in model.fitted_.history] == [[0, 1], [0, 1, 2], [0, 2]]
    assert "Going on after round 1" in told and "area" in told and "Client 1 has not replied" in told
    assert not checkpoint.exists()
