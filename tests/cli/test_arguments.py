"""Types of the command-line arguments."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from tdamp.cli import arguments, federate, main
from tdamp.factors.likelihoods.catalog import LIKELIHOODS
from tdamp.factors.priors.catalog import PRIORS
from tdamp.federated.aggregation.catalog import RULES


@pytest.mark.parametrize(
    ("options", "prunes"),
    [([], False), (["--prune-inputs"], True), (["--keep", "0.5,0.5,1"], True), (["--keep", "1,0.5,0.5"], False)],
)
@pytest.mark.parametrize("command", ["fit", "federate"])
def test_columns_go_where_that_is_asked_for(command: str, options: list[str], prunes: bool) -> None:
    """contract: alike in both commands; what a federation's clients are sent says so."""
    where = ["h.csv", "--out", "m"] if command == "fit" else ["run", "h.csv", "--out", "m"]
    goal = [] if "--keep" in options else ["--keep", "0.5"]
    args = main.parser().parse_args([command, *where, "--target", "y", *goal, *options])
    assert arguments.prunes_inputs(args) is prunes
    if command == "federate":
        assert federate._params(args)["prune_inputs"] is prunes


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("widths", "64,64", (64, 64)),
        ("widths", "16", (16,)),
        ("keep", "0.3", 0.3),
        ("keep", "30%", 0.3),
        ("keep", "40", 40),
        ("keep", "1.0", 1.0),
        ("keep", "1,0.3,0.3", (1.0, 0.3, 0.3)),
        ("count", "7", 7),
        ("share_of_rows", "0", 0.0),
        ("coverage", "0.9", 0.9),
        ("image", "8x6", (8, 6)),
        ("seed", "0", 0),
    ],
)
def test_arguments_that_are_understood(kind: str, text: str, expected: object) -> None:
    """contract: what each spelling means, its type included (1 unit is not a share of 1.0)."""
    actual = getattr(arguments, kind)(text)
    assert actual == expected and type(actual) is type(expected)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("widths", t) for t in ("", "0", "64,,64", "a", "-3")]
    + [("keep", t) for t in ("0", "1.5", "-0.1", "nan", "half", "0%", "2,0.5")]
    + [("count", t) for t in ("0", "-1", "1.5", "x")]
    + [("share_of_rows", t) for t in ("-0.1", "0.6", "nan", "x")]
    + [("coverage", t) for t in ("0", "1", "95", "nan")]
    + [("image", t) for t in ("8", "0x8", "8x", "axb")]
    + [("table_out", "a.xlsx"), ("seed", "-1"), ("seed", str(2**32))],
)
def test_arguments_that_are_refused(kind: str, text: str) -> None:
    """contract: the message repeats what was given."""
    with pytest.raises(argparse.ArgumentTypeError, match=r"expected|neither"):
        getattr(arguments, kind)(text)


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of all its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers(command)


@pytest.mark.parametrize(
    ("option", "members"), [("--prior", PRIORS), ("--likelihood", LIKELIHOODS), ("--aggregation", RULES)]
)
def test_choices_are_the_catalogs(option: str, members: dict[str, object]) -> None:
    """contract: the commands name priors, likelihoods and rules themselves, as help comes without importing JAX, which
    the catalogs need; this test says when a new member is missing there."""
    actions = [action for one in parsers(main.parser()) for action in one._actions if option in action.option_strings]
    assert actions and all(list(action.choices or ()) == list(members) for action in actions)
