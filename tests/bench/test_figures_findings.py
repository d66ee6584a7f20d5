"""Tables, verdicts and pictures of the figures, from numbers made by hand."""

import io
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from tdamp.bench.figures import curves, draw, publish, sparsity_contest, tasks, tidy
from tdamp.bench.figures.plan import Cell, Curve
from tdamp.bench.figures.sparsity import METHODS
from tdamp.bench.figures.store import Done, Key

TASKS = {"mnist": tasks.mnist()}


def cell(losses: list[list[float]], epochs: int = 2, **curve) -> Cell:
    """A curve with a run for each list."""
    key = Key("mnist", "tdamp", "{}", 0.5, 0, epochs, "test")
    runs = [Done(Key(**{**vars(key), "seed": seed}), loss, 10 + seed, 1.0) for seed, loss in enumerate(losses)]
    return Cell(Curve("tdamp", **curve), "mnist", 0.5, runs=tuple(runs))


def points(rows: list[tuple]) -> pd.DataFrame:
    """A summary from (data, method, keep, mean, standard error)."""
    full = [(data, method, keep, 30, mean, se, 10, 1.0) for data, method, keep, mean, se in rows]
    return pd.DataFrame(full, columns=[*tidy.POINT, "mean", "se", "n", "units"])


def test_table_and_summary_by_hand():
    """identity: two runs of two epochs; a single run has no error, an infinite one an infinite mean."""
    runs = tidy.table([cell([[4.0, 1.0], [2.0, 3.0]]), cell([[7.0, math.inf]], name="other")])
    assert list(runs.columns) == ["data", "method", "keep", "epoch", "seed", "loss", "units"] and len(runs) == 6
    found = tidy.summary(runs)
    assert found["mean"].tolist() == [3.0, 2.0, 7.0, math.inf] and found["n"].tolist() == [2, 2, 1, 1]
    np.testing.assert_allclose(found["se"], [1.0, 1.0, np.nan, np.nan])
    assert tidy.final(found)["mean"].tolist() == [2.0, math.inf] and found["units"].tolist() == [10.5, 10.5, 10, 10]


def test_a_last_loss_belongs_to_the_last_epoch(tmp_path):
    """identity: a store without curves; and the CSV file reads back."""
    found = tidy.summary(tidy.table([cell([[0.1234567]], epochs=30)]))
    assert found["epoch"].tolist() == [30]
    tidy.save(found, tmp_path / "a.csv")
    assert (
        tmp_path / "a.csv"
    ).read_text() == "data,method,keep,epoch,mean,se,n,units\nmnist,tdamp,0.5,30,0.123457,,1,10\n"


def curve_points(**means: list[float]) -> pd.DataFrame:
    """A summary of curves on MNIST."""
    rows = [("mnist", name, 1.0, e, mean, 0.1, 2, 1.0) for name, m in means.items() for e, mean in enumerate(m, 1)]
    return pd.DataFrame(rows, columns=[*tidy.POINT, "mean", "se", "n", "units"])


def test_curves_are_judged_by_adams_best():
    """identity: Adam's best is at epoch 4; tdamp is there at 2, or never."""
    adam = [4.0, 3.0, 2.5, 2.0, 2.2]
    found = curves.findings(curve_points(tdamp=[3.0, 2.0, 2.0, 1.0, 1.5], adam=adam, amp=[9.0] * 4 + [1.5]), TASKS)
    assert [(f.verdict.value, f.verdict.limit, f.verdict.met) for f in found] == [
        (0.5, 0.5, True),
        (1.5, 2.2, True),
        (1.5, 1.5, False),
    ]
    assert found[0].sentence == "MNIST: Adam's mean test error is least, 2, after 4 epochs; tdamp is there after 2."
    never = curves.findings(curve_points(tdamp=[3.0] * 5, adam=adam), TASKS)
    assert math.isinf(never[0].verdict.value) and not never[0].verdict.met and "never gets there" in never[0].sentence
    assert len(never) == 2 and curves.findings(curve_points(adam=adam), TASKS) == []


ROWS = [
    ("mnist", "tdamp", 1.0, 2.0, 0.3),
    ("mnist", "adam", 1.0, 2.2, 0.4),  # 0.4 combined errors apart: a tie
    ("mnist", "amp", 1.0, 9.0, 0.4),
    ("mnist", "tdamp_paper", 1.0, 0.1, 0.4),  # ours, so no baseline
    ("mnist", "tdamp", 0.5, 3.0, 0.3),
    ("mnist", "adam", 0.5, 6.0, 0.4),  # six: a win
    ("mnist", "amp", 0.5, math.inf, math.nan),
    ("mnist", "tdamp", 0.1, 5.0, 0.3),
    ("mnist", "adam", 0.1, 20.0, 0.4),
    ("mnist", "amp", 0.1, 4.0, 0.4),  # two: a loss
]


