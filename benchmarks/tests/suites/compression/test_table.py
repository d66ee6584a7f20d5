"""Tables and the blocks of the documentation."""

import pytest

from tdamp_bench.suites.compression import table


def row(task, title, arm, loss, units):
    """A row of the file, of one seed."""
    score = {"mean": loss, "se": None}
    size = {name: {"mean": units, "se": None} for name in ("units", "params", "multiply_adds", "bytes", "seconds")}
    where = {"task": task, "title": title, "keep": 0.25, "arm": arm, "label": arm, "widths": [[units, 10]]}
    return where | size | {"loss": score, "nll": score}


REPORT = {
    "quick": False,
    "rows": [row("lenet_300_100", "LeNet-300-100", "tdamp", 0.0175, 201), row("airfoil", "airfoil", "tdamp", 0.2, 13)],
    "verdicts": [
        {"claim": claim, "value": 0.1, "sense": "<", "limit": 1.0, "met": True}
        for claim in ("LeNet-300-100, 201 units: a", "airfoil, 13 units: b")
    ],
}


def test_digits_stand_beside_the_published_error():
    """contract: the number of units tells the network of the literature; a loss without an error has none."""
    shown = table.of_digits(REPORT["rows"])[0]
    assert shown.columns == ["", "published", "tdamp"]
    assert shown.rows == [["LeNet-300-100, 201 units (VIBNet: 97-71-33)", "1.6", "1.75"]]
    assert table.of_tables(REPORT["rows"])[0].rows == [["airfoil, keep 0.25", "0.800"]]


@pytest.mark.parametrize("part, own, other", [("mnist", "units: a", "airfoil"), ("tables", "units: b", "LeNet")])
def test_a_block_has_its_own_part(part, own, other):
    """contract: picture, tables and verdicts of a part alone, headings below the page's; or that it is not made."""
    made = table.block(REPORT, part)
    assert made.startswith("![") and own in made and other not in made
    assert "\n### Verdicts\n" in made and "\n## " not in made
    assert table.block(REPORT | {"rows": []}, part) == table.NOT_MADE


def test_errors():
    """contract: mean and standard error, to the digits asked for."""
    assert table.with_error({"mean": 0.0156, "se": 0.0004}, 100, 2) == "1.56 ± 0.04"
    assert table.with_error({"mean": 0.5, "se": 0.01}, -1, 2) == "-0.50 ± 0.01"
