"""The truncated standard normal against 50 digits."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles import normal
from tdamp.numerics import truncated_normal

# Every quantity is right to REL of itself. exp(-x^2 / 2) amplifies the rounding of its argument by up to
# 90 (float32) or 700 (float64) nats before it underflows, which is what WITH_EXP allows for.
REL = {"float32": 2e-6, "float64": 1e-14}
WITH_EXP = {"float32": 1e-5, "float64": 2e-13}
TINY = {"float32": 1e-36, "float64": 1e-300}

MAGNITUDES = [0.0, 1e-6, 1e-3, 0.1, 0.5, 0.99, 1.01, 2.0, 2.5, 3.7, 4.0, 6.0, 9.9, 13.0, 20.0, 37.0, 100.0, 1e3, 1e4]
BOUNDS = np.array([sign * x for x in MAGNITUDES for sign in (-1.0, 1.0)])

above = jax.jit(truncated_normal.above)
below = jax.jit(truncated_normal.below)
between = jax.jit(truncated_normal.between)


def assert_close(ours: jax.Array, exact: np.ndarray, rel: float, tiny: float, what: str) -> None:
    """Relative error, forgiving only what the type cannot hold."""
    error = np.abs(np.asarray(ours, np.float64) - exact)
    assert np.all(error <= rel * np.abs(exact) + tiny), f"{what}: {np.max(error / (np.abs(exact) + tiny))}"


def test_oracle_itself() -> None:
    """quadrature: the oracle's closed forms are the integrals of the density at 50 digits."""
    for low, high in [(-1.0, 2.0), (5.0, 5.5), (-0.3, -0.3 + 1e-6)]:
        exact = normal.cut(low, high)
        np.testing.assert_allclose([exact[0], exact[2], exact[4]], normal.cut_by_quadrature(low, high), rtol=1e-15)


def test_naive_mills_ratio_fails_where_ours_holds() -> None:
    """quadrature: pdf / cdf is 0 / 0 in float32 from 15 sd on, and 1 - w loses its digits long before."""
    x = np.float32(15.0)
    naive_tail = np.float32(1) - np.asarray(jax.scipy.stats.norm.cdf(x))
    assert naive_tail == 0  # so pdf / tail is inf or NaN
    assert not np.isfinite(np.asarray(jax.scipy.stats.norm.pdf(x) / naive_tail))
    mean = normal.cut(15.0, np.inf)[2]
    np.testing.assert_allclose(above(x).mean, mean, rtol=1e-6)

    a = np.float32(-9.9)
    log_cdf = np.asarray(jax.scipy.stats.norm.logcdf(a))
    hazard = np.exp(np.float32(-0.5) * a * a - np.float32(truncated_normal.LOG_SQRT_2PI) - log_cdf)
    naive_var = np.float32(1) - hazard * (a + hazard)
    exact_var = normal.cut(9.9, np.inf)[4]
    assert abs(naive_var / exact_var - 1) > 0.01
    np.testing.assert_allclose(above(-a).var, exact_var, rtol=2e-6)


def test_above_and_below(dtype: str) -> None:
    """quadrature: six numbers of the one-sided cut at 50 digits, bounds from -1e4 to 1e4 sd."""
    bounds = BOUNDS.astype(dtype)
    exact = normal.cuts(bounds, np.full(bounds.shape, np.inf))
    mirrored = exact * np.array([1, 1, -1, -1, 1, 1])[:, None]
    for ours, truth in ((above(bounds), exact), (below(-bounds), mirrored)):
        for name, got, want in zip(ours._fields[:6], ours[:6], truth, strict=True):
            rel = WITH_EXP if name in ("mass", "mean", "shrink", "log_mass") else REL
            assert_close(got, want, rel[dtype], TINY[dtype], name)
            assert got.dtype == dtype
        edge = np.where(ours.is_tail, 0.5 * bounds.astype(float) ** 2, 0)
        assert_close(np.log(np.asarray(ours.scaled, float)) - edge, truth[0], WITH_EXP[dtype], REL[dtype], "scaled")


def test_log_ndtr(dtype: str) -> None:
    """quadrature: log Phi at 50 digits over +-1e4 sd."""
    exact = normal.cuts(-BOUNDS.astype(dtype), np.full(BOUNDS.shape, np.inf))[0]
    ours = jax.jit(truncated_normal.log_ndtr)(jnp.asarray(BOUNDS, dtype))
    assert_close(ours, exact, WITH_EXP[dtype], TINY[dtype], "log_ndtr")