def test_sparsity_contest_by_hand():
    """identity: gaps, outcomes and ratios of three shares; the best baseline is not always the same one."""
    each = sparsity_contest.against_each(points(ROWS))
    best = sparsity_contest.against_the_best(each)
    assert best["outcome"].tolist() == ["tie", "win", "loss"] and best["baseline"].tolist() == ["adam", "adam", "amp"]
    np.testing.assert_allclose(best["gap"], [-0.4, -6.0, 2.0])
    np.testing.assert_allclose(best["ratio"], [1.1, 2.0, 0.8])
    assert len(each) == 6 and each[each["loss"] == math.inf]["outcome"].tolist() == ["win"]
    found = sparsity_contest.findings(each, {"amp": "AMP"})
    slope = np.polyfit(np.log([1.0, 0.5, 0.1]), np.log([1.1, 2.0, 0.8]), 1)[0]
    assert [f.verdict.value for f in found] == pytest.approx([0.75, 1.0, slope])
    assert [f.verdict.met for f in found] == [True, False, bool(slope < 0)]
    assert (
        "against every baseline 4 won, 1 tied, 1 lost" in found[0].sentence and "keep 0.1 to AMP" in found[1].sentence
    )
    console = Console(file=io.StringIO(), width=160)
    sparsity_contest.show(console, each, {"amp": "AMP"})
    last = [re.findall(r"[+-]?\d\.\d+", line) for line in console.file.getvalue().splitlines() if "best base" in line]
    assert last == [["1.10", "2.00", "0.80"], ["-0.4", "-6.0", "+2.0"]]


def test_a_network_that_is_too_large_wins_nothing():
    """enumeration: at keep 0.1 it has 40 units where 10 were asked for: better than all, and no win; 11 would do."""
    rows = [("mnist", "tdamp", k, 1.0, 0.1) for k in (1.0, 0.1)] + [("mnist", "adam", k, 3.0, 0.1) for k in (1.0, 0.1)]
    for units, word in ((40, "larger"), (11, "win")):
        each = sparsity_contest.against_each(points(rows).assign(units=[100, units, 100, 10]))
        assert each["outcome"].tolist() == ["win", word]
    (compressed, *_) = sparsity_contest.findings(
        sparsity_contest.against_each(points(rows).assign(units=[100, 40, 100, 10])), {}
    )
    assert not compressed.verdict.met and "1 not comparable (too many units left)" in compressed.sentence


@pytest.mark.parametrize(
    ("ours", "theirs", "gap", "word"),
    [
        ((1.0, 0.0), (1.0, 0.0), 0.0, "tie"),
        ((1.0, 0.0), (2.0, 0.0), -math.inf, "win"),
        ((math.inf, math.nan), (2.0, 0.1), math.inf, "loss"),
        ((math.inf, math.nan), (math.inf, math.nan), math.nan, "unknown"),
        ((1.0, math.nan), (2.0, 0.1), math.nan, "unknown"),
        ((1.0, 0.3), (1.5, 0.4), -1.0, "tie"),
    ],
)
def test_outcomes_at_the_edges(ours, theirs, gap, word):
    """enumeration: no spread, divergence on either side or both, a single run, exactly one standard error."""
    found = sparsity_contest.standard_errors_apart(*ours, *theirs)
    np.testing.assert_equal(found, gap)
    assert sparsity_contest.outcome(found) == word


def test_no_rivals_no_verdicts():
    """enumeration: tdamp alone, and a store without tdamp."""
    for rows in (ROWS[:1], ROWS[1:2]):
        each = sparsity_contest.against_each(points(rows))
        assert len(each) == 0 and sparsity_contest.findings(each, {}) == []


def test_json_is_legal(tmp_path):
    """identity: infinity as a word, NaN as null, six digits, NumPy's numbers as numbers."""
    publish.write_json(tmp_path / "a.json", {1: (math.inf, math.nan, 0.12345678), "n": np.int64(3), "t": True})
    assert json.loads((tmp_path / "a.json").read_text()) == {"1": ["inf", None, 0.123457], "n": 3, "t": True}


def panels(lines: list[draw.Line]) -> list[draw.Panel]:
    """Two of them, linear and logarithmic."""
    return [
        draw.Panel("a", "epoch", "loss", lines, log_y=False),
        draw.Panel("b", "keep", "loss", lines, log_x=True, x_ticks=(1, 2), y_top=5.0),
    ]


def test_the_same_drawing_is_the_same_file(tmp_path):
    """twin: drawn twice, SVG and PNG agree byte for byte; infinite values and unknown names are drawn too."""
    lines = [
        draw.Line("tdamp", "ours", [1, 2], [1.0, 0.5], [0.1, math.nan]),
        draw.Line("adam", "Adam", [1, 2], [math.inf, 9.0]),
        draw.Line("something", "else", [1, 2], [1.0, 2.0]),
    ]
    for name in ("one", "two"):
        draw.figure(panels(lines), tmp_path / name)
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_lines_of_a_summary():
    """identity: sorted by x, scaled, in the order of the labels; absent methods are left out."""
    found = draw.lines(points(ROWS), "keep", {"adam": "Adam", "sgd": "SGD", "tdamp": "ours"}, scale=100.0)
    assert [(line.label, list(line.x), list(line.mean)) for line in found] == [
        ("Adam", [0.1, 0.5, 1.0], [2000.0, 600.0, pytest.approx(220.0)]),
        ("ours", [0.1, 0.5, 1.0], [500.0, 300.0, 200.0]),
    ]


def test_every_method_has_its_own_look():
    """enumeration: colours are distinct, and so are dashes with markers, for those who see no colour."""
    styles = [draw.STYLES[name] for name in METHODS]
    assert len({style.color for style in styles}) == len({(style.dashes, style.marker) for style in styles}) == 8
