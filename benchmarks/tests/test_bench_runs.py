"""The pieces of `tdamp bench accuracy` and `tdamp bench speed` on made-up data, without the extra."""

import gzip
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from tdamp.datasets import load_mnist
from tdamp.datasets.mnist import IDX
from tdamp_bench.core import presets, problems, record
from tdamp_bench.core.tables import show_verdicts
from tdamp_bench.methods.baselines.recipe import Recipe, strong
from tdamp_bench.suites.accuracy import boston, contest, keep, mnist, table
from tdamp_bench.suites.accuracy.plan import QUICK
from tdamp_bench.suites.speed import compaction, epochs, probe
from tdamp_bench.suites.speed import table as speed_table

PLAN = replace(QUICK, batch=20, mnist_epochs=3, boston_epochs=5, boston_batch=20, keep_epochs=8, keeps=(0.5,))


@pytest.fixture
def console():
    """A console that writes into memory."""
    return Console(file=io.StringIO(), width=160)


def test_contest_scores_every_epoch_of_every_seed(blobs, console):
    """Shapes: error, NLL and seconds for 2 seeds x 3 epochs; the table can show them."""
    ticks = []
    result = mnist.run(blobs, PLAN, libraries=(), seeds=(0, 1), tick=ticks.append)
    for arm in ("tdamp", mnist.ANNEALED):
        runs = result["runs"][arm]
        assert [len(run[key]) for run in runs for key in ("error", "nll", "seconds")] == [3] * 6
    assert len(ticks) == mnist.run_steps(PLAN, (), (0, 1)) == 12
    assert np.isfinite(result["mean"]["tdamp"]["nll"]).all()
    table.show(console, "mnist", record.part(result, mnist.verdicts(result), {}))
    assert "tdamp, predictive" in console.file.getvalue()


def test_tdamp_learns_the_blobs(blobs):
    """The adapter hands over rows and labels in the same order, and both estimates work."""
    settings = replace(presets.MNIST, batch_size=20)
    run, model = contest.train_ours(blobs, (12, 16, 3), settings, epochs=15, seed=0)
    assert run["error"][-1] < 0.1 and run["error_predictive"][-1] < 0.1
    np.testing.assert_allclose(model.predictive(blobs.x_test).sum(1), 1, rtol=1e-5)
    assert model.widths == (12, 16, 3) and model.state_bytes / model.weight_bytes >= 2


def test_boston_piece(lines, console):
    """Shapes: NMSE by epoch and split; no verdict without an Adam to compare with."""
    result = boston.run(lines, PLAN, libraries=())
    assert len(result["runs"]["tdamp"]) == 2 and len(result["mean"]["tdamp"]["nmse"]) == 5
    assert boston.verdicts(result) == []
    table.show(console, "boston", record.part(result, [], {}))


def test_boston_is_judged_split_by_split():
    """Twin: scipy's paired statistic against the plain Adam of the least mean at each checkpoint, and against AdamW."""
    ours = np.array([[0.30] * 10, [0.20] * 10, [0.10] * 10])
    wide = np.array([[0.30], [0.25], [0.10]]) * np.linspace(3, 1, 10)  # best at epoch 10, a tie there
    flat = ours + 0.1 + 0.01 * np.array([[0], [1], [0]])  # best at epoch 5, a win there
    recipe = strong(0.01, 0.1, 0.0)
    adams = {
        "optax": {"test_by_split": {"0.001": flat}},
        "torch": {"test_by_split": {"0.001": wide}},
        "adamw": {"test_by_split": {"other": 0 * ours, str(recipe): ours - 0.05}, "recipe": recipe.config},
    }
    found = boston.verdicts({"runs": {"tdamp": [{"nmse": list(row)} for row in ours]}, "adam": adams})
    assert [(v.met, v.tied) for v in found] == [(True, False), (False, True), (False, False)]
    assert found[0].value == pytest.approx(stats.ttest_rel(ours[:, 4], flat[:, 4]).statistic)
    assert found[1].value == pytest.approx(stats.ttest_rel(ours[:, 9], wide[:, 9]).statistic)
    assert "AdamW" in found[2].claim and found[2].value == np.inf


