"""The first line of a test's docstring names its oracle: where its expected values come from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted([*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("benchmarks/tests/**/test_*.py")])

LABELS = ("quadrature", "enumeration", "autodiff", "identity", "twin", "rate", "calibration", "contract")
LINE = re.compile(rf"(?:({'|'.join(LABELS)}): \S|(golden)\(.+\))")
"""`golden` gives its reason in parentheses: why this value is known to be right."""

WORKED_OUT_BY = {
    "quadrature": r"quad|herme|integra|simpson|trapez|normal\.|largest\.",
    "autodiff": r"grad|jac|hess|jvp",
    "enumeration": r"\bsupports\b|product\(|combinations\(|permutations\(|argm(ax|in)\(|_by_hand\(",
}
"""What a test with the label must at least use, itself or (but for enumerations) by a helper in its module."""


class Labelled(NamedTuple):
    """A test function: where it is, its source, and its docstring."""

    place: str
    source: str
    words: str

    @property
    def label(self) -> str:
        """The oracle, or nothing."""
        found = LINE.match(self.words)
        return "" if found is None else found[1] or found[2]


def labelled_in(path: Path) -> Iterator[Labelled]:
    """Every test function of a file."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            words = ast.get_docstring(node) or ""
            body = (ast.get_source_segment(source, node) or "").replace(words, "")
            yield Labelled(f"{path.relative_to(ROOT)}::{node.name}", body, words)


TESTS = [test for path in FILES for test in labelled_in(path)]


def test_every_test_names_its_oracle() -> None:
    """contract: one of the labels stands first, in lower case, and golden values say why they are right."""
    wrong = [f"{test.place}: {test.words.splitlines()[:1]}" for test in TESTS if not test.label]
    assert not wrong, "\n".join(wrong)
    assert len(TESTS) > 1000


def test_a_test_names_one_oracle() -> None:
    """contract: no second label follows, neither joined to the first nor later in the docstring."""
    second = re.compile(rf"\b(?:{'|'.join(LABELS)}): ", re.IGNORECASE)
    wrong = [test.place for test in TESTS if second.search(test.words.partition(": ")[2])]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("label", WORKED_OUT_BY)
def test_labels_are_true(label: str) -> None:
    """contract: a test that says it integrates, enumerates or differentiates does so."""
    wrong = []
    for test in TESTS:
        if test.label == label:
            looked_at = test.source if label == "enumeration" else (ROOT / test.place.partition("::")[0]).read_text()
            if not re.search(WORKED_OUT_BY[label], looked_at):
                wrong.append(test.place)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("words", ["Identity: x", "enumeration", "property: x", "golden: x", "twin, rate: x", ""])
def test_other_labels_are_seen(words: str) -> None:
    """contract: capitals, labels that are none, and golden values without a reason."""
    assert not Labelled("", "", words).label
