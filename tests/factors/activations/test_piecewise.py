"""The activation factor, beyond what tests/exams/test_activations.py asks of every activation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from oracles import quadrature
from tdamp.factors.activations import piecewise
from tdamp.factors.activations.catalog import ACTIVATIONS
from tdamp.numerics.beliefs import Message, Moments


@pytest.mark.parametrize("name", ["relu", "abs", "hard_tanh"])
def test_score_prec_is_truly_negative_somewhere(name: str) -> None:
    """quadrature: the factor is not log-concave, its z is wider after than before for some messages."""
    mean, var, shift, prec = np.array([-0.5]), np.array([1.0]), np.array([3.0]), np.array([0.0])
    if name == "hard_tanh":
        mean, shift = np.array([-3.0]), np.array([5.0])
    exact = quadrature.tilted(*quadrature.REFERENCE[name], mean, var, shift, prec)
    assert exact.z_var[0] > 1.2 * var[0]
    ours = piecewise.activate(ACTIVATIONS[name].regions, Moments(mean, var), Message(shift, prec)).score_prec
    np.testing.assert_allclose(ours, ((1 - exact.z_var / var) / var).astype(float), rtol=1e-10)


@pytest.mark.parametrize("mean", [-1.5, -0.2, 0.0, 0.7, 2.0])
@pytest.mark.parametrize("var", [0.3, 1.0, 4.0])
def test_precision_of_a_weak_message(mean: float, var: float) -> None:
    """rate: of a message of slope eta and precision eta^2, v_s + eta pdf / sd is what the datum says, of order eta^2.

    The kink's part, of order eta, is far larger and of either sign: why convolutions floor sums of precisions alone.
    """
    r, std = mean / np.sqrt(var), np.sqrt(var)
    tail, curvature = norm.cdf(r), norm.pdf(r) / std  # of the rectifier's mean: its slope and second derivative

    def spread(at: float) -> float:
        q = at / std
        first = at * norm.cdf(q) + std * norm.pdf(q)
        return (at**2 + var) * norm.cdf(q) + at * std * norm.pdf(q) - first**2

    step = 1e-3 * std
    bend = (spread(mean + step) - 2 * spread(mean) + spread(mean - step)) / step**2
    for eta in (1e-2, 1e-3):
        for slope in (eta, -eta):
            message = Message(np.array([slope]), np.array([eta**2]))
            ours = piecewise.activate(ACTIVATIONS["relu"].regions, Moments(np.array([mean]), np.array([var])), message)
            second = eta**2 * (tail - 0.5 * bend)
            assert abs(float(ours.score_prec[0]) + slope * curvature - second) < 3 * eta**3 * (1 + std) ** 3
            if abs(r) < 1:
                assert np.sign(ours.score_prec[0]) == -np.sign(slope)
