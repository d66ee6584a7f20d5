"""Scores of units: saliency and energy."""

import jax
import numpy as np
import pytest

from tdamp_bench.methods.baselines import adam_optax, unit_scores
from tdamp_bench.methods.baselines.start import he_init


def in_float64(params):
    """The same numbers in double precision."""
    return [(np.asarray(w, np.float64), np.asarray(b, np.float64)) for w, b in params]


def test_saliency_by_loop(blobs):
    """twin: |weight x finite difference| summed weight by weight, in float64."""
    widths, problem = (12, 4, 3), blobs.first(30)
    params = he_init(widths, 3)
    with jax.enable_x64(True):
        double = in_float64(params)
        x, y, present = problem.x.astype(np.float64), problem.y, np.ones(30)
        loss = jax.jit(lambda p: adam_optax.loss(p, "classification", x, y, present))
        expected = [np.zeros(12), np.zeros(4)]
        for l, m, n in [(0, m, n) for m in range(12) for n in range(4)] + [
            (1, m, n) for m in range(4) for n in range(3)
        ]:
            moved = [[leaf.copy() for leaf in layer] for layer in double]
            ends = []
            for step in (1e-6, -1e-6):
                moved[l][0][m, n] = double[l][0][m, n] + step
                ends.append(float(loss([tuple(layer) for layer in moved])))
            expected[l][m] += abs(double[l][0][m, n] * (ends[0] - ends[1]) / 2e-6)
    for actual, by_hand in zip(unit_scores.saliency(params, problem), expected, strict=True):
        np.testing.assert_allclose(actual, by_hand, rtol=1e-3, atol=1e-6)


def test_saliency_reads_few_rows(blobs, monkeypatch):
    """identity: rows beyond SNIP_ROWS, and all test rows, do not matter."""
    monkeypatch.setattr(unit_scores, "SNIP_ROWS", 50)
    params = he_init((12, 4, 3), 0)
    for result, same in zip(
        unit_scores.saliency(params, blobs), unit_scores.saliency(params, blobs.first(50, 1)), strict=True
    ):
        np.testing.assert_array_equal(result, same)


def test_energy_by_hand():
    """identity: sums and means of squares; large weights do not overflow."""
    params = [(np.float32([[1, 2], [1e30, 0]]), np.zeros(2, np.float32)), (np.float32([[3], [0]]), np.zeros(1))]
    results = [layer.tolist() for layer in unit_scores.energy(params)]
    assert results == [[5.0, pytest.approx(1e60)], [9.0, 0.0]]
    assert [layer.tolist() for layer in unit_scores.energy(params, "mean")] == [[2.5, pytest.approx(5e59)], [9.0, 0.0]]
