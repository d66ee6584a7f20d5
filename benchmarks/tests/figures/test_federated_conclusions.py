"""Verdicts of the federated figures, from numbers made by hand."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from tdamp_bench.figures import (
    federated,
    federated_conclusions,
)
from tdamp_bench.figures.paired import gap
from tdamp_bench.figures.tasks import mnist as mnist_task


def points(data, rows):
    """A summary table: method, keep and the means by round."""
    results = [
        (data, m, keep, r, loss, 912 * keep) for m, keep, losses in rows for r, loss in enumerate(losses, start=1)
    ]
    return pd.DataFrame(results, columns=["data", "method", "keep", "epoch", "mean", "units"])


def seeds(data, rows):
    """The runs behind such a table: three seeds, which differ by far less than the methods do."""
    results = [
        (data, m, keep, r, seed, loss + 0.01 * seed + 0.001 * seed**2 * len(m), 912 * keep)
        for m, keep, losses in rows
        for r, loss in enumerate(losses, start=1)
        for seed in range(3)
    ]
    return pd.DataFrame(results, columns=["data", "method", "keep", "epoch", "seed", "loss", "units"])


def test_bytes_are_counted_up_to_the_target():
    """contract: by hand."""
    assert federated_conclusions.bytes_to_reach([3, 2, 1], [10, 20, 30], 2) == 30
    assert federated_conclusions.bytes_to_reach([3, 2, 1], [10, 20, 30], 0.5) == math.inf


def test_rounds_and_ends_are_judged():
    """contract: a curve that is ahead, one that is behind in a round, one that never gets there."""
    task = mnist_task()
    theirs = [5.0, 4.0, 3.0]
    assert federated_conclusions._every_round(task, [4, 3, 2], theirs, 1).verdict.met
    behind = federated_conclusions._every_round(task, [6, 3, 2], theirs, 1)
    assert not behind.verdict.met and "round 1" in behind.sentence
    assert federated_conclusions._every_round(task, [6, 3, 2], theirs, 2).verdict.met
    assert federated_conclusions._rounds(task, [4, 3, 2], theirs, 3).verdict.value == 2
    assert "never" in federated_conclusions._rounds(task, [4, 4, 4], theirs, 3).sentence
    (won, tied) = (
        federated_conclusions._end(task, gap(ours, [2.0, 2.1, 2.2])) for ours in ([1, 1.2, 1.1], [2, 2.3, 2])
    )
    assert won.verdict.met and tied.verdict.tied and "tied with it" in tied.sentence


def test_bytes_at_the_same_size():
    """contract: rounds before the last unit has gone do not count, whatever their loss."""
    result = federated_conclusions._bytes_alike(mnist_task(), 0.3, 1 / 3, [1, 3, 2, 1], [9, 6, 3, 3], 2.5, 60.0)
    assert result.verdict.value == 18 / 60 and result.verdict.met
    never = federated_conclusions._bytes_alike(mnist_task(), 0.3, 1 / 3, [1, 1, 3, 3], [9, 6, 3, 3], 2.5, 60.0)
    assert not never.verdict.met and "never" in never.sentence


@pytest.mark.parametrize(("small", "met"), [(5.1, True), (4.9, False)])
def test_the_lead_at_a_smaller_size(small, met):
    """contract: a lead of 2 with all units; one of 4.1 is twice as large, one of 3.9 is not."""
    rows = [("fedavg_group_lasso", 1.0, [3]), (federated.OURS, 1.0, [1])]
    rows += [("fedavg_group_lasso", 0.3, [small]), (federated.OURS, 0.3, [1])]
    result = SimpleNamespace(tasks={"mnist": mnist_task()})
    (conclusion,) = federated_conclusions.gap_conclusions(result, points("mnist", rows), federated.OURS)
    assert conclusion.verdict.met is met


ADAM, LASSO = "fedavg_adam", "fedavg_group_lasso"


def judged(rows, ours, runs=None, table=None):
    """The conclusions about final losses, with the methods' names as their labels."""
    result = SimpleNamespace(tasks={"mnist": mnist_task()}, labels={method: method for method, _, _ in rows})
    table, runs = points("mnist", rows) if table is None else table, seeds("mnist", rows) if runs is None else runs
    return federated_conclusions.best_conclusions(result, table, runs, ours)


