"""What the benchmarks stand on: splits, scores, the roofline, reports, and errors that name the extra."""

import importlib
import json
import sys

import numpy as np
import pytest
from rich.console import Console

from tdamp import _optional
from tdamp.cli import main
from tdamp_bench.cli import bench as commands_bench
from tdamp_bench.core import problems, record, scoring, tables
from tdamp_bench.methods.baselines import adam, gemm, start
from tdamp_bench.suites.accuracy import run as accuracy_run


def test_gemm_count_of_an_mnist_epoch():
    """Identity: the issue's formula by hand for 784-128-10."""
    assert gemm.epoch_flops((784, 128, 10), 60_000) == 2 * 60_000 * (4 * 784 * 128 + 9 * 128 * 10)
    assert gemm.epoch_flops((3, 5, 7, 2), 10) == 20 * (4 * 15 + 9 * 35 + 9 * 14)


def test_gemm_rate_is_the_better_of_the_two():
    """Identity; rates are positive."""
    rates = gemm.measure(size=64, repeats=2)
    assert rates["rate"] == max(rates["numpy"], rates["jax"]) > 0
    assert gemm.better({"rate": 2.0}, {"rate": 3.0}) == {"rate": 3.0}


def test_minibatches_hold_every_row_once():
    """Enumeration: what the mask lets through is the order itself, ragged last minibatch included."""
    order = np.random.default_rng(0).permutation(23)
    rows, present = start.minibatches(order, 5)
    assert rows.shape == present.shape == (5, 5)
    np.testing.assert_array_equal(rows[present > 0], order)


def test_he_init_has_the_right_spread():
    """Monte-Carlo: the deviation of 78,400 weights is within five standard errors of sqrt(2 / 784)."""
    (weight, bias), _ = start.he_init((784, 100, 10), seed=0)
    assert weight.dtype == np.float32 and not bias.any()
    assert abs(weight.std() / np.sqrt(2 / 784) - 1) < 5 / np.sqrt(2 * weight.size)


def test_validation_rows_come_from_the_training_part(blobs):
    """Identity: the two parts together are the training rows."""
    split = blobs.validation(30)
    assert len(split.x) == 90 and len(split.x_test) == 30
    both = np.concatenate([split.x, split.x_test])
    np.testing.assert_array_equal(np.sort(both[:, 0]), np.sort(blobs.x[:, 0]))


def test_standardise_uses_the_training_part_only(lines):
    """Identity: mean 0, deviation 1 in training; a constant column becomes 0; NMSE does not notice the scale."""
    line = lines[0]
    raw = problems.Problem("regression", 3 + 2 * line.x, 7 * line.y, 3 + 2 * line.x_test, 7 * line.y_test)
    raw.x[:, 1] = 5
    found = problems.standardise(raw)
    np.testing.assert_allclose(found.x.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(found.x.std(0), [1, 0, 1, 1], atol=1e-5)
    guess = 0.5 * raw.y_test
    scaled = (guess - raw.y.mean()) / raw.y.std()
    before, after = scoring.nmse(guess, raw.y_test, raw.y), scoring.nmse(scaled, found.y_test, found.y)
    assert after == pytest.approx(before, rel=1e-4)


def test_scores_by_hand():
    """Identity: three rows."""
    probs, y = np.array([[0.7, 0.3], [0.2, 0.8], [0.9, 0.1]]), np.array([0, 1, 1])
    assert scoring.error_rate(probs, y) == pytest.approx(1 / 3)
    assert scoring.nll(probs, y) == pytest.approx(-np.log([0.7, 0.8, 0.1]).mean())
    y_test, y_train = np.array([[1.0], [4.0]]), np.array([[0.0], [2.0]])
    assert scoring.nmse(np.array([[1.0], [2.0]]), y_test, y_train) == pytest.approx(4 / 9)
    np.testing.assert_allclose(adam.softmax(np.array([[0, np.log(3)], [1e4, 0]])), [[0.25, 0.75], [1, 0]])


def test_reports_keep_the_parts_of_earlier_runs(tmp_path):
    """Identity: save, save another part, read."""
    path = tmp_path / "results" / "x.json"
    verdict = record.Verdict("a", float("nan"), "<=", 1.0)
    assert not verdict.met
    record.save(path, "x", {"one": record.part({"a": np.float32(0.1), "b": (np.arange(2),)}, [verdict], {})})
    record.save(path, "x", {"two": {}})
    parts = json.loads(path.read_text())["parts"]
    assert parts["one"]["a"] == 0.1 and parts["one"]["b"] == [[0, 1]] and parts["two"] == {}
    assert parts["one"]["verdicts"][0]["met"] is False


def test_surroundings_tell_no_paths_or_names():
    """Versions and hardware only."""
    found = record.surroundings()
    assert found["versions"]["jax"] and found["cores"] >= 1
    assert "/" not in json.dumps(found["versions"]) and "host" not in json.dumps(found).lower()


def test_verdicts_are_printed_with_their_limit(capsys):
    """One line each."""
    tables.show_verdicts(Console(), [record.Verdict("error", 0.5, "<=", 0.4).to_dict()])
    assert "missed error: 0.5 (<= 0.4)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "library, module", [("optax", "adam_optax"), ("torch", "adam_torch"), ("pytagi", "pytagi_net")]
)
def test_a_missing_library_names_the_extra(library, module, monkeypatch):
    """Without the library the baseline says what to install."""
    name = f"tdamp_bench.methods.baselines.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(_optional.MissingExtra, match=rf"{library}.*pip install 'tdamp\[bench\]'"):
        importlib.import_module(name)
    sys.modules.pop(name, None)


@pytest.mark.parametrize("kind", ["accuracy", "speed"])
def test_the_command_stops_at_once_without_the_extra(kind, monkeypatch, capsys, tmp_path):
    """Exit code 2 and one line, before any training."""
    for name in ("optax", "torch", "pytagi"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main.main(["bench", kind, "--quick", "--out", str(tmp_path / "x.json")]) == 2
    assert "tdamp[bench]" in capsys.readouterr().err


def test_the_command_line_knows_the_parts():
    """The parser repeats them so that --help needs no JAX."""
    assert commands_bench.PARTS == accuracy_run.PARTS == tuple(accuracy_run.PIECES)
