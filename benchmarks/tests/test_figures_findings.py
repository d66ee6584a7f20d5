"""Tables, verdicts and pictures of the figures, from numbers made by hand."""

import importlib.util
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats

from tdamp_bench.figures import curves, draw, publish, sparsity_contest, tasks, tidy
from tdamp_bench.figures.plan import Cell, Curve
from tdamp_bench.figures.sparsity import METHODS
from tdamp_bench.figures.store import Done, Key

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


def curve_runs(**curves: list[list[float]]) -> pd.DataFrame:
    """Runs on MNIST: for each method a list of losses by epoch for each seed."""
    rows = [
        ("mnist", name, 1.0, epoch, seed, loss, 10)
        for name, each in curves.items()
        for seed, losses in enumerate(each)
        for epoch, loss in enumerate(losses, 1)
    ]
    return pd.DataFrame(rows, columns=tidy.COLUMNS)


ADAM = [[4.0, 3.0, 2.5, 2.0, 2.2], [4.1, 3.2, 2.4, 2.1, 2.2], [4.0, 3.1, 2.5, 2.3, 2.0]]
"""Least after 4, 4 and 5 epochs."""


def test_curves_are_judged_seed_by_seed():
    """identity: tdamp is at Adam's least after 2 epochs of each seed; wins by 0.7, loses nothing to AMP's tie."""
    ours = [[3.0, 2.0, 1.9, 1.8, 1.5], [3.0, 2.1, 1.9, 1.8, 1.4], [3.0, 2.0, 1.9, 1.8, 1.5]]
    amp = [[9.0] * 4 + [1.4], [9.0] * 4 + [1.5], [9.0] * 4 + [1.5]]
    faster, adam, tied = curves.findings(curve_runs(tdamp=ours, adam=ADAM, amp=amp), TASKS)
    assert faster.verdict.met and faster.verdict.value == pytest.approx(np.mean([-2, -2, -3]) / (1 / 3))
    assert "least after 4.33 epochs on average; tdamp is there after 2, difference -2.3 ± 0.33." in faster.sentence
    expected = stats.ttest_rel([1.5, 1.4, 1.5], [2.2, 2.2, 2.0]).statistic
    assert adam.verdict.met and adam.verdict.value == pytest.approx(expected) and "better than it" in adam.sentence
    assert tied.verdict.tied and not tied.verdict.met and "tied with it" in tied.sentence
    assert [one.claim for one in (faster, adam, tied)] == ["faster", "better", "better"]


def test_a_lower_mean_alone_confirms_nothing():
    """identity: ahead by 1 on one seed and behind by 0.4 on two others: the mean is lower, the verdict a tie."""
    flat = [[2.0] * 5] * 3
    _, better = curves.findings(curve_runs(tdamp=[[1.0] * 5, [2.4] * 5, [2.4] * 5], adam=flat), TASKS)
    assert better.verdict.tied and better.verdict.value == pytest.approx(
        -0.2 / 3 / (np.std([-1, 0.4, 0.4], ddof=1) / 3**0.5)
    )


def test_never_as_good_as_adam():
    """identity: each run counts one epoch more than all; without Adam, or without tdamp, nothing is said."""
    slower, worse = curves.findings(curve_runs(tdamp=[[3.0] * 5] * 3, adam=ADAM), TASKS)
    assert "after 6 (never in 3 of 3 runs)" in slower.sentence and not slower.verdict.met and not slower.verdict.tied
    assert not worse.verdict.met and "worse than it" in worse.sentence
    assert curves.findings(curve_runs(adam=ADAM), TASKS) == []


def test_adamw_is_another_claim_than_adam():
    """enumeration: the paper's claim against Adam, ours against AdamW, and none while AdamW has not run."""
    low = [[1.0] * 5, [1.1] * 5, [1.0] * 5]
    found = curves.findings(curve_runs(tdamp=low, adam=ADAM, adamw=[[0.5] * 5] * 3), TASKS)
    assert [(one.claim, one.verdict.met) for one in found] == [
        ("faster", True), ("better", True), ("strong-better", False),
    ]  # fmt: skip
    assert {one.claim for one in curves.findings(curve_runs(tdamp=low, adam=ADAM), TASKS)} == {"faster", "better"}