def test_the_best_of_the_baselines():
    """contract: at every size the lowest is met, by name; a size that only others have is left out; a mean that is
    lower by less than two standard errors of the paired differences is a tie, whatever the means' own errors."""
    rows = [(federated.OURS, 1.0, [2]), (ADAM, 1.0, [4]), (LASSO, 1.0, [3])]
    rows += [(federated.OURS, 0.5, [2]), (ADAM, 0.5, [1]), (LASSO, 0.1, [1])]
    runs = seeds("mnist", rows)
    whole, half = judged(rows, federated.OURS, runs)
    assert whole.verdict.met and "keep 1: tdamp_federated ends at 2.0" in whole.sentence
    assert (
        f"the best of the paper's baselines, {LASSO}, at 3.0" in whole.sentence and "better than it" in whole.sentence
    )
    assert not half.verdict.met and not half.verdict.tied and f"{ADAM}, at 1.0" in half.sentence
    both = runs.assign(loss=runs["loss"] + 3.0 * runs["seed"])  # all methods' runs of a seed are hard or easy
    assert judged(rows, federated.OURS, both)[0].verdict.met
    alone = runs.assign(loss=runs["loss"] + 3.0 * (runs["seed"] - 1) * (runs["method"] == federated.OURS))
    whole = judged(rows, federated.OURS, alone)[0]  # -1 on average, and +- 1.7
    assert whole.verdict.tied and not whole.verdict.met and "tied with it" in whole.sentence


@pytest.mark.parametrize("skewed", ["", "_skewed"])
def test_the_paper_s_claim_is_judged_against_the_paper_s_baselines(skewed):
    """contract: stronger rivals, and tdamp's own other averages, are judged apart, and change nothing of it."""
    ours = "tdamp_skewed" if skewed else federated.OURS
    rows = [
        (ours, 1.0, [2]),
        (ADAM + skewed, 1.0, [3]),
        ("fedavg_adamw" + skewed, 1.0, [1]),
        ("fedprox" + skewed, 1.0, [4]),
    ]
    rows += [("tdamp_sites", 1.0, [2.5]), ("tdamp_waa", 1.0, [5])] if skewed else [(federated.PRINTED, 1.0, [0.5])]
    results = {conclusion.claim: conclusion for conclusion in judged(rows, ours)}
    assert (
        results["federated"].verdict.met
        and f"the paper's baselines, {ADAM}{skewed}, at 3.0" in results["federated"].sentence
    )
    strong = results["strong-federated"]
    assert not strong.verdict.met and f"the stronger rivals, fedavg_adamw{skewed}, at 1.0" in strong.sentence
    assert set(results) == {"federated", "strong-federated", *([""] if skewed else [])}
    assert not skewed or (results[""].verdict.met and "other averages, tdamp_sites, at 2.5" in results[""].sentence)


@pytest.mark.parametrize(("units", "met"), [(456, True), (700, False)])
def test_the_printed_method_is_judged(units, met):
    """contract: as a variant of its own, tdamp not among the others; a network that stayed large wins nothing."""
    rows = [(federated.OURS, 0.5, [1]), (federated.PRINTED, 0.5, [2]), (ADAM, 0.5, [3])]
    table = points("mnist", rows)
    table.loc[table["method"] == federated.PRINTED, "units"] = units
    (ours,) = judged(rows, federated.OURS, table=table)
    (printed,) = judged(rows, federated.PRINTED, table=table)
    assert ours.verdict.met and ours.variant == "tdamp" and f"{ADAM}, at 3.0" in ours.sentence
    assert printed.verdict.met is met and printed.variant == "tdamp_paper" and f"{ADAM}, at 3.0" in printed.sentence
    assert "the method as printed" in str(printed.verdict) and ("too many" in printed.sentence) is not met
