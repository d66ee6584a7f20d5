"""The command `tdamp bench`: its options, and what it does without the peers."""

import sys

import pytest

from tdamp.cli import main
from tdamp_bench.cli import bench as commands_bench
from tdamp_bench.suites.accuracy import run as accuracy_run


@pytest.mark.parametrize("kind", ["accuracy", "speed"])
def test_the_command_stops_at_once_without_the_peers(kind, monkeypatch, capsys, tmp_path):
    """contract: exit code 2 and one line, before any training."""
    for name in ("torch", "pytagi"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main.main(["bench", kind, "--quick", "--out", str(tmp_path / "x.json")]) == 2
    assert "tdamp-bench[peers]" in capsys.readouterr().err


def test_the_command_line_knows_the_parts():
    """contract: The parser repeats them so that --help needs no JAX."""
    assert commands_bench.PARTS == accuracy_run.PARTS == tuple(accuracy_run.PIECES)