def final(rows: list[tuple], units: dict[tuple, int] | None = None) -> pd.DataFrame:
    """Last epochs from (data, method, keep, losses by seed)."""
    full = [
        (data, method, keep, 30, seed, loss, (units or {}).get((method, keep), 10))
        for data, method, keep, losses in rows
        for seed, loss in enumerate(losses)
    ]
    return pd.DataFrame(full, columns=tidy.COLUMNS)


SHARES = [
    ("mnist", "tdamp", 1.0, [2.0, 2.1, 1.9]),
    ("mnist", "adam", 1.0, [2.2, 1.9, 2.2]),  # ahead twice, behind once: a tie
    ("mnist", "amp", 1.0, [9.0, 9.1, 8.9]),
    ("mnist", "tdamp_paper", 1.0, [0.1, 0.1, 0.1]),  # ours, so no baseline
    ("mnist", "tdamp", 0.5, [3.0, 3.1, 2.9]),
    ("mnist", "adam", 0.5, [6.0, 6.2, 5.8]),  # a win
    ("mnist", "amp", 0.5, [math.inf] * 3),
    ("mnist", "magnitude", 0.5, [2.0, 2.2, 1.8]),  # none of the paper's
    ("mnist", "tdamp", 0.1, [5.0, 5.1, 4.9]),
    ("mnist", "adam", 0.1, [20.0, 20.1, 19.9]),
    ("mnist", "amp", 0.1, [4.0, 4.1, 3.8]),  # a loss
]


def test_sparsity_contest_by_hand():
    """identity: gaps, outcomes and ratios of three shares; the best baseline is not always the same one."""
    each = sparsity_contest.against_each(final(SHARES))
    papers = each[each["baseline"] != "magnitude"]
    best = sparsity_contest.against_the_best(papers)
    assert best["outcome"].tolist() == ["tie", "win", "loss"] and best["baseline"].tolist() == ["adam", "adam", "amp"]
    expected = stats.ttest_rel([2.0, 2.1, 1.9], [2.2, 1.9, 2.2]).statistic
    assert best["gap"].tolist()[0] == pytest.approx(expected)
    np.testing.assert_allclose(best["ratio"], [2.1 / 2.0, 2.0, 11.9 / 15.0])
    assert len(each) == 7 and each[each["loss"] == math.inf]["outcome"].tolist() == ["win"]
    console = Console(file=io.StringIO(), width=160)
    sparsity_contest.show(console, papers, {"amp": "AMP"})
    last = [re.findall(r"[+-]?\d+\.\d+", line) for line in console.file.getvalue().splitlines() if "best base" in line]
    assert last[0] == ["1.05", "2.00", "0.79"]


def test_claims_of_the_paper_and_ours_are_judged_apart():
    """identity: 3 of 4 pruned cells won, one lost; the slope seed by seed; magnitude pruning has its own verdict."""
    pruned, gap, magnitude = sparsity_contest.findings(final(SHARES), {"amp": "AMP"})
    assert [one.claim for one in (pruned, gap, magnitude)] == ["compressed", "gap", "magnitude-compressed"]
    assert pruned.verdict.value == 0.75 and not pruned.verdict.met and not pruned.verdict.tied
    assert "4 won, 1 tied, 1 lost" in pruned.sentence and "lost: keep 0.1 to AMP" in pruned.sentence
    slopes = [
        np.polyfit(np.log([1.0, 0.5, 0.1]), np.log(np.divide(theirs, ours)), 1)[0]
        for ours, theirs in zip(
            zip(*(SHARES[i][3] for i in (0, 4, 8)), strict=True),
            zip(*(SHARES[i][3] for i in (1, 5, 10)), strict=True),
            strict=True,
        )
    ]
    assert gap.verdict.value == pytest.approx(stats.ttest_1samp(slopes, 0).statistic)
    assert magnitude.verdict.value == 0 and not magnitude.verdict.tied


def test_pruned_cells_without_a_loss_are_tied():
    """identity: one win and one tie is no claim of being better at every size; two wins are."""
    rows = [("mnist", "tdamp", k, [1.0, 1.1, 1.0]) for k in (0.5, 0.1)]
    wins = [("mnist", "adam", k, [2.0, 2.2, 2.1]) for k in (0.5, 0.1)]
    (first, *_) = sparsity_contest.findings(final(rows + wins), {})
    assert first.verdict.met
    (first, *_) = sparsity_contest.findings(final([*rows, wins[0], ("mnist", "adam", 0.1, [1.0, 1.2, 0.9])]), {})
    assert first.verdict.tied and first.verdict.value == 0.5


