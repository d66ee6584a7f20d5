"""PasP: how often each datum counts."""

from __future__ import annotations

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from tdamp.engine.pasp import anchored_power, carry_over, recentre
from tdamp.engine.plan import Anchor
from tdamp.engine.settings import Pasp
from tdamp.engine.turbo import Layer
from tdamp.numerics.beliefs import Message, Moments, Score, moments, natural

BASE_VAR = 0.4


def next_prior(prior: Message, message: Message, power: float, pasp: Pasp = "anchored") -> Message:
    """`carry_over` in natural parameters."""
    belief = moments(prior)
    score_at_mean = Score(message.shift - message.prec * belief.mean, message.prec)
    return natural(carry_over(belief, score_at_mean, Moments(jnp.zeros(()), BASE_VAR), power, pasp))


@pytest.mark.parametrize("data_weight", [1.0, 3.0, 0.5])
@pytest.mark.parametrize("n_batches", [1, 10, 50])
def test_power(data_weight: float, n_batches: int) -> None:
    """identity: with R equal batches the power is R k / (R k + 1)."""
    power = anchored_power(np.float64(data_weight), np.float64(32.0 * n_batches), np.float64(32.0))
    rk = n_batches * data_weight
    np.testing.assert_allclose(power, rk / (rk + 1), rtol=1e-14)


@pytest.mark.parametrize("data_weight", [1.0, 3.0])
def test_fixed_point_counts_each_datum_so_often(data_weight: float) -> None:
    """identity: repeating a batch's message, the posterior tends to base + R k + 1 copies, the prior to R k.

    R copies of the batch are the whole data set, so the carried prior holds each datum `data_weight` times.
    """
    n_batches = 20
    message = Message(np.float64(1.7), np.float64(0.9))
    power = anchored_power(data_weight, 100.0 * n_batches, 100.0)
    prior = Message(np.float64(0.0), np.float64(1 / BASE_VAR))
    for _ in range(4000):
        prior = next_prior(prior, message, power)
    np.testing.assert_allclose(prior.prec - 1 / BASE_VAR, n_batches * data_weight * message.prec, rtol=1e-12)
    np.testing.assert_allclose(prior.shift, n_batches * data_weight * message.shift, rtol=1e-12)


def test_different_batches_average_to_the_whole() -> None:
    """identity: cycling through R different messages, the carried prior is close to k times their sum.

    The filter weighs recent batches more, by at most a factor e over an epoch at k = 1.
    """
    rng = np.random.default_rng(0)
    n_batches = 40
    batches = Message(rng.normal(size=n_batches), rng.exponential(size=n_batches))
    power = anchored_power(1.0, float(n_batches), 1.0)
    prior = Message(np.float64(0.0), np.float64(1 / BASE_VAR))
    epoch = []
    for t in range(40 * n_batches):
        j = t % n_batches
        prior = next_prior(prior, Message(batches.shift[j], batches.prec[j]), power)
        if t >= 39 * n_batches:
            epoch.append(prior)
    mean_prec = np.mean([p.prec for p in epoch]) - 1 / BASE_VAR
    mean_shift = np.mean([p.shift for p in epoch])
    np.testing.assert_allclose(mean_prec, batches.prec.sum(), rtol=1e-6)
    np.testing.assert_allclose(mean_shift, batches.shift.sum(), rtol=1e-6)


def test_paper_rule_counts_again_every_epoch() -> None:
    """identity: with power 1 the posterior is the prior, and E epochs add E copies of the data."""
    message = Message(np.float64(1.7), np.float64(0.9))
    prior = Message(np.float64(0.0), np.float64(1 / BASE_VAR))
    for _ in range(30):
        prior = next_prior(prior, message, 1.0, "paper")
    np.testing.assert_allclose(prior.prec, 1 / BASE_VAR + 30 * 0.9, rtol=1e-13)
    np.testing.assert_allclose(prior.shift, 30 * 1.7, rtol=1e-13)


def test_unused_weights() -> None:
    """identity: without data the paper's rule with power < 1 loses its precision, the anchored rule keeps the base."""
    nothing, power = Message(np.float64(0.0), np.float64(0.0)), 0.9
    paper = anchored = Message(np.float64(0.0), np.float64(1 / BASE_VAR))
    for _ in range(400):
        paper = next_prior(paper, nothing, power, "paper")
        anchored = next_prior(anchored, nothing, power)
    assert 1 / paper.prec > 1e17  # seen in practice: variances of 1e18, then NaN
    np.testing.assert_allclose(anchored.prec, 1 / BASE_VAR, rtol=1e-13)


