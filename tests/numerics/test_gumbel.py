"""The minimum-Gumbel fit and its best noise variance F."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from oracles import gumbel as oracle
from tdamp.numerics import gumbel

CHECK_POINTS = [(-4.0, 3.72e-4), (-3.0, 2.81e-3), (-2.0, 0.0221), (-1.0, 0.203), (-0.5, 0.73), (0.0, 3.9)]


@pytest.mark.parametrize(("loc", "value"), CHECK_POINTS)
def test_check_points(loc: float, value: float) -> None:
    """golden(the check points of F in the derivation, three digits, found there by a separate program)."""
    assert abs(gumbel.best_noise_var_by_quadrature(loc) / value - 1) < 0.01


@pytest.mark.parametrize("loc", [-4.9, -3.3, -1.7, -0.6, 0.02, 0.28])
def test_quadrature_is_stationary(loc: float) -> None:
    """quadrature: at F the derivative of the expected log-likelihood in log v changes sign."""
    log_var = np.log(gumbel.best_noise_var_by_quadrature(loc))
    assert oracle.slope(loc, np.exp(log_var - 0.003)) > 0 > oracle.slope(loc, np.exp(log_var + 0.003))


def test_table(dtype: str) -> None:
    """quadrature: the interpolated table against the direct root between its nodes, to 0.2 % everywhere."""
    ratio = np.array([-4.987, -3.512, -2.222, -1.313, -0.777, -0.123, 0.111, 0.287])
    ours = gumbel.best_noise_var(jnp.asarray(ratio, dtype))
    assert ours.dtype == dtype
    np.testing.assert_allclose(ours, [oracle.best_noise_var(x) for x in ratio], rtol=2e-3)


def test_below_the_table() -> None:
    """quadrature: F(x) e^(-2x) tends to the argmax for an exponential tail, and the two laws join within 0.5 %."""
    limit = oracle.asymptote()
    near, far = (oracle.best_noise_var(x) * np.exp(-2 * x) for x in (-3.0, -4.5))
    assert abs(far / limit - 1) < 0.5 * abs(near / limit - 1)  # it does tend there
    ours = gumbel.best_noise_var(jnp.array([-8.0, -6.0, gumbel.LOW - 1e-6]))
    np.testing.assert_allclose(ours * np.exp(2 * np.array([8.0, 6.0, -gumbel.LOW])), np.full(3, limit), rtol=1e-3)
    np.testing.assert_allclose(ours[2], gumbel.best_noise_var(jnp.array(gumbel.LOW + 1e-6)), rtol=5e-3)
    assert gumbel.best_noise_var(jnp.array(-100.0)) > 0


def test_above_the_table() -> None:
    """quadrature: F grows without bound towards the Euler constant, so it is clipped at the table's end."""
    grows = [oracle.best_noise_var(x) for x in (0.2, gumbel.HIGH, 0.45, 0.5)]
    assert np.all(np.diff(np.log(grows)) > 0.5)
    ours = gumbel.best_noise_var(jnp.array([gumbel.HIGH, 0.5, np.euler_gamma, 7.0]))
    assert np.all(np.asarray(ours) == np.asarray(ours)[0])
    np.testing.assert_allclose(ours[0], grows[1], rtol=1e-3)


@pytest.mark.parametrize(("loc", "scale"), [(0.0, 1.0), (-3.0, 0.4), (2.0, 5.0)])
def test_fit(loc: float, scale: float) -> None:
    """quadrature: moments of the minimum Gumbel give back its location and scale."""
    mean, second = oracle.moments(loc, scale)
    np.testing.assert_allclose(gumbel.fit(jnp.float64(mean), jnp.float64(second)), [loc, scale], rtol=1e-9, atol=1e-9)


def test_fit_of_a_constant() -> None:
    """contract: margins without spread give scale zero, even if rounding makes the variance negative."""
    loc, scale = gumbel.fit(jnp.float32(3.3), jnp.float32(3.3) ** 2 - jnp.float32(1e-5))
    assert loc.dtype == scale.dtype == jnp.float32
    assert scale == 0 and loc == jnp.float32(3.3)
