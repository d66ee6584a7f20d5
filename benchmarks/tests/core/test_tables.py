"""Verdicts on the console."""

import json

import numpy as np
import pytest
from rich.console import Console

from tdamp_bench.core import record, tables
from tdamp_bench.core.tables import show_verdicts


def test_verdicts_are_printed_with_their_limit(capsys):
    """contract: One line each."""
    tables.show_verdicts(Console(), [record.Verdict("error", 0.5, "<=", 0.4).to_dict()])
    assert "missed error: 0.5 (<= 0.4)" in capsys.readouterr().out


def test_a_verdict_without_a_number(tmp_path, console):
    """contract: legal JSON, and words for people."""
    verdict = record.Verdict("of one seed", np.nan, "<", -2.0)
    path = tmp_path / "x.json"
    report = record.save(path, "x", {"a": record.part({"worst": np.inf}, [verdict], {})})
    assert json.loads(path.read_text(), parse_constant=pytest.fail) == report
    show_verdicts(console, report["parts"]["a"]["verdicts"])
    tied = record.Verdict("of two", 0.5, "<", -2.0, tied=True)
    show_verdicts(console, [tied.to_dict()])
    shown = console.file.getvalue().splitlines()
    assert shown == ["missed of one seed: not known (< -2)", "tied   of two: 0.5 (< -2)"]


def test_a_section_of_a_page():
    """contract: a heading, a table whose first column is text, an empty line."""
    result = tables.section("Errors", ["", "a"], [["x", "1"]])
    assert result == ["## Errors", "", "|  | a |", "| --- | ---: |", "| x | 1 |", ""]
