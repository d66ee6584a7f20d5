"""The activation factor: every activation, both directions and the log-partition."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import quadrature
from tdamp.factors.activations import piecewise
from tdamp.factors.activations.piecewise import ACTIVATIONS
from tdamp.numerics.beliefs import Message, Moments

NAMES = sorted(ACTIVATIONS)
N = 400


def random_cases(seed: int) -> tuple[np.ndarray, ...]:
    """mean within 8 sd of zero, var 1e-6..1e6, a fifth of the messages without precision, a tenth flat."""
    rng = np.random.default_rng(seed)
    var = 10.0 ** rng.uniform(-6, 6, N)
    mean = rng.uniform(-8, 8, N) * np.sqrt(var)
    prec = np.where(rng.random(N) < 0.2, 0.0, 10.0 ** rng.uniform(-4, 3, N) / var)
    shift = rng.uniform(-5, 5, N) * np.sqrt(prec + 0.5 / var)
    shift[rng.random(N) < 0.1] = 0.0
    return mean, var, shift, prec


@partial(jax.jit, static_argnums=0)
def _activate(name: str, z_fwd: Moments, u_bwd: Message) -> piecewise.Activated:
    return piecewise.activate(ACTIVATIONS[name], z_fwd, u_bwd)


def activate(name: str, *cases: np.ndarray) -> piecewise.Activated:
    """The factor at (mean, var, shift, prec); cases are repeated up to N, so that one shape is compiled."""
    n = len(cases[0])
    mean, var, shift, prec = (np.resize(x, N) for x in cases)
    return jax.tree.map(lambda x: np.asarray(x)[:n], _activate(name, Moments(mean, var), Message(shift, prec)))


def test_every_activation_has_a_reference() -> None:
    """contract: the oracle knows exactly the activations on offer."""
    assert set(ACTIVATIONS) == set(quadrature.REFERENCE)


@pytest.mark.parametrize("name", NAMES)
def test_against_quadrature(name: str, dtype: str) -> None:
    """quadrature: beliefs of u and z and the log-partition, split at the kinks."""
    cases = [x.astype(dtype) for x in random_cases(1)]
    mean, var, shift, prec = (x.astype(np.float64) for x in cases)
    exact = quadrature.tilted(*quadrature.REFERENCE[name], mean, var, shift, prec)
    exact = type(exact)(*(x.astype(np.float64) for x in exact))
    ours = jax.tree.map(partial(np.asarray, dtype=np.float64), activate(name, *cases))
    eps = {"float32": 2e-5, "float64": 1e-11}[dtype]

    evidence_scale = 1 + np.abs(exact.log_partition) + prec * mean**2 / (1 + var * prec) + mean**2 / var
    assert np.all(np.abs(ours.log_partition - exact.log_partition) <= eps * evidence_scale)
    # probabilities are exponentials of evidence, so its absolute error is their relative error
    eps = eps * evidence_scale
    # u is measured from a kink, so it inherits the rounding of the kink itself
    ulp = 2 * np.finfo(dtype).eps * max(np.abs(quadrature.REFERENCE[name][1]), default=0.0)
    size = np.abs(exact.u_mean) + np.sqrt(exact.u_var)
    assert np.all(np.abs(ours.u_post.mean - exact.u_mean) <= eps * size + ulp)
    assert np.all(np.abs(ours.u_post.var - exact.u_var) <= eps * exact.u_var)
    score, score_prec = exact.z_mean_shift / var, (1 - exact.z_var / var) / var
    size = 1 + np.abs(score) * np.sqrt(var) + np.abs(shift) * np.sqrt(var)
    assert np.all(np.abs(ours.score - score) * np.sqrt(var) <= eps * size)
    assert np.all(np.abs(ours.score_prec - score_prec) * var <= eps * size**2)


@pytest.mark.parametrize("name", NAMES)
def test_against_autodiff(name: str) -> None:
    """autodiff: each derivative of the log-partition is a moment, and each derivative of that the next one."""
    mean, var, shift, prec = random_cases(2)
    ones = np.ones(N)

    @jax.jit
    def derivatives(m: jax.Array, s: jax.Array) -> tuple[jax.Array, ...]:
        def by_mean(x: jax.Array) -> tuple[jax.Array, jax.Array]:
            got = piecewise.activate(ACTIVATIONS[name], Moments(x, var), Message(s, prec))
            return got.log_partition, got.score

        def by_shift(x: jax.Array) -> tuple[jax.Array, jax.Array]:
            got = piecewise.activate(ACTIVATIONS[name], Moments(m, var), Message(x, prec))
            return got.log_partition, got.u_post.mean

        return *jax.jvp(by_mean, (m,), (ones,))[1], *jax.jvp(by_shift, (s,), (ones,))[1]

    score, minus_prec, u_mean, u_var = derivatives(mean, shift)
    ours = activate(name, mean, var, shift, prec)
    sd, size = np.sqrt(var), 1 + np.abs(shift) * np.sqrt(var)
    np.testing.assert_allclose(ours.score * sd / size, score * sd / size, atol=1e-10)
    np.testing.assert_allclose(ours.score_prec * var / size**2, -minus_prec * var / size**2, atol=1e-10)
    np.testing.assert_allclose(ours.u_post.mean, u_mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.u_post.var, u_var, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("name", ["relu", "abs", "hard_tanh"])
def test_score_prec_is_truly_negative_somewhere(name: str) -> None:
    """quadrature: the factor is not log-concave, its z is wider after than before for some messages."""
    mean, var, shift, prec = np.array([-0.5]), np.array([1.0]), np.array([3.0]), np.array([0.0])
    if name == "hard_tanh":
        mean, shift = np.array([-3.0]), np.array([5.0])
    exact = quadrature.tilted(*quadrature.REFERENCE[name], mean, var, shift, prec)
    assert exact.z_var[0] > 1.2 * var[0]
    ours = activate(name, mean, var, shift, prec).score_prec
    np.testing.assert_allclose(ours, ((1 - exact.z_var / var) / var).astype(float), rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_apply(name: str, dtype: str) -> None:
    """twin: f(z) against the plain NumPy function, kinks included."""
    z = np.concatenate([np.linspace(-3, 3, 61), [0.0, -1.0, 1.0, 1e10, -1e10]]).astype(dtype)
    ours = piecewise.apply(ACTIVATIONS[name], jnp.asarray(z))
    assert ours.dtype == dtype
    np.testing.assert_allclose(ours, quadrature.REFERENCE[name][0](z), rtol=1e-7 if dtype == "float32" else 1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_sure_input_and_flat_message(name: str) -> None:
    """identity: with var -> 0 away from the kinks u is f(z), and a flat message scores nothing."""
    mean, zero = np.array([-2.5, -0.5, 0.5, 3.0]), np.zeros(4)
    ours = activate(name, mean, np.full(4, 1e-8), zero, zero)
    np.testing.assert_allclose(ours.u_post.mean, quadrature.REFERENCE[name][0](mean), rtol=1e-12)
    np.testing.assert_allclose(ours.log_partition, zero, atol=1e-12)
    np.testing.assert_allclose(ours.score * 1e-4, zero, atol=1e-12)
    np.testing.assert_allclose(ours.score_prec * 1e-8, zero, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_forward(name: str, dtype: str) -> None:
    """identity: the forward moments are those of `activate` with a flat message, means within +-30 sd."""
    mean = jnp.linspace(-30.0, 30.0, 241, dtype=dtype)
    z_fwd = Moments(mean, jnp.ones_like(mean))
    ours = piecewise.forward(ACTIVATIONS[name], z_fwd)
    twin = piecewise.activate(ACTIVATIONS[name], z_fwd, Message(jnp.zeros_like(mean), jnp.zeros_like(mean))).u_post
    tolerance = {"float32": 1e-5, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(ours.mean, twin.mean, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(ours.var, twin.var, rtol=tolerance, atol=tolerance)
    assert ours.mean.dtype == dtype


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(st.tuples(*[st.floats(-12, 12, width=16)] * 4, st.booleans(), st.booleans()), min_size=8, max_size=8))
def test_finite_in_finite_out(name: str, raw: list[tuple[float, float, float, float, bool, bool]]) -> None:
    """contract: float32 stays finite with a non-negative variance over 24 decades of var and message precision.

    The four floats are log10 of var, log10 of var * prec, and mean and shift in their own sds, cubed up to 1728.
    """
    a = np.array(raw, np.float64)
    var = 10.0 ** a[:, 0]
    prec = np.where(a[:, 4], 0.0, 10.0 ** a[:, 1]) / var
    mean = a[:, 2] ** 3 * np.sqrt(var)
    shift = np.where(a[:, 5], 0.0, a[:, 3] ** 3) * np.sqrt(prec + 1 / var)
    ours = activate(name, *(x.astype(np.float32) for x in (mean, var, shift, prec)))
    for value in jax.tree.leaves(ours):
        assert np.all(np.isfinite(np.asarray(value)))
    assert np.all(np.asarray(ours.u_post.var) >= 0)