def test_between(dtype: str) -> None:
    """quadrature: two-sided cuts at 50 digits, widths from 1e-6 to 2e4, centres and far tails."""
    lows = np.array([x for x in (-1e4, -1e3, -37.0, -8.0, -1.0, -1e-3, 0.0, 0.7, 5.0, 30.0, 500.0, 9999.0)])
    widths = np.array([1e-6, 1e-4, 0.01, 0.5, 2.0, 9.0, 80.0, 2e4])
    low = np.repeat(lows, len(widths)).astype(dtype)
    high = (low + np.tile(widths, len(lows)).astype(dtype)).astype(dtype)
    keep = high > low  # at 1e4 sd a width of 1e-6 does not exist in float32
    low, high = low[keep], high[keep]
    exact = normal.cuts(low, high)
    ours = between(low, high)
    rel = {"float32": 1e-5, "float64": 1e-12}[dtype]
    assert_close(ours.log_mass, exact[0], rel, rel, "log_mass")
    assert_close(ours.mass, np.exp(exact[0]), rel * (1 + np.abs(exact[0])), TINY[dtype], "mass")
    edge = np.where(ours.is_tail, 0.5 * np.minimum(np.abs(low), np.abs(high)).astype(float) ** 2, 0)
    assert_close(np.log(np.asarray(ours.scaled, float)) - edge, exact[0], rel, rel, "scaled")
    assert_close(ours.gap, exact[3], rel, TINY[dtype], "gap")
    assert_close(ours.var, exact[4], rel, TINY[dtype], "var")
    # the mean of a cut that straddles zero may vanish: its error is judged on the scale of the cut
    scale = np.minimum(high.astype(float) - low, 1.0) + np.abs(exact[2])
    assert np.all(np.abs(np.asarray(ours.mean, float) - exact[2]) <= rel * scale)


TINY_BOUND = np.finfo(np.float32).tiny


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=16, max_size=16))
def test_finite_in_finite_out(values: list[float]) -> None:
    """contract: any finite float32 bound gives finite numbers and a variance in (0, 1].

    Two bounds beyond MAX_SDS on one side are clipped to an empty interval, whose log-mass is -inf by design, and so are
    two subnormal ones: they are zero.
    """
    bound = np.array(values, np.float32)
    low, high = np.minimum(bound[:8], bound[8:]), np.maximum(bound[:8], bound[8:])
    normal_low, normal_high = (np.where(np.abs(b) < TINY_BOUND, 0, b) for b in (low, high))
    apart = (normal_high > normal_low) & (low < truncated_normal.MAX_SDS) & (high > -truncated_normal.MAX_SDS)
    for ours, valid in ((above(bound), True), (below(bound), True), (between(low, high), apart)):
        for name, got in zip(ours._fields, ours, strict=True):
            assert np.all(np.isfinite(np.asarray(got)) | ~np.broadcast_to(valid, got.shape)), name
    for ours in (above(bound), below(bound)):
        var = np.asarray(ours.var)
        assert np.all((var >= 0) & (var <= 1))
        assert np.all(var > 0)


def test_subnormal_bounds_are_zero() -> None:
    """identity: bounds below the smallest normal number cut as zero does; normal bounds that far apart have mass."""
    subnormal, one, zero = np.array([1e-40, -1e-42], np.float32), np.ones(2, np.float32), np.zeros(2, np.float32)
    for ours, expected in zip(between(subnormal, one), between(zero, one), strict=True):
        np.testing.assert_array_equal(ours, expected)
    low = np.array([1.2e-38, -1.3e-38, 0.0, -1e-44], np.float32)
    high = np.array([1.3e-38, -1.2e-38, 1.2e-38, 1.2e-38], np.float32)
    cut = between(low, high)
    assert np.isfinite(np.asarray(cut.log_mass)).all() and (np.asarray(cut.mass) > 0).all()


def test_derivatives_are_the_moments() -> None:
    """autodiff: d log_mass / d bound = -mean of the upper cut, and -d mean / d bound = -shrink (log-concavity)."""
    bound = jnp.array([-9.0, -3.0, 0.5, 4.0, 12.0, 300.0])

    def log_mass_and_mean(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        cut = truncated_normal.above(x)
        return cut.log_mass, cut.mean

    ours = above(bound)
    by_log_mass, by_mean = jax.jit(lambda x: jax.jvp(log_mass_and_mean, (x,), (jnp.ones_like(x),))[1])(bound)
    np.testing.assert_allclose(-by_log_mass, ours.mean, rtol=1e-12)
    np.testing.assert_allclose(by_mean, ours.shrink, rtol=1e-9)
