"""The activation factor, beyond what tests/exams/test_activations.py asks of every activation."""

from __future__ import annotations

import numpy as np
import pytest

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
