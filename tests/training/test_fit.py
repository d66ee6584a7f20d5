"""fit: its record, result codes, weights, chunks and precision.

covers: training.fitted, training.outcome
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from tdamp import Fitted, Network, Outcome, Settings, fit, mean_network
from tdamp.engine.damp import Clips
from tdamp.training import trainer

NETWORK = Network((6, 8, 2))
SETTINGS = Settings(max_epochs=3, batch_size=16)
ROWS = 60


def problem(dtype: str = "float32", rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """A noisy smooth function of six inputs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 6))
    y = np.stack([np.maximum(x[:, 0] + x[:, 1], 0), np.abs(x[:, 2])], 1) + 0.1 * rng.normal(size=(rows, 2))
    return x.astype(dtype), y.astype(dtype)


def assert_same(a: Fitted, b: Fitted, rtol: float) -> None:
    """Both posteriors agree."""
    for p, q in zip(jax.tree.leaves(a.state), jax.tree.leaves(b.state), strict=True):
        np.testing.assert_allclose(p, q, rtol=rtol, atol=rtol)


def is_finite(fitted: Fitted) -> bool:
    """Whether every parameter of the posterior is a finite number, and every variance positive."""
    beliefs = [belief for layer in fitted.state.layers for belief in (layer.weight, layer.bias)]
    good = all(np.isfinite(a).all() for belief in beliefs for a in belief)
    return good and all((np.asarray(belief.var) > 0).all() for belief in beliefs)


def test_history_names_every_epoch() -> None:
    """contract: one record an epoch with the named fields, the same as the callback got."""
    x, y = problem()
    seen: list[tuple[int, dict]] = []
    settings = replace(SETTINGS, data_weight=(1.0, 2.0))
    fitted = fit(NETWORK, x, y, settings, callback=lambda epoch, _, record: seen.append((epoch, record)))
    fields = {"epoch", "seconds", "data_weight", "counted", "noise_var", "log_evidence", "active_units", "noise_clips"}
    for epoch, record in enumerate(fitted.history, start=1):
        assert set(record) == fields | set(Clips._fields) and seen[epoch - 1] == (epoch, record)
        assert record["epoch"] == epoch and record["active_units"] == [6, 8] and len(record["noise_var"]) == 2
        assert np.isfinite(record["log_evidence"]) and record["seconds"] > 0
    assert [r["data_weight"] for r in fitted.history] == [1.0, 2.0, 2.0] and len(seen) == 3
    assert fitted.outcome is Outcome.OK and str(fitted.outcome) == "Training finished."
    assert fitted.n_units == 14 and np.array_equal(fitted.inputs, np.arange(6))


def test_training_learns() -> None:
    """calibration: on a noisy smooth function the error falls to the order of the noise, the evidence rises."""
    x, y = problem()
    fitted = fit(NETWORK, x, y, replace(SETTINGS, max_epochs=60))
    error = np.mean((np.asarray(mean_network(fitted.network, fitted.state.layers, x)) - y) ** 2, axis=0)
    assert np.all(error < 0.1 * y.var(0)), error
    assert fitted.history[-1]["log_evidence"] > fitted.history[0]["log_evidence"] + 0.5
    assert {leaf.dtype.name for leaf in jax.tree.leaves(fitted.state)} == {"float32", "bool"}  # though x64 is on


def test_seeds() -> None:
    """identity: the same seed gives the same bits, another one does not."""
    x, y = problem()
    first, again, other = (fit(NETWORK, x, y, SETTINGS, seed=seed) for seed in (3, 3, 4))
    assert_same(first, again, rtol=0)
    assert np.any(np.asarray(first.state.layers[0].weight.mean) != np.asarray(other.state.layers[0].weight.mean))


def test_rows_of_weight_zero_are_absent() -> None:
    """identity: with one batch of all rows, rows of weight zero change nothing but rounding.

    They repeat the others, because the scale of the start is taken from all rows.
    """
    x, y = problem("float64", rows=30)
    settings = replace(SETTINGS, batch_size=64)
    alone = fit(NETWORK, x, y, settings)
    weight = np.repeat([1.0, 0.0], 30)
    padded = fit(NETWORK, np.tile(x, (2, 1)), np.tile(y, (2, 1)), settings, sample_weight=weight)
    assert_same(alone, padded, rtol=1e-9)
    doubled = fit(NETWORK, np.tile(x, (2, 1)), np.tile(y, (2, 1)), settings)
    heavy = fit(NETWORK, x, y, settings, sample_weight=np.full(30, 2.0))
    assert_same(doubled, heavy, rtol=1e-9)  # and a row of weight two is there twice


