"""The predictive distribution: its parts, its tails, some of its rows, on the host and in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from tdamp import Distribution
from tdamp.numerics.distribution import Level, MomentsOnly
from tdamp.training.calibration import Calibration

RNG = np.random.default_rng(0)
MEAN, EPISTEMIC, ALEATORIC = RNG.normal(size=(7, 2)), RNG.exponential(size=(7, 2)), RNG.exponential(size=2)
PREDICTED = Distribution.from_vars(MEAN, EPISTEMIC, ALEATORIC)


def test_parts_of_the_variance() -> None:
    """identity: both parts come back, and the standard deviation is the root of their sum; tails are a Gaussian's."""
    np.testing.assert_allclose(PREDICTED.epistemic_var, EPISTEMIC, rtol=1e-14)
    np.testing.assert_allclose(PREDICTED.aleatoric_var, np.tile(ALEATORIC, (7, 1)), rtol=1e-14)
    np.testing.assert_allclose(PREDICTED.var, EPISTEMIC + ALEATORIC, rtol=1e-14)
    np.testing.assert_allclose(PREDICTED.std, np.sqrt(EPISTEMIC + ALEATORIC), rtol=1e-14)
    assert PREDICTED.dof == np.inf


@pytest.mark.parametrize("dof", [np.inf, np.array([4.0, np.inf]), np.full((7, 2), 6.0)], ids=["none", "each", "all"])
def test_density_and_quantiles(dof: np.ndarray) -> None:
    """twin: scipy's t and normal, of this mean and standard deviation."""
    result, y = PREDICTED._replace(dof=dof), RNG.normal(size=(7, 2))
    nu = np.broadcast_to(dof, (7, 2))
    finite = np.where(np.isfinite(nu), nu, 1e12)
    scale = PREDICTED.std * np.sqrt((finite - 2) / finite)
    np.testing.assert_allclose(result.log_density(y), stats.t.logpdf(y, finite, MEAN, scale), rtol=1e-6)
    np.testing.assert_allclose(result.quantile(0.9), stats.t.ppf(0.9, finite, MEAN, scale), rtol=1e-6)
    some = result.take(np.array([3, 1]))
    np.testing.assert_array_equal(some.log_density(y[[3, 1]]), result.log_density(y)[[3, 1]])
    one = result.on_host().take(np.s_[:, 1])
    np.testing.assert_array_equal(one.log_density(y[:, 1]), result.log_density(y)[:, 1])


def test_stretched_and_rescaled() -> None:
    """identity: variances times the factors, other tails, the mean as it was; and the law of shift + scale y."""
    by = Calibration(np.array([2.0, 3.0]), np.array([0.5, 1.0]), np.array([5.0, 9.0]))
    wide = PREDICTED.stretched(by)
    np.testing.assert_allclose(wide.epistemic_var, by.epistemic * EPISTEMIC, rtol=1e-14)
    np.testing.assert_allclose(wide.var, by.epistemic * EPISTEMIC + by.noise * ALEATORIC, rtol=1e-14)
    assert wide.mean is PREDICTED.mean and wide.dof is by.dof and PREDICTED.stretched(None) is PREDICTED
    scaled, y = wide.rescaled(3.0, 10.0), RNG.normal(size=(7, 2))
    np.testing.assert_allclose(scaled.log_density(3 + 10 * y), wide.log_density(y) - np.log(10), rtol=1e-12)


def test_level() -> None:
    """identity: a weight on one row is that row, and equal weights are the mean."""
    one = PREDICTED.level(np.eye(7)[3])
    assert isinstance(one, Level)
    np.testing.assert_allclose(one.epistemic_var, EPISTEMIC[3], rtol=1e-14)
    np.testing.assert_allclose(PREDICTED.level(np.ones(7)).aleatoric_var, ALEATORIC, rtol=1e-14)


def test_jax_arrays_stay_on_the_device() -> None:
    """twin: the same numbers, compiled, as on the host, to float32."""

    def parts(mean: jax.Array, epistemic: jax.Array, aleatoric: jax.Array) -> tuple[jax.Array, ...]:
        predicted = Distribution.from_vars(mean, epistemic, aleatoric)
        return predicted.std, predicted.epistemic_var, predicted.aleatoric_var

    actual = jax.jit(parts)(*(jnp.asarray(a, jnp.float32) for a in (MEAN, EPISTEMIC, ALEATORIC)))
    expected = PREDICTED.std, PREDICTED.epistemic_var, PREDICTED.aleatoric_var
    for ours, theirs in zip(actual, expected, strict=True):
        assert isinstance(ours, jax.Array)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    host = Distribution(*(jnp.asarray(a, jnp.float32) for a in PREDICTED[:3])).on_host()
    assert all(isinstance(part, np.ndarray) and part.dtype == np.float64 and part.shape == (7, 2) for part in host)


def test_frames() -> None:
    """contract: a column for each part and output; tails only where they are not a Gaussian's."""
    assert list(PREDICTED.take(np.s_[:, 0]).to_frame()) == ["mean", "epistemic_std", "aleatoric_std"]
    frame = PREDICTED._replace(dof=np.array([4.0, 8.0])).to_frame(["a", "b"])
    assert list(frame)[:2] == ["a_mean", "b_mean"] and set(frame["b_dof"]) == {8.0} and len(frame) == 7


def test_moments_only() -> None:
    """contract: no intervals or densities where no more than moments are known, rather than a Gaussian's."""
    known = MomentsOnly.from_vars(MEAN, EPISTEMIC, ALEATORIC).on_host().take(np.array([1, 2]))
    np.testing.assert_allclose(known.var, EPISTEMIC[1:3] + ALEATORIC)
    for ask in (lambda: known.quantile(0.9), lambda: known.interval(0.9), lambda: known.cdf(0.0)):
        with pytest.raises(ValueError, match="no quantiles"):
            ask()
    with pytest.raises(ValueError, match="not their density"):
        known.log_density(MEAN[1:3])
