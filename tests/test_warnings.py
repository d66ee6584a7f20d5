"""Warnings say what happened, what it means and what to do, and docs/howto/log.md lists them."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import tdamp
from tdamp import Outcome, Settings, TDAMPRegressor, TrainingWarning

SOURCE = Path(tdamp.__file__).parent
OUTCOMES = "src/tdamp/training/outcome.py"
PAGE = Path(__file__).parents[1] / "docs/howto/log.md"
DO = ("Check", "Scale", "Use")
"""How a remedy begins."""
WRONG = [outcome for outcome in Outcome if outcome is not Outcome.OK]


def sentences(text: str) -> list[str]:
    """Parted where a full stop is followed by a capital letter."""
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def messages_of(path: Path) -> list[str]:
    """The messages of the `warnings.warn` calls of a file, with {} for what is filled in."""
    results = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
            message = node.args[0]
            parts = message.values if isinstance(message, ast.JoinedStr) else [message]
            results.append("".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts))
    return results


WARNERS = {
    f"src/tdamp/{path.relative_to(SOURCE)}": messages_of(path) for path in SOURCE.rglob("*.py") if messages_of(path)
}


@pytest.mark.parametrize("outcome", WRONG)
def test_outcomes_have_remedies(outcome: Outcome) -> None:
    """contract: what happened, then what to do; every parameter that is named exists."""
    first, *_, last = sentences(str(outcome))
    assert first != last and first.startswith("Training ") and last.startswith(DO)
    known = {*Settings.__dataclass_fields__, *inspect.signature(TDAMPRegressor).parameters}
    named = set(re.findall(r"\b\w+_\w+\b|\b\w+(?==)", last))
    assert named and named <= known


def test_warnings_have_remedies() -> None:
    """contract: every `warnings.warn` of the package; that of an outcome is the outcome's own sentence."""
    assert "{}" in WARNERS[OUTCOMES] and len(WARNERS) > 1
    for path, messages in WARNERS.items():
        for message in messages:
            if path == OUTCOMES and message == "{}":
                continue
            assert sentences(message)[-1].startswith(DO), f"{path}: say what to do, at the end of: {message}"


def test_the_old_way_to_warn_of_an_outcome() -> None:
    """twin: `TrainingWarning.warn`, and a deprecation besides."""
    with pytest.warns(TrainingWarning) as new:
        TrainingWarning.warn(Outcome.NOISE_AT_FLOOR)
    with pytest.warns(DeprecationWarning, match=r"Use TrainingWarning\.warn"), pytest.warns(TrainingWarning) as old:
        TrainingWarning.tell(Outcome.NOISE_AT_FLOOR)
    texts = [str(each.message) for each in old if each.category is TrainingWarning]
    assert texts == [str(each.message) for each in new] == [str(Outcome.NOISE_AT_FLOOR)]


def test_the_page_lists_them() -> None:
    """twin: the table of docs/howto/log.md against the code: every outcome's remedy, every file that warns."""
    table = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGE.read_text(), re.MULTILINE)
    remedies = {name.strip("`"): what for name, _, what in table}
    for outcome in WRONG:
        assert remedies.get(outcome.name) == sentences(str(outcome))[-1], f"the row of {outcome.name} in {PAGE.name}"
    listed = {path for _, meaning, _ in table for path in re.findall(r"`(src/tdamp/\S+\.py)`", meaning)}
    assert listed == set(WARNERS), f"{PAGE.name} lists every file that warns"
