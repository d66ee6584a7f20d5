"""The exam of every activation in the catalog: its messages, its numeric range, and its way through files.

A new entry needs its plain function in tests/oracles/quadrature.py, and no change here.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tdamp
from oracles import quadrature
from tdamp import Network, Outcome, Settings, TDAMPRegressor, fit, predictive
from tdamp.cli import export_check
from tdamp.factors.activations import piecewise
from tdamp.factors.activations.catalog import ACTIVATIONS
from tdamp.numerics.beliefs import Message, Moments

NAMES = sorted(ACTIVATIONS)
N = 400
forward = jax.jit(piecewise.forward, static_argnums=0)


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
    return piecewise.activate(ACTIVATIONS[name].regions, z_fwd, u_bwd)


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
            got = piecewise.activate(ACTIVATIONS[name].regions, Moments(x, var), Message(s, prec))
            return got.log_partition, got.score

        def by_shift(x: jax.Array) -> tuple[jax.Array, jax.Array]:
            got = piecewise.activate(ACTIVATIONS[name].regions, Moments(m, var), Message(x, prec))
            return got.log_partition, got.u_post.mean

        return *jax.jvp(by_mean, (m,), (ones,))[1], *jax.jvp(by_shift, (s,), (ones,))[1]

    score, minus_prec, u_mean, u_var = derivatives(mean, shift)
    ours = activate(name, mean, var, shift, prec)
    sd, size = np.sqrt(var), 1 + np.abs(shift) * np.sqrt(var)
    np.testing.assert_allclose(ours.score * sd / size, score * sd / size, atol=1e-10)
    np.testing.assert_allclose(ours.score_prec * var / size**2, -minus_prec * var / size**2, atol=1e-10)
    np.testing.assert_allclose(ours.u_post.mean, u_mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.u_post.var, u_var, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_apply(name: str, dtype: str) -> None:
    """twin: f(z) against the plain NumPy function, kinks included."""
    z = np.concatenate([np.linspace(-3, 3, 61), [0.0, -1.0, 1.0, 1e10, -1e10]]).astype(dtype)
    ours = piecewise.apply(ACTIVATIONS[name].regions, jnp.asarray(z))
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
    """quadrature: moments before any message from above, means within +-8 sd, variances 1e-6..1e6."""
    mean, var, *_ = (x.astype(dtype) for x in random_cases(3))
    exact = quadrature.tilted(
        *quadrature.REFERENCE[name], *(x.astype(np.float64) for x in (mean, var)), *np.zeros((2, N))
    )
    ours = forward(ACTIVATIONS[name].regions, Moments(mean, var))
    assert ours.mean.dtype == ours.var.dtype == dtype
    eps = {"float32": 2e-5, "float64": 1e-11}[dtype]
    u_mean, u_std = exact.u_mean.astype(np.float64), np.sqrt(exact.u_var.astype(np.float64))
    # probabilities are exponentials of (mean / std)^2 / 2, whose rounding is their relative error
    eps = eps * (1 + mean.astype(np.float64) ** 2 / var)
    ulp = 2 * np.finfo(dtype).eps * max(np.abs(quadrature.REFERENCE[name][1]), default=0.0)
    assert np.all(np.abs(ours.mean - u_mean) <= eps * (np.abs(u_mean) + u_std) + ulp)
    assert np.all(np.abs(np.sqrt(ours.var) - u_std) <= eps * u_std + ulp)


@pytest.mark.parametrize("name", NAMES)
def test_forward_is_a_flat_message(name: str, dtype: str) -> None:
    """identity: the forward moments are those of `activate` with a flat message, means within +-30 sd."""
    mean = jnp.linspace(-30.0, 30.0, N, dtype=dtype)
    z_fwd, zero = Moments(mean, jnp.ones_like(mean)), jnp.zeros_like(mean)
    ours = forward(ACTIVATIONS[name].regions, z_fwd)
    twin = _activate(name, z_fwd, Message(zero, zero)).u_post
    tolerance = {"float32": 1e-5, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(ours.mean, twin.mean, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(ours.var, twin.var, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
@given(
    raw=st.lists(st.tuples(*[st.floats(-12, 12, width=16)] * 4, st.booleans(), st.booleans()), min_size=8, max_size=8)
)
def test_finite_in_finite_out(name: str, raw: list[tuple[float, float, float, float, bool, bool]]) -> None:
    """contract: finite, with a non-negative variance, over 24 decades of var and message precision, in both precisions.

    The four floats are log10 of var, log10 of var * prec, and mean and shift in their own sds, cubed up to 1728.
    """
    a = np.array(raw, np.float64)
    var = 10.0 ** a[:, 0]
    prec = np.where(a[:, 4], 0.0, 10.0 ** a[:, 1]) / var
    mean = a[:, 2] ** 3 * np.sqrt(var)
    shift = np.where(a[:, 5], 0.0, a[:, 3] ** 3) * np.sqrt(prec + 1 / var)
    for dtype in (np.float32, np.float64):
        ours = activate(name, *(x.astype(dtype) for x in (mean, var, shift, prec)))
        for value in jax.tree.leaves(ours):
            assert np.all(np.isfinite(np.asarray(value)))
        assert np.all(np.asarray(ours.u_post.var) >= 0)


@pytest.mark.parametrize("name", NAMES)
def test_it_trains(name: str) -> None:
    """rate: on a linear function, which every member can follow, nine tenths of the variance are explained."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 3))
    y = x[:, :1] - 0.5 * x[:, 1:2] + 0.1 * rng.normal(size=(200, 1))
    fitted = fit(Network((3, 8, 1), activation=name), x, y, Settings(max_epochs=20, batch_size=20), seed=0)
    mean = predictive(fitted.network, fitted.state.layers, fitted.state.noise_var, x[:, fitted.inputs]).mean
    assert fitted.outcome is Outcome.OK and fitted.network.activation == name
    assert np.mean(np.square(y - mean)) < 0.1 * y.var()


@pytest.mark.parametrize("name", NAMES)
def test_saved_and_exported(name: str, tmp_path: Path) -> None:
    """identity: a trained network predicts the same bits after saving, and the same numbers from every export."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    y = np.abs(x[:, 0]) - x[:, 1] + 0.1 * rng.normal(size=80)
    model = TDAMPRegressor((6,), activation=name, max_epochs=3, random_state=0).fit(x, y)
    assert model.fitted_.network.activation == name
    model.save(tmp_path / "model")
    for ours, saved in zip(
        model.predict_distribution(x), tdamp.load(tmp_path / "model").predict_distribution(x), strict=True
    ):
        np.testing.assert_array_equal(ours, saved)
    for form in ("onnx", "torch", "numpy"):
        export_check.write(form, model.to_plain(), tmp_path / form)
        assert export_check.difference(form, tmp_path / form, model) < 1e-4
