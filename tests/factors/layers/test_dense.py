"""The linear factor: loops, ridge regression and the large-system rate."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from oracles import loops
from tdamp.factors.layers.dense import DENSE
from tdamp.factors.likelihoods.gaussian import Gaussian
from tdamp.numerics.beliefs import Moments, Score, as_message, tilt

N_ROWS, N_IN, N_OUT = 4, 6, 3


def random_layer(seed: int, u_scale: float = 1.0) -> tuple[Moments, Moments, Moments, Score]:
    """u, w, b and a score; large input variances make the self-coupling clip act."""
    rng = np.random.default_rng(seed)
    u = Moments(rng.normal(size=(N_ROWS, N_IN)), u_scale * rng.exponential(size=(N_ROWS, N_IN)))
    w = Moments(rng.normal(size=(N_IN, N_OUT)), rng.exponential(size=(N_IN, N_OUT)))
    b = Moments(rng.normal(size=N_OUT), rng.exponential(size=N_OUT))
    return u, w, b, Score(rng.normal(size=(N_ROWS, N_OUT)), rng.exponential(size=(N_ROWS, N_OUT)))


@pytest.mark.parametrize("seed", range(3))
def test_forward_is_the_loop(seed: int) -> None:
    """twin: z_fwd with the Onsager term, index by index; without a score the term is absent."""
    u, w, b, score = random_layer(seed)
    for previous in (score.score, None):
        expected = loops.linear_forward(*u, *w, *b, np.zeros_like(score.score) if previous is None else previous)
        ours = DENSE.forward(u, w, b, previous)
        np.testing.assert_allclose(ours.mean, expected[0], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(ours.var, expected[1], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_backward_is_the_loop(seed: int) -> None:
    """twin: messages to weights, biases and inputs, index by index, the clip and its count included."""
    u, w, b, score = random_layer(seed)
    to_weight, n_weight = DENSE.to_weight(u, w, score, fresh=False)
    to_input, n_input = DENSE.to_input(u, w, score, fresh=False)
    to_bias = DENSE.to_bias(score)
    pairs = (
        (as_message(to_weight, w), loops.linear_to_weight(*u, w.mean, *score)),
        (to_input, loops.linear_to_input(u.mean, *w, *score)),
        (as_message(to_bias, b), loops.linear_to_bias(b.mean, *score)),
    )
    for ours, expected in pairs:
        np.testing.assert_allclose(ours.shift, expected[0], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(ours.prec, expected[1], rtol=1e-12)
    assert n_weight == np.sum((u.mean**2 - u.var).T @ score.prec < 0)
    assert n_input == np.sum(score.prec @ (w.mean**2 - w.var).T < 0)
    assert n_weight > 0 and n_input > 0  # these layers do exercise the clip


@pytest.mark.parametrize("seed", range(3))
def test_fresh_messages_have_no_self_coupling(seed: int) -> None:
    """twin: on a fresh minibatch the loop runs with the variances out of the coupling, and nothing is clipped."""
    u, w, _, score = random_layer(seed)
    to_weight, n_weight = DENSE.to_weight(u, w, score, fresh=True)
    to_input, n_input = DENSE.to_input(u, w, score, fresh=True)
    nothing = np.zeros_like(u.var), np.zeros_like(w.var)
    for ours, expected in (
        (as_message(to_weight, w), loops.linear_to_weight(u.mean, nothing[0], w.mean, *score)),
        (to_input, loops.linear_to_input(u.mean, w.mean, nothing[1], *score)),
    ):
        np.testing.assert_allclose(ours.shift, expected[0], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(ours.prec, expected[1], rtol=1e-12)
    assert n_weight == 0 and n_input == 0


def test_data_inputs_need_no_variance() -> None:
    """identity: u.var = None, zeros, and the loop agree."""
    u, w, b, score = random_layer(7)
    data, zeros = Moments(u.mean, None), Moments(u.mean, np.zeros_like(u.var))
    np.testing.assert_array_equal(DENSE.forward(data, w, b, None).mean, DENSE.forward(zeros, w, b, None).mean)
    for previous in (None, score.score):
        ours, twin = DENSE.forward(data, w, b, previous), DENSE.forward(zeros, w, b, previous)
        np.testing.assert_allclose(ours.mean, twin.mean, rtol=1e-13)
        np.testing.assert_allclose(ours.var, twin.var, rtol=1e-13)
    ours, clipped = DENSE.to_weight(data, w, score, fresh=False)
    twin, _ = DENSE.to_weight(zeros, w, score, fresh=False)
    np.testing.assert_allclose(ours.score, twin.score, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(ours.prec, twin.prec)
    assert clipped == 0


@partial(jax.jit, static_argnames="n_sweeps")
def amp_fixed_point(
    x: jax.Array, y: jax.Array, prior_var: float, noise_var: float, n_sweeps: int
) -> tuple[Moments, Moments]:
    """One Gaussian layer with its bias, swept to the fixed point with half damping on score and precision."""
    u = Moments(x, None)
    w0 = Moments(jnp.zeros((x.shape[1], 1)), jnp.full((x.shape[1], 1), prior_var))
    b0 = Moments(jnp.zeros(1), jnp.full(1, prior_var))

    def sweep(_: int, state: tuple[Moments, Moments, Score]) -> tuple[Moments, Moments, Score]:
        w, b, old = state
        new = Score(*Gaussian().score(DENSE.forward(u, w, b, old.score), y[:, None], noise_var))
        score = Score(*(0.5 * (a + c) for a, c in zip(old, new, strict=True)))
        w_score, _ = DENSE.to_weight(u, w, score, fresh=False)
        w_ext, b_ext = as_message(w_score, w), as_message(DENSE.to_bias(score), b)
        return tilt(w0, w_ext), tilt(b0, b_ext), score

    zeros = jnp.zeros((len(y), 1))
    w, b, _ = jax.lax.fori_loop(0, n_sweeps, sweep, (w0, b0, Score(zeros, zeros)))
    return w, b


def regression_data(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """An i.i.d. design of 2 n rows with unit signal."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2 * n, n)) / np.sqrt(n)
    return x, x @ rng.normal(size=n) + 0.5 + 0.5 * rng.normal(size=2 * n)