def test_one_chunk_is_no_chunk(tmp_path: Path) -> None:
    """identity: a chunk that covers all rows, a memory map and plain arrays give the same bits."""
    x, y = problem()
    plain = fit(NETWORK, x, y, SETTINGS)
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for rows in (ROWS, 10 * ROWS):
        assert_same(plain, fit(NETWORK, mapped, y, replace(SETTINGS, chunk_rows=rows)), rtol=0)


def test_several_chunks(tmp_path: Path) -> None:
    """calibration: a memory map in three chunks, the last one short, trains as well as the whole."""
    x, y = problem()
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    fitted = fit(NETWORK, mapped, y, replace(SETTINGS, max_epochs=60, chunk_rows=25))
    assert fitted.outcome is Outcome.OK and is_finite(fitted)
    error = np.mean((np.asarray(mean_network(fitted.network, fitted.state.layers, x)) - y) ** 2, axis=0)
    assert np.all(error < 0.1 * y.var(0)), error


def test_divergence_returns_the_state_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: an epoch that is not finite is taken back and named; what is returned is the epoch before."""
    x, y = problem()
    two = fit(NETWORK, x, y, replace(SETTINGS, max_epochs=2))
    epochs = iter([True, True, False])
    monkeypatch.setattr(trainer, "is_finite", lambda _: next(epochs))
    stopped = fit(NETWORK, x, y, replace(SETTINGS, max_epochs=9))
    assert stopped.outcome is Outcome.DIVERGED and len(stopped.history) == 2 and is_finite(stopped)
    assert "not finite" in str(stopped.outcome)
    assert_same(stopped, two, rtol=0)


def test_data_out_of_range_end_in_a_finite_posterior() -> None:
    """contract: finite float32 data whose squares overflow are refused, or end in DIVERGED with finite numbers."""
    x, y = problem()
    for scale_x, scale_y in ((1e25, 1.0), (1e-25, 1.0), (1.0, 1e25), (1.0, 1e-25)):
        try:
            fitted = fit(NETWORK, x * np.float32(scale_x), y * np.float32(scale_y), SETTINGS)
        except ValueError:
            continue
        assert is_finite(fitted), (scale_x, scale_y, fitted.outcome)


def test_noise_at_the_floor() -> None:
    """contract: a target that is a linear function of the inputs, without noise, is noticed."""
    x, _ = problem()
    y = x[:, :2] @ np.array([[1.0, 2.0], [-1.0, 0.5]])
    fitted = fit(Network((6, 2)), x, y, replace(SETTINGS, max_epochs=80, noise_rate=1.0, data_weight=50.0))
    assert fitted.outcome is Outcome.NOISE_AT_FLOOR and fitted.history[-1]["noise_clips"] > 0
    noisy = fit(Network((6, 2)), x, y + 1.0 * problem()[1], replace(SETTINGS, max_epochs=80, noise_rate=1.0))
    assert noisy.outcome is Outcome.OK


def test_centres_do_not_run_after_single_rows() -> None:
    """twin: with one row at a time a centre follows 50 of them at least, whatever its rate; with 64 it does not."""
    x, y = np.random.default_rng(0).normal(size=(2, 64, 3)).astype(np.float32)
    network = Network((3, 8, 8, 3))

    def centre(rate: float, batch: int) -> np.ndarray:
        settings = Settings(max_epochs=1, batch_size=batch, centre_rate=rate)
        return np.asarray(fit(network, x, y, settings).state.layers[1].centre)

    np.testing.assert_array_equal(centre(0.5, 1), centre(0.02, 1))
    assert (np.abs(centre(0.5, 64)) > 10 * np.abs(centre(0.02, 64))).mean() > 0.5


def test_varying_noise_wants_targets_of_scale_one() -> None:
    """contract: a variance of 1e4 is refused, with what to do; one of 1e-8 is harmless."""
    x, y = np.random.default_rng(0).normal(size=(2, 64, 1)).astype(np.float32)
    network, settings = Network((1, 8, 2), noise="varying"), Settings(max_epochs=1)
    with pytest.raises(ValueError, match="bring y to a variance near one"):
        fit(network, x, 100 * y, settings)
    assert fit(network, x, 1e-4 * y, settings).outcome is Outcome.OK