def test_the_gap_that_widens():
    """identity: twice as good with all units, four times with a tenth, alike on all seeds but for a little."""
    rows = [("mnist", "tdamp", k, [1.0, 1.01, 0.99]) for k in (1.0, 0.1)]
    rows += [("mnist", "adam", 1.0, [2.0, 2.0, 2.02]), ("mnist", "adam", 0.1, [4.0, 4.01, 4.0])]
    _, gap = sparsity_contest.findings(final(rows), {})
    assert (
        gap.claim == "gap" and gap.verdict.met and "2.01 times ours at keep 1 and 4 times at keep 0.1" in gap.sentence
    )


def test_a_network_that_is_too_large_wins_nothing():
    """enumeration: at keep 0.1 it has 40 units where 10 were asked for: better than all, and no win; 11 would do."""
    rows = [
        ("mnist", name, k, losses) for name, losses in (("tdamp", [1.0, 1.1]), ("adam", [3.0, 3.2])) for k in (1.0, 0.1)
    ]
    for units, word in ((40, "larger"), (11, "win")):
        made = final(rows, {("tdamp", 0.1): units, ("tdamp", 1.0): 100, ("adam", 1.0): 100})
        assert sparsity_contest.against_each(made)["outcome"].tolist() == ["win", word]
        (compressed, *_) = sparsity_contest.findings(made, {})
        assert compressed.verdict.met == (word == "win") and not compressed.verdict.tied
        assert ("1 not comparable (too many units left)" in compressed.sentence) == (word == "larger")


def test_no_rivals_no_verdicts():
    """enumeration: tdamp alone, and a store without tdamp."""
    for rows in (SHARES[:1], SHARES[1:2]):
        assert len(sparsity_contest.against_each(final(rows))) == 0 and sparsity_contest.findings(final(rows), {}) == []


@pytest.mark.parametrize(
    ("checks", "word"),
    [
        ("++", "**confirmed** (2 of 2 checks)"),
        ("+=", "**partly** (1 of 2 checks, 1 tied)"),
        ("==", "**tied** (0 of 2 checks, 2 tied)"),
        ("=-", "**not** (0 of 2 checks, 1 tied)"),
        ("+-", "**partly** (1 of 2 checks)"),
        ("", "not measured"),
    ],
)
def test_words_of_the_page_of_results(checks, word):
    """enumeration: all hold, some hold, none is clear, and nothing has run."""
    spec = importlib.util.spec_from_file_location("results_page", Path(__file__).parents[2] / "docs" / "results.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert page.word([{"met": check == "+", "tied": check == "="} for check in checks]) == word


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


ROWS = [
    ("mnist", "tdamp", 1.0, 2.0, 0.3),
    ("mnist", "adam", 1.0, 2.2, 0.4),
    ("mnist", "amp", 1.0, 9.0, 0.4),
    ("mnist", "tdamp", 0.5, 3.0, 0.3),
    ("mnist", "adam", 0.5, 6.0, 0.4),
    ("mnist", "tdamp", 0.1, 5.0, 0.3),
    ("mnist", "adam", 0.1, 20.0, 0.4),
]


def test_lines_of_a_summary():
    """identity: sorted by x, scaled, in the order of the labels; absent methods are left out."""
    found = draw.lines(points(ROWS), "keep", {"adam": "Adam", "sgd": "SGD", "tdamp": "ours"}, scale=100.0)
    assert [(line.label, list(line.x), list(line.mean)) for line in found] == [
        ("Adam", [0.1, 0.5, 1.0], [2000.0, 600.0, pytest.approx(220.0)]),
        ("ours", [0.1, 0.5, 1.0], [500.0, 300.0, 200.0]),
    ]


def test_every_method_has_its_own_look():
    """enumeration: colours are distinct, and so are dashes with markers, for those who see no colour."""
    for drawn in (METHODS, [curve.method for curve in curves.PLAN.curves]):
        styles = [draw.STYLES[name] for name in drawn]
        assert len({style.color for style in styles}) == len({(style.dashes, style.marker) for style in styles})
        assert len(styles) == len({style.color for style in styles})
