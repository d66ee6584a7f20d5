"""Faults with real processes on this machine: a server that dies, a late client, one that fails, one that is slow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.flower_deployment import SMALL, houses, rounds_done, status
from helpers.flower_processes import Hanging, Processes
from tdamp import load
from tdamp.cli import main
from tdamp.federated.flower.simulation import environment, free_port, wait_for

TIMEOUT = 120
"""Of a round, in seconds, which are waited for once: many times what a client needs that does not hang."""


@pytest.mark.faults
def test_nothing_is_lost(tmp_path: Path) -> None:
    """contract: the history says who took part in every round, and no round is missing or twice.

    The server is killed after the first round and started again; a third client joins, and a fourth whose table has
    no such column; the second client hangs in the last round, which goes on without it.
    """
    for number, rows in enumerate((40, 50, 30)):
        houses(rows, number).to_csv(tmp_path / f"{number}.csv", index=False)
    houses(30, 9).drop(columns="area").to_csv(tmp_path / "3.csv", index=False)
    app, home, port = tmp_path / "app", tmp_path / "home", free_port()
    arguments = ["federate", "app", str(app), "--like", str(tmp_path / "0.csv"), "--target", "price", "--clients", "2"]
    assert main.main([*arguments, *SMALL.replace("rounds 2", "rounds 3").split(), "--round-timeout", str(TIMEOUT)]) == 0
    checkpoint = tmp_path / "model.checkpoint"
    with Processes(tmp_path, environment(home)) as flower:
        (home / "config.toml").write_text(f'[superlink.federation]\naddress = "127.0.0.1:{port}"\ninsecure = true\n')

        def serve(name: str) -> None:
            line = (
                f"flower-superlink --insecure --host 127.0.0.1 --port {port} --disable-runtime-dependency-installation"
            )
            wait_for(port, flower.start(name, line, tmp_path), flower.log(name))

        def join(number: int, programs: Path | None = None) -> None:
            table = f'partition-id={number} data="{tmp_path / f"{number}.csv"}"'
            line = (
                f"flower-supernode --insecure --superlink 127.0.0.1:{port} --port {free_port()} --node-config '{table}'"
            )
            flower.start(f"node-{number}", line, tmp_path, programs)

        def online(nodes: int) -> bool:
            listed = json.loads(flower.run("flwr supernode list federation --format json", app))["nodes"]
            return sum(node["status"] == "online" for node in listed) == nodes

        def hanging(number: int) -> Hanging:
            """The client hangs in the round after its next: after introductions and one round."""
            (place := tmp_path / f"hanging-{number}").mkdir()
            return Hanging(place, 3)

        serve("link")
        join(0, hanging(0).programs)
        join(1)
        flower.start("run", "flwr run . federation --stream", app)
        flower.wait("the first round", lambda: rounds_done(checkpoint) == 1)
        for name in ("run", "link", "node-0", "node-1"):
            flower.kill(name)
        assert rounds_done(checkpoint) == 1
        serve("link-again")
        slow = hanging(1)
        for number in (0, 1, 2, 3):
            join(number, slow.programs if number == 1 else None)
        flower.wait("all nodes", lambda: online(4))
        flower.start("again", "flwr run . federation --stream", app)
        flower.wait("the second round", lambda: rounds_done(checkpoint) == 2)
        flower.wait("the last round", slow.stands)
        flower.wait("the end", lambda: flower.started["again"].poll() is not None)
        assert status(flower, app) == "finished:completed", flower.log_text("again")
        log = flower.log_text("again")
    model: Any = load(tmp_path / "model")
    assert [record["clients"] for record in model.fitted_.history] == [[0, 1], [0, 1, 2], [0, 2]]
    assert "Going on after round 1" in log and "area" in log and "Client 1 has not replied" in log
    assert not checkpoint.exists()