def test_every_adam_chooses_on_validation_rows(blobs, console):
    """enumeration: plain Adam, AdamW, and AdamW with a schedule that ends after two epochs, tried as often as their
    grids are long; ticks are counted."""
    pytest.importorskip("optax")
    ticks = []
    plan = replace(PLAN, validation_rows=30, mnist_shorter=(2,))
    result = mnist.run(blobs, plan, ("optax",), (0, 1), ticks.append)
    assert len(ticks) == mnist.run_steps(plan, ("optax",), (0, 1))
    assert list(result["runs"]) == ["tdamp", "tdamp_annealed", "adam_optax", "adamw", "adamw_2"]
    tried = {name: len(found["validation"]) for name, found in result["learning_rates"].items()}
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


def test_boston_grids(lines, console):
    """enumeration: plain rates and AdamW's six recipes on every split; the table can show them."""
    pytest.importorskip("optax")
    ticks = []
    plan = replace(PLAN, boston_splits=2)
    result = boston.run(lines, plan, ("optax",), ticks.append)
    assert len(ticks) == boston.steps(plan, ("optax",)) and list(result["adam"]) == ["optax", "adamw"]
    assert len(result["adam"]["adamw"]["test_by_split"]) == 6
    table.show(console, "boston", record.part(result, boston.verdicts(result), {}))
    assert "AdamW, best recipe at each epoch" in console.file.getvalue()


def test_keep_piece_asserts_the_count(blobs, monkeypatch):
    """Exactly round(keep x 140) of 12 inputs and 128 hidden units are left; another count is an error."""
    result = keep.run(blobs, PLAN, seeds=(0,))
    run = result["by_keep"]["0.5"]["runs"][0]
    assert run["units"][-1] == sum(run["widths"][:-1]) == 70 and len(run["error"]) == 8
    assert [v.limit for v in keep.verdicts(result)] == list(keep.LIMITS[0.5])
    monkeypatch.setattr(keep.presets, "sparse", lambda share: presets.MNIST)
    with pytest.raises(keep.WrongCount, match="140 units are left, not 70"):
        keep.run(blobs, PLAN, seeds=(0,))


def judged(ours, **theirs):
    """A result with these errors by seed and epoch."""
    runs = {"tdamp": [{"error_predictive": list(row)} for row in ours]}
    runs |= {name: [{"error": list(row)} for row in rows] for name, rows in theirs.items()}
    mean = {"tdamp": {"error_predictive": list(np.mean(ours, 0))}}
    mean |= {name: {"error": list(np.mean(rows, 0))} for name, rows in theirs.items()}
    return {"runs": runs, "mean": mean}


def test_mnist_and_depth_are_judged_by_hand():
    """Identity: thresholds of mean errors; plain Adam seed by seed at its best epoch, AdamW after the last."""
    wiggle = np.array([[0.0], [0.0002], [0.0001]])
    error = np.full((3, 25), 0.018) + wiggle
    error[:, :2] = 0.5
    adam, adamw = np.full((3, 25), 0.022), np.full((3, 25), 0.0181)
    result = judged(error, adam_optax=adam, adamw=adamw)
    found = mnist.verdicts(result)
    assert [(v.met, v.tied) for v in found] == [(True, False)] * 2 + [(False, False), (True, False), (False, True)]
    assert found[-1].value == pytest.approx(stats.ttest_rel(error[:, -1], adamw[:, -1]).statistic, abs=1e-9)
    ended = mnist.verdicts(judged(error, adamw=adamw, adamw_3=np.full((3, 3), 0.0179)))
    assert len(ended) == 5 and "after 3 epochs" in ended[3].claim and ended[4] == found[-1]
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


def test_a_verdict_without_a_number(tmp_path, console):
    """identity: legal JSON, and words for people."""
    verdict = record.Verdict("of one seed", np.nan, "<", -2.0)
    path = tmp_path / "x.json"
    report = record.save(path, "x", {"a": record.part({"worst": np.inf}, [verdict], {})})
    assert json.loads(path.read_text(), parse_constant=pytest.fail) == report
    show_verdicts(console, report["parts"]["a"]["verdicts"])
    tied = record.Verdict("of two", 0.5, "<", -2.0, tied=True)
    show_verdicts(console, [tied.to_dict()])
    shown = console.file.getvalue().splitlines()
    assert shown == ["missed of one seed: not known (< -2)", "tied   of two: 0.5 (< -2)"]