def test_a_short_last_batch_forgets_less() -> None:
    """identity: two half batches and one whole batch of the same data end at the same fixed point."""
    message, half = Message(np.float64(1.7), np.float64(0.9)), Message(np.float64(0.85), np.float64(0.45))
    fixed = []
    for m, size in ((message, 10.0), (half, 5.0)):
        prior = Message(np.float64(0.0), np.float64(1 / BASE_VAR))
        power = anchored_power(2.0, 200.0, size)
        for _ in range(6000):
            prior = next_prior(prior, m, power)
        fixed.append(prior)
    np.testing.assert_allclose(fixed[0], fixed[1], rtol=1e-12)


def test_recentre_moves_coordinates_only() -> None:
    """identity: the mean function (u - centre) W + b is the same before and after, for units that are on."""
    rng = np.random.default_rng(3)
    one = jnp.ones(())
    layer = Layer(
        weight=Moments(jnp.asarray(rng.normal(size=(4, 3))), jnp.asarray(rng.exponential(size=(4, 3)))),
        bias=Moments(jnp.asarray(rng.normal(size=3)), jnp.asarray(rng.exponential(size=3))),
        centre=jnp.asarray(rng.normal(size=4)),
        offset=jnp.array([np.inf, -np.inf, np.inf, np.inf]),
        bias_offset=jnp.zeros(3),
        base_var=one,
        bias_base_var=one,
        active_prob=jnp.array([1.0, 0.0, 1.0, 1.0]),
        sure=jnp.asarray(True),
    )
    layer = layer._replace(weight=Moments(*(a.at[1].set(0) for a in layer.weight)))  # removed: known to be zero
    drift = jnp.asarray(rng.normal(size=4))
    moved = recentre(layer, drift, 0.3)
    u = rng.normal(size=(5, 4))

    def function(layer: Layer) -> np.ndarray:
        return (u - layer.centre) @ (layer.active_prob[:, None] * layer.weight.mean) + layer.bias.mean

    np.testing.assert_allclose(function(moved), function(layer), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moved.centre - layer.centre, 0.3 * drift * layer.active_prob, rtol=1e-12)
    assert moved.centre[1] == layer.centre[1] and np.any(moved.bias.mean != layer.bias.mean)
    np.testing.assert_array_equal(moved.bias.var, layer.bias.var)


def test_the_anchor_may_have_a_mean() -> None:
    """identity: in natural parameters (prior x message)^power anchor^(1 - power)."""
    prior, message = (
        Message(jnp.array([0.3, -2.0]), jnp.array([4.0, 0.5])),
        Message(jnp.array([1.0, 0.2]), jnp.array([0.7, 2.0])),
    )
    anchor, belief, power = Moments(jnp.array([0.5, -1.5]), jnp.array([0.4, 3.0])), moments(prior), 0.8
    score_at_mean = Score(message.shift - message.prec * belief.mean, message.prec)
    found, base = natural(carry_over(belief, score_at_mean, anchor, power, "anchored")), natural(anchor)
    for part in ("shift", "prec"):
        expected = power * (getattr(prior, part) + getattr(message, part)) + (1 - power) * getattr(base, part)
        np.testing.assert_allclose(getattr(found, part), expected, rtol=1e-12)


def test_an_anchor_follows_the_centre() -> None:
    """identity: an anchor that is the layer's own belief stays so when the centre moves, and the function with it."""
    rng = np.random.default_rng(0)
    weight, bias = Moments(rng.normal(size=(3, 2)), np.ones((3, 2))), Moments(rng.normal(size=2), np.ones(2))
    centre, moved = rng.normal(size=3), rng.normal(size=3)
    layer = SimpleNamespace(weight=weight, centre=moved)
    here = Anchor(weight, bias, centre).at_centre_of(layer)
    x = rng.normal(size=(5, 3))
    before, after = ((x - c) @ weight.mean + b for c, b in ((centre, bias.mean), (moved, here.bias.mean)))
    np.testing.assert_allclose(after, before, rtol=1e-12)
    assert Anchor(weight, bias).at_centre_of(layer).bias is bias  # the base prior belongs to every centre
