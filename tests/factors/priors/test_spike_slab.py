"""The spike-slab prior of one parameter."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from oracles import supports
from tdamp.factors.priors import spike_slab
from tdamp.numerics.beliefs import Message, Moments, moments


@pytest.mark.parametrize("prior_logit", [-3.0, 0.0, 2.0])
@pytest.mark.parametrize(("shift", "prec"), [(0.0, 0.0), (4.0, 9.0), (-1.0, 30.0), (0.5, 0.0)])
def test_active_logit(prior_logit: float, shift: float, prec: float) -> None:
    """quadrature: posterior odds are the slab's likelihood integral over the spike's value at zero."""
    base_var = 0.7
    slab_mass, _ = quad(lambda x: norm.pdf(x, 0, np.sqrt(base_var)) * np.exp(shift * x - prec * x**2 / 2), -12, 12)
    spike_mass = np.exp(shift * 0.0 - prec * 0.0)
    slab = moments(Message(np.float64(shift), prec + 1 / base_var))
    ours = spike_slab.active_logit(prior_logit, slab, base_var)
    np.testing.assert_allclose(ours, prior_logit + np.log(slab_mass / spike_mass), rtol=1e-7, atol=1e-12)


def test_evidence_is_savage_dickey() -> None:
    """identity: log N(0; 0, base_var) - log N(0; slab mean, slab var), the printed Savage-Dickey ratio."""
    mean, var, base_var = np.array([0.0, 1.0, -4.0]), np.array([0.3, 0.1, 2.0]), 0.5
    ratio = norm.logpdf(0, 0, np.sqrt(base_var)) - norm.logpdf(0, mean, np.sqrt(var))
    ours = spike_slab.evidence(Moments(mean, var), base_var)
    np.testing.assert_allclose(ours, ratio, rtol=1e-12)
    np.testing.assert_allclose(ours, 0.5 * (mean**2 / var + np.log(var / base_var)), rtol=1e-12)


def test_many_parameters_are_groups_of_one() -> None:
    """enumeration: every support of six independent parameters."""
    rng = np.random.default_rng(0)
    shift, prec, logit, base_var = rng.normal(size=6) * 3, rng.exponential(size=6) * 5, rng.normal(size=6), 0.8
    column = [x[:, None] for x in (np.zeros(6), np.full(6, base_var), shift, prec)]
    exact = supports.group_posterior(logit, *column, group_of=np.arange(6))
    ours = spike_slab.active_logit(logit, moments(Message(shift, prec + 1 / base_var)), base_var)
    np.testing.assert_allclose(ours, exact.logit, rtol=1e-10)


def test_removed_and_unquestioned(dtype: str) -> None:
    """contract: infinite offsets stay infinite whatever the evidence, and the probability is exactly 0 or 1."""
    slab = Moments(np.array([1e3, -1e-3, 0.0], dtype), np.array([1.0, 1e-6, 1e6], dtype))
    for offset, prob in ((-np.inf, 0.0), (np.inf, 1.0)):
        logit = spike_slab.active_logit(np.array(offset, dtype), slab, np.array(1.0, dtype))
        assert np.array_equal(jax.nn.sigmoid(logit), np.full(3, prob))