def test_epochs_are_interleaved(blobs):
    """Enumeration: every peer runs once after each epoch of tdamp, and the warm-up is left out."""
    calls = []

    def peer():
        calls.append(len(ticks))
        return 2.0

    ticks = []
    settings = replace(presets.MNIST, batch_size=20)
    seconds = epochs.interleaved(blobs, (12, 8, 3), settings, {"adam_torch": peer}, 3, 1, ticks.append)
    assert calls == [0, 1, 2, 3] and seconds["adam_torch"] == [2.0] * 3 and len(seconds["tdamp"]) == 3


def test_epoch_summary_by_hand():
    """Identity: medians, roofline and ratios."""
    seconds = {"tdamp": [1.0, 2.0, 9.0], "adam_torch": [4.0] * 3, "pytagi": [30.0] * 3}
    found = epochs.summary(seconds, (784, 128, 10), 1000, rate=8.258560e8)
    assert found["roofline_seconds"] == pytest.approx(1.0, rel=1e-3)
    assert found["ratios"] == pytest.approx(
        {"roofline_share": 0.5, "tdamp_over_torch": 0.5, "pytagi_over_tdamp": 15.0}, rel=1e-3
    )
    assert all(verdict.met for verdict in epochs.verdicts(found))


def test_compaction_compares_the_full_arrays_with_the_smaller_ones():
    """Identity: the first compilation is left out, those of the smaller arrays are not."""
    found = compaction.compare([9.0, 1.0, 1.0, 2.0, 0.4, 0.2], [10, 10, 10, 5, 2, 2])
    assert found["ratio"] == pytest.approx(2.6 / 3) and found["steady"] == pytest.approx(0.4)
    assert np.isnan(compaction.compare([1.0, 1.0], [10, 10])["ratio"])


def test_compaction_piece(blobs):
    """A pruned training is timed epoch by epoch."""
    settings = replace(presets.sparse(0.5), batch_size=20)
    found = compaction.measure(blobs, (12, 16, 3), settings, epochs=8)
    assert len(found["seconds"]) == 8 and found["units_during"][0] == 28 and found["units_after"][-1] == 14


def test_probe_measures_compilation_in_a_fresh_process():
    """The first epoch takes longer than the others."""
    found = probe.ask(what="compile", sweeps=1, layers=2, rows=100)
    assert found["compile"] > 0 and found["layers"] == 2
    with pytest.raises(RuntimeError, match="failed"):
        probe.ask(what="nothing")


def test_probe_measures_memory(tmp_path, monkeypatch):
    """Peak and state sizes of a training on made-up digits."""
    rng = np.random.default_rng(0)
    for name in (file.name for file in IDX):
        shape = (200, 28, 28) if "images" in name else (200,)
        header = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
        (tmp_path / name).write_bytes(gzip.compress(header + rng.integers(0, 10, shape, np.uint8).tobytes()))
    monkeypatch.setattr(problems, "load_mnist", lambda: load_mnist(tmp_path, verify=False))
    found = probe.memory(rows=None, epochs=1)
    assert found["weight_bytes"] >= 4 * (784 * 128 + 1280) and found["peak_bytes"] > found["state_bytes"]


def test_speed_tables_show_every_part(console):
    """Made-up numbers of all five parts."""
    seconds = {"tdamp": [1.0], "adam_optax": [1.0], "adam_torch": [1.0], "pytagi": [20.0]}
    epoch = epochs.summary(seconds, (784, 128, 10), 1000, 1e9)
    parts = {
        "epoch": epoch | {"verdicts": [verdict.to_dict() for verdict in epochs.verdicts(epoch)]},
        "width": {"by_hidden": {"64": epoch}, "verdicts": []},
        "compaction": compaction.compare([9.0, 1.0, 0.2], [10, 10, 2])
        | {"units_during": [10, 10, 2], "keep": 0.2, "verdicts": []},
        "compile": {"cases": [{"sweeps": 1, "layers": 2, "compile": 1.0, "steady": 0.1}], "verdicts": []},
        "memory": {"peak_bytes": 1e9, "state_over_weights": 2.0, "verdicts": []},
    }
    speed_table.show(console, parts)
    shown = console.file.getvalue()
    assert all(word in shown for word in ("PyTorch", "roofline", "keep 0.2", "1000 MB", "Share of the GEMM"))
