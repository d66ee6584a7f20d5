"""The first line of a test's docstring names its oracle: where its expected values come from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from helpers.reached_code import own_code, reached_code

ROOT = Path(__file__).parents[1]
FILES = sorted([*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("benchmarks/tests/**/test_*.py")])

LABELS = ("quadrature", "enumeration", "autodiff", "identity", "twin", "rate", "calibration", "contract")
LINE = re.compile(rf"(?:({'|'.join(LABELS)}): \S|(golden)\(.+\))")
"""`golden` gives its reason in parentheses: why this value is known to be right."""

WORKED_OUT_BY = {
    "quadrature": r"\b(?:dbl|n)?quad\(|hermegauss|leggauss|integrate|simpson|trapez|linspace\(",
    "autodiff": r"\b(?:grad|value_and_grad|jacfwd|jacrev|jacobian|hessian|jvp|vjp)\(",
    "enumeration": r"\bsupports\b|product\(|combinations\(|permutations\(|_by_hand\(|for \w+ in (?:grid|range\()",
}
"""What the code of a test with the label must at least do, its own or (but for enumerations) that of helpers in tests/
that it calls. A dense grid is made by `linspace`."""


class Labelled(NamedTuple):
    """A test function: where it is, its docstring, its own code, and with that of the helpers that it calls."""

    place: str
    words: str
    own: str = ""
    reached: str = ""

    @property
    def label(self) -> str:
        """The oracle, or nothing."""
        result = LINE.match(self.words)
        return "" if result is None else result[1] or result[2]


def labelled_in(path: Path) -> Iterator[Labelled]:
    """Every test function of a file; its code where the label asks for it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            test = Labelled(f"{path.name}::{node.name}", ast.get_docstring(node) or "")
            if path.is_relative_to(ROOT):
                test = test._replace(place=f"{path.relative_to(ROOT)}::{node.name}")
            if test.label in WORKED_OUT_BY:
                test = test._replace(own=own_code(node), reached=reached_code(path, node.name))
            yield test


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
    wrong = untrue([test for test in TESTS if test.label == label])
    assert not wrong, "\n".join(wrong)


def untrue(tests: Iterable[Labelled]) -> list[str]:
    """Places of tests whose code does not do what their label says."""
    return [
        test.place
        for test in tests
        if test.label in WORKED_OUT_BY
        and not re.search(WORKED_OUT_BY[test.label], test.own if test.label == "enumeration" else test.reached)
    ]


def test_words_are_no_work(tmp_path: Path) -> None:
    """contract: neither a docstring, nor a comment, nor a helper that is not called makes a label true; one that is
    called does."""
    path = tmp_path / "test_example.py"
    path.write_text(
        '''
from oracles import normal as oracle

def helper():
    return quad(abs, 0, 1)

def test_helped():
    """quadrature: by a helper."""
    assert helper()

def test_by_an_oracle():
    """quadrature: by an oracle."""
    assert oracle.gauss

def test_said():
    """quadrature: quad(f, 0, 1)."""
    assert 1  # quad(f, 0, 1)

def test_counted():
    """enumeration: for all in product(f, g)."""
    """product(f, g)"""
'''
    )
    assert untrue(labelled_in(path)) == ["test_example.py::test_said", "test_example.py::test_counted"]


@pytest.mark.parametrize("words", ["Identity: x", "enumeration", "property: x", "golden: x", "twin, rate: x", ""])
def test_other_labels_are_seen(words: str) -> None:
    """contract: capitals, labels that are none, and golden values without a reason."""
    assert not Labelled("", words).label