@pytest.mark.parametrize("n", [1, 20])
def test_fixed_point_mean_is_ridge(n: int) -> None:
    """identity: at the fixed point the AMP mean is the ridge solution, whatever the size."""
    x, y = regression_data(n, 3)
    w, b = amp_fixed_point(x, y, prior_var=1.3, noise_var=0.25, n_sweeps=2000)
    exact, _ = loops.ridge(np.column_stack([x, np.ones(len(y))]), y, np.full(n + 1, 1.3), 0.25)
    np.testing.assert_allclose(w.mean[:, 0], exact[:-1], atol=1e-10)
    np.testing.assert_allclose(b.mean[0], exact[-1], atol=1e-10)


def test_variance_error_falls_like_root_n() -> None:
    """rate: the relative error of the AMP variances of an i.i.d. design falls like N^(-1/2), exponent +-0.15."""
    sizes = [16, 64, 256]
    errors = []
    for n in sizes:
        found = []
        for seed in range(4):
            x, y = regression_data(n, seed)
            w, _ = amp_fixed_point(x, y, prior_var=1.0, noise_var=0.25, n_sweeps=60)
            _, var = loops.ridge(np.column_stack([x, np.ones(len(y))]), y, np.ones(n + 1), 0.25)
            found.append(np.mean(np.abs(np.asarray(w.var)[:, 0] / var[:-1] - 1)))
        errors.append(np.mean(found))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35, (slope, errors)


def test_message_of_a_batch_is_the_sum_of_its_parts() -> None:
    """identity: a batch's messages are the sums over its rows, so chunks and clients add up."""
    u, w, _, score = random_layer(11)
    data = Moments(u.mean, None)
    whole, _ = DENSE.to_weight(data, w, score, fresh=False)
    parts = []
    for rows in (slice(0, 1), slice(1, None)):
        part = Score(score.score[rows], score.prec[rows])
        message, _ = DENSE.to_weight(Moments(u.mean[rows], None), w, part, fresh=False)
        parts.append(message)
    total = Score(*(a + c for a, c in zip(*parts, strict=True)))
    np.testing.assert_allclose(whole.score, total.score, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(whole.prec, total.prec, rtol=1e-13)
