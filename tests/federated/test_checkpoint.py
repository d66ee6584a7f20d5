"""A federation that is stopped goes on as if it had not been."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers.flower_grid import DirectGrid, classifier, grid_of, numbers, regressor, same, words
from tdamp.federated import federated_fit
from tdamp.federated.flower import Rules, federate
from tdamp.io.errors import ModelFileError
from tdamp.persistence.save import save

ROUNDS: dict[str, Any] = {"rounds": 3, "local_epochs": 2}
ALL = Rules(min_clients=3)


class Stop(Exception):
    """The server's process ends here."""


class Stopping(DirectGrid):
    """Ends the server in round `at`, when the clients have trained but nothing has been summed."""

    at = "3"

    def send_and_receive(self, messages: Any, **more: Any) -> Any:
        replies = super().send_and_receive(messages, **more)
        if self.asked[-1][1:] == ("train", self.at):
            raise Stop
        return replies


@pytest.mark.parametrize(
    ("rows", "estimator", "options"),
    [(numbers, regressor, {}), (numbers, regressor, {"aggregation": "sites"}), (words, classifier, {})],
    ids=["momentum", "sites", "pruned"],
)
def test_stopped_and_started_again(rows: Any, estimator: Any, options: dict[str, Any], tmp_path: Path) -> None:
    """twin: a run that nobody stopped, bit for bit; only the rounds that were left are played."""
    grid = grid_of(rows())
    grid.__class__ = Stopping
    place = tmp_path / "checkpoint"
    with pytest.raises(Stop):
        federate(grid, estimator(), rules=ALL, folder=place, **ROUNDS, **options)
    again = grid_of(rows())
    federated = federate(again, estimator(), rules=ALL, folder=place, **ROUNDS, **options)
    assert {group for _, kind, group in again.asked if kind == "train"} == {"3"}
    same(federated.estimator, federated_fit(estimator(), rows(), **ROUNDS, **options).estimator)


def test_not_the_same_federation(tmp_path: Path) -> None:
    """contract: other options, a model, foreign files, damaged data: each is refused with what to do."""
    grid = grid_of(numbers())
    place = tmp_path / "checkpoint"
    federated = federate(grid, regressor(), rules=ALL, folder=place, rounds=1, local_epochs=1)

    def again(folder: Path, **options: Any) -> None:
        federate(grid, regressor(), rules=ALL, folder=folder, **{"rounds": 1, "local_epochs": 1, **options})

    with pytest.raises(ModelFileError, match=r"another federation \(rounds differ\)"):
        again(place, rounds=2)
    save(federated.estimator, tmp_path / "model")
    with pytest.raises(ModelFileError, match="holds a model, not a checkpoint"):
        again(tmp_path / "model")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.tex").write_text("do not lose")
    with pytest.raises(ModelFileError, match="holds other files"):
        again(tmp_path / "work")
    data = place / "model.safetensors"
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(ModelFileError, match="damaged"):
        again(place)
