"""The parser, and how `main` ends.

covers: cli.main, cli.plugins
"""

from __future__ import annotations

import io
import sys
import warnings
from importlib.metadata import EntryPoint

import pytest

import tdamp
from helpers.command_examples import call
from tdamp.cli import data, demo, main, plugins
from tdamp.tables import TableWarning


def test_alone_prints_help() -> None:
    """identity: `tdamp`, `tdamp data` and `tdamp bench` list what they can do."""
    result = call()
    assert result.code == 0 and result.err == ""
    commands = ("fit", "predict", "report", "inspect", "export", "data", "demo", "bench")
    assert all(name in result.out for name in commands)
    assert "fetch" in call("data").out and "accuracy" in call("bench").out


def test_commands_of_tdamp_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: installed, both commands run; without the distribution the help still lists them, and each ends with
    exit code 2 and a sentence that says what to install."""
    installed = call()
    assert "measure against peers" in installed.out and "not installed" not in installed.out
    monkeypatch.setattr(plugins, "entry_points", lambda group: ())
    without = call()
    assert without.code == 0 and without.out.count("not installed: pip install tdamp-bench") == 2
    for words in (["bench"], ["bench", "--help"], ["bench", "speed", "--quick"], ["reproduce", "--list"]):
        stopped = call(*words)
        assert (stopped.code, stopped.out) == (2, "") and stopped.err.count("\n") == 1
        assert f"tdamp {words[0]} comes with the distribution tdamp-bench, which is not installed" in stopped.err
        assert "pip install tdamp-bench" in stopped.err and "pip install -e benchmarks" in stopped.err


def test_a_plugin_that_does_not_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: it is listed, its own command says why it is missing, and all other commands work."""
    broken = EntryPoint("weather", "a_module_that_is_not_there", plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: (broken,))
    assert "weather" in call().out and call("--version").code == 0
    stopped = call("weather", "today")
    assert stopped.code == 2 and "No module named 'a_module_that_is_not_there'" in stopped.err


@pytest.mark.parametrize(
    "command",
    [
        *("fit", "predict", "report", "inspect", "export", "demo"),
        *("data list", "data fetch", "federate run", "federate app"),
    ],
)
def test_help_of_commands(command: str) -> None:
    """identity: every command explains itself."""
    result = call(*command.split(), "--help")
    assert result.code == 0 and f"usage: tdamp {command}" in result.out


def test_version() -> None:
    """identity: the package's."""
    assert call("--version").out == f"tdamp {tdamp.__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["fitt"], ["fit"], ["fit", "a.csv", "--target"], ["export", "m", "--to", "tflite"]]
)
def test_wrong_usage(arguments: list[str]) -> None:
    """contract: 2, and one line that points to the help."""
    result = call(*arguments)
    assert result.code == 2 and result.out == "" and result.err.startswith("tdamp: ") and "--help" in result.err
    assert result.err.count("\n") == 1


def _raising(error: BaseException) -> object:
    def run(*_: object, **__: object) -> None:
        raise error

    return run


def test_bugs_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: an error that is nobody's mistake but ours keeps its traceback."""
    monkeypatch.setattr(demo, "run", _raising(RuntimeError("bug")))
    with pytest.raises(RuntimeError, match="bug"):
        call("demo")


def test_interrupted_and_broken_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: 130 with a word, 141 without, whatever the command."""
    monkeypatch.setattr(demo, "run", _raising(KeyboardInterrupt()))
    result = call("demo")
    assert (result.code, result.err) == (130, "tdamp: interrupted.\n")
    monkeypatch.setattr(demo, "run", _raising(BrokenPipeError(32, "Broken pipe")))
    result = call("demo")
    assert (result.code, result.err) == (141, "")


@pytest.mark.filterwarnings("ignore:foreign")
def test_warnings_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: our warnings lose file and source, others keep them."""

    def run(_: object) -> None:
        warnings.warn("read as latin-1", TableWarning, stacklevel=1)
        warnings.warn("foreign", FutureWarning, stacklevel=1)

    monkeypatch.setattr(data, "run_list", run)
    result = call("data", "list")
    assert result.code == 0 and "tdamp: read as latin-1\n" in result.err and "TableWarning" not in result.err


def test_letters_that_the_terminal_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: a name in Greek on an ASCII terminal is escaped, not a crash."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    monkeypatch.setattr(demo, "run", lambda _: print("\u03b1"))
    assert main.main(["demo"]) == 0
    assert raw.getvalue().strip() == b"\\u03b1"
