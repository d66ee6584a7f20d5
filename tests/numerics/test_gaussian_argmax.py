"""The probability that each of several scores is the largest, against dense quadrature and the closed form of two."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp

from oracles import largest as oracle
from tdamp.engine import predict
from tdamp.numerics.beliefs import Moments

log_class_probs = jax.jit(predict.log_class_probs)


def scores(n_classes: int, decades: float, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Means near each other and far apart, and variances that differ by up to 10^decades; every row another mixture."""
    rng = np.random.default_rng((n_classes, int(decades)))
    var = 10 ** (decades * rng.uniform(-0.5, 0.5, (rows, n_classes)))
    wide = np.where(rng.random((rows, 1)) < 0.25, np.sqrt(var.max()), 1)
    return rng.choice([0.3, 1.0, 5.0], (rows, 1)) * wide * rng.normal(size=(rows, n_classes)), var


@pytest.mark.parametrize("decades", [0.0, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("n_classes", [2, 3, 5, 10, 50])
def test_variances_that_differ(n_classes: int, decades: float, dtype: str) -> None:
    """quadrature: dense, in float64, of the scores as they are in this precision.

    The rule's own error is below 1e-5, of logs above -25 below 1e-3. Further down it is relative: the class's few nodes
    may miss its peak by a tenth of the way to it, and the log of the integrand is a parabola there: 1e-2.
    """
    mean, var = (a.astype(dtype) for a in scores(n_classes, decades, 12))
    noise_var = np.asarray(0.02, dtype)
    ours = np.asarray(log_class_probs(Moments(jnp.asarray(mean), jnp.asarray(var)), jnp.asarray(noise_var)))
    std = np.sqrt(var.astype(np.float64) + 0.01)
    exact = np.array([oracle.log_probs(m, s) for m, s in zip(mean.astype(np.float64), std, strict=True)])
    assert ours.dtype == dtype
    np.testing.assert_allclose(np.exp(ours), np.exp(exact), rtol=0, atol=1e-5)
    np.testing.assert_allclose(ours, exact, rtol=1e-2, atol=1e-4)
    near = exact > -25
    np.testing.assert_allclose(ours[near], exact[near], rtol=0, atol=1e-3)
    np.testing.assert_allclose(logsumexp(ours, axis=1), 0, atol=4 * np.finfo(dtype).eps)


def test_the_oracle_itself() -> None:
    """identity: two scores have a closed form, to 1e-9 of log-probabilities down to -1e5; all classes sum to one."""
    for mean, std in (([0.0, 1.0], [1.0, 0.01]), ([0.0, 20.0], [1.0, 1.0]), ([0.0, 500.0], [1.0, 0.1])):
        margin = (mean[0] - mean[1]) / np.hypot(*std)
        result = oracle.log_probs(np.array(mean), np.array(std))
        np.testing.assert_allclose(result, log_ndtr(np.array([margin, -margin])), rtol=1e-9, atol=1e-12)
    mean, var = scores(10, 4.0, 5)
    sums = [logsumexp(oracle.log_probs(m, s)) for m, s in zip(mean, np.sqrt(var), strict=True)]
    np.testing.assert_allclose(sums, 0, atol=1e-10)


@pytest.mark.parametrize("n_classes", [3, 20])
def test_a_far_tail(n_classes: int, dtype: str) -> None:
    """identity: a class far behind the only rival that counts has the closed form of two, to 1e-4 of its log.

    From about -150 on, where most of the points have been given to the hopeless others, to 2e-2 of it.
    """
    mean = np.full((6, n_classes), -1e5, dtype)
    mean[:, 0], mean[:, 1] = -np.array([5.0, 10.0, 20.0, 50.0, 100.0, 300.0]), 0.0
    std = np.ones((6, n_classes))
    std[:, 0] = [1.0, 10.0, 0.1, 3.0, 1.0, 1.0]
    var = jnp.asarray(std**2, dtype)
    ours = log_class_probs(Moments(jnp.asarray(mean), var), jnp.asarray(0.0, dtype))
    exact = log_ndtr(mean[:, 0].astype(np.float64) / np.sqrt(1 + std[:, 0] ** 2))
    near = exact > -150
    np.testing.assert_allclose(ours[near, 0], exact[near], rtol=1e-4)
    np.testing.assert_allclose(ours[:, 0], exact, rtol=2e-2)
