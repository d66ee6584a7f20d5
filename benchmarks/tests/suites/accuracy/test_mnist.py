"""The MNIST parts of `tdamp bench accuracy` on made-up data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tdamp_bench.core import record
from tdamp_bench.methods.baselines.recipe import Recipe
from tdamp_bench.suites.accuracy import contest, mnist, table
from tdamp_bench.suites.accuracy.plan import QUICK

PLAN = replace(QUICK, batch=20, mnist_epochs=3, boston_epochs=5, boston_batch=20, keep_epochs=8, keeps=(0.5,))


def test_contest_scores_every_epoch_of_every_seed(blobs, console):
    """contract: error, NLL and seconds for 2 seeds x 3 epochs; the table can show them."""
    ticks = []
    result = mnist.run(blobs, PLAN, libraries=(), seeds=(0, 1), tick=ticks.append)
    for arm in ("tdamp", mnist.ANNEALED):
        runs = result["runs"][arm]
        assert [len(run[key]) for run in runs for key in ("error", "nll", "seconds")] == [3] * 6
    assert len(ticks) == mnist.run_steps(PLAN, (), (0, 1)) == 12
    assert np.isfinite(result["mean"]["tdamp"]["nll"]).all()
    table.show(console, "mnist", record.part(result, mnist.verdicts(result), {}))
    assert "tdamp, predictive" in console.file.getvalue()


def test_every_adam_chooses_on_validation_rows(blobs, console):
    """contract: plain Adam, AdamW, and AdamW with a schedule that ends after two epochs, tried as often as their
    grids are long; ticks are counted."""
    ticks = []
    plan = replace(PLAN, validation_rows=30, mnist_shorter=(2,))
    result = mnist.run(blobs, plan, ("optax",), (0, 1), ticks.append)
    assert len(ticks) == mnist.run_steps(plan, ("optax",), (0, 1))
    assert list(result["runs"]) == ["tdamp", "tdamp_annealed", "adam_optax", "adamw", "adamw_2"]
    tried = {name: len(actual["validation"]) for name, actual in result["learning_rates"].items()}
    assert tried == {"adam_optax": 3, "adamw": 6, "adamw_2": 6}
    shorter = [
        *result["runs"]["adamw_2"],
        *({"error": e} for e in result["learning_rates"]["adamw_2"]["validation"].values()),
    ]
    assert {len(run["error"]) for run in shorter} == {2}
    alone = contest.train_adam(
        "optax", blobs, (12, 128, 3), Recipe.of(result["learning_rates"]["adamw_2"]["recipe"]), plan.batch, 2, 1
    )
    assert result["runs"]["adamw_2"][1]["error"] == alone["error"]
    assert any("whose schedule ends there" in verdict.claim for verdict in mnist.verdicts(result))
    chosen = result["learning_rates"]["adamw"]
    finals = {recipe: errors[-1] for recipe, errors in chosen["validation"].items()}
    assert finals[str(Recipe.of(chosen["recipe"]))] == min(finals.values())
    assert result["runs"]["adamw"][0]["weight_decay"] == chosen["recipe"]["weight_decay"]
    table.show(console, "mnist", record.part(result, mnist.verdicts(result), {}))
    assert "AdamW ending at 2, 0.0" in console.file.getvalue()
    assert "AdamW, 0.0" in console.file.getvalue() and "Adam (optax), 0.0" in console.file.getvalue()


def judged(ours, **theirs):
    """A result with these errors by seed and epoch."""
    runs = {"tdamp": [{"error_predictive": list(row)} for row in ours]}
    runs |= {name: [{"error": list(row)} for row in rows] for name, rows in theirs.items()}
    mean = {"tdamp": {"error_predictive": list(np.mean(ours, 0))}}
    mean |= {name: {"error": list(np.mean(rows, 0))} for name, rows in theirs.items()}
    return {"runs": runs, "mean": mean}


def test_mnist_and_depth_are_judged_by_hand():
    """identity: thresholds of mean errors; plain Adam seed by seed at its best epoch, AdamW after the last."""
    wiggle = np.array([[0.0], [0.0002], [0.0001]])
    error = np.full((3, 25), 0.018) + wiggle
    error[:, :2] = 0.5
    adam, adamw = np.full((3, 25), 0.022), np.full((3, 25), 0.0181)
    result = judged(error, adam_optax=adam, adamw=adamw)
    actual = mnist.verdicts(result)
    assert [(v.met, v.tied) for v in actual] == [(True, False)] * 2 + [(False, False), (True, False), (False, True)]
    assert actual[-1].value == pytest.approx(stats.ttest_rel(error[:, -1], adamw[:, -1]).statistic, abs=1e-9)
    ended = mnist.verdicts(judged(error, adamw=adamw, adamw_3=np.full((3, 3), 0.0179)))
    assert len(ended) == 5 and "after 3 epochs" in ended[3].claim and ended[4] == actual[-1]
    assert ended[3].value == pytest.approx(stats.ttest_rel(error[:, 2], np.full(3, 0.0179)).statistic, abs=1e-9)
    error[:, 10] = 0.023 + wiggle[:, 0]
    result = judged(error, adam_optax=adam)
    assert [(v.met, v.tied) for v in mnist.verdicts(result)][3:] == [(False, False)]
    deep = result | {"config": {"widths": (784, *[256] * 4, 10)}}
    assert [(v.limit, v.met) for v in mnist.depth_verdicts(deep)] == [(0.022, True), (0.003, True)]
    deeper = result | {"config": {"widths": (784, *[256] * 8, 10)}}
    assert [(v.limit, v.met) for v in mnist.depth_verdicts(deeper)] == [(0.025, True), (0.003, True)]
    deepest = judged(error[:1], adamw=adamw[:1]) | {"config": {"widths": (784, *[256] * 16, 10)}}
    (single,) = mnist.depth_verdicts(deepest)
    assert np.isnan(single.value) and not single.met and not single.tied  # one seed has no error
