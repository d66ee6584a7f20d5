"""What `verbose` shows: nothing, a bar, or a line for each epoch."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from tdamp.training.progress import counting, reading, watching

RECORD: dict[str, Any] = {"log_evidence": -1.5, "noise_var": 0.25, "active_units": [3, 4]}


def shown(verbose: int, how: Any, *args: Any) -> str:
    """What is written while one thing is done."""
    text = io.StringIO()
    with how(verbose, *args, console=Console(file=text, width=120)) as show:
        if show is not None:
            show(*((7,) if how is reading else (3, None, RECORD) if how is watching else (3, RECORD)))
    return text.getvalue()


@pytest.mark.parametrize(("how", "args"), [(counting, ("fold", 5)), (watching, (5,)), (reading, ("rows", 9))])
def test_quiet(how: Any, args: tuple[Any, ...]) -> None:
    """contract: verbose=0 shows nothing, and there is nothing to call."""
    assert shown(0, how, *args) == ""


def test_lines() -> None:
    """contract: which one it is, and the record in words; a record that is empty is no line."""
    assert shown(2, counting, "fold", 5) == "fold 3  evidence -1.500  noise 0.25  units 7\n"
    assert shown(2, watching, 5, 1) == "epoch 3  evidence -1.500  noise 0.25  units 7\n"


def test_bars() -> None:
    """contract: how many of how many; of a fit that goes on, its own epochs alone."""
    assert "3/5" in shown(1, counting, "fold", 5) and "2/5" in shown(1, watching, 5, 1)
    assert "7 rows" in shown(1, reading, "reading", 9)
