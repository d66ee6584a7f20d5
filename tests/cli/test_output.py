"""What commands print."""

from __future__ import annotations

import json
import warnings

import pytest

from tdamp import TrainingWarning
from tdamp.cli import output


def test_json_has_no_infinity(capsys: pytest.CaptureFixture[str]) -> None:
    """identity: one line that any JSON parser reads, with null for what is not finite."""
    output.print_json({"a": float("inf"), "b": [1.5, None]})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {"a": None, "b": [1.5, None]}


def test_numbers_for_reading() -> None:
    """contract: thousands are marked, digits limited, and a dash stands for none."""
    results = [output.format_number(value) for value in (12345, 0.123456, 12345.678, None, float("nan"))]
    assert results == ["12,345", "0.1235", "1.235e+04", "-", "-"]


def test_columns_are_aligned() -> None:
    """contract: names to the left, numbers to the right, no blanks at the end, short rows allowed."""
    assert output.align_columns([("a", "1"), ("bbb", "22"), ("c",)]) == "  a     1\n  bbb  22\n  c"


def test_warnings_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """contract: the package's own warnings are status lines; those of others keep Python's form."""
    with pytest.warns(UserWarning, match="something else"), output.print_warnings_plainly():
        warnings.warn("the noise is at its floor", TrainingWarning, stacklevel=1)
        warnings.warn("something else", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "tdamp: the noise is at its floor\n"
