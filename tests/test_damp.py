"""The clips of Module A and its trust region."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tdamp import damp
from tdamp.beliefs import Message, Moments, combine, moments


def random_update(pull: float, seed: int = 0, strength: float = 1.0) -> tuple[Message, Message]:
    """A prior, and a message whose pull on the mean is `pull` times a calibrated one."""
    rng = np.random.default_rng(seed)
    shape = (6, 4)
    prior = Message(jnp.asarray(rng.normal(size=shape)), jnp.asarray(0.5 + rng.exponential(size=shape)))
    prec = strength * jnp.asarray(rng.exponential(size=shape))
    # drawn from the model: w ~ prior, the message is y = w + noise of precision prec
    mean, var = moments(prior)
    seen = mean + pull * (jnp.sqrt(var + 1 / prec) * jnp.asarray(rng.normal(size=shape)))
    return prior, Message(seen * prec, prec)


@pytest.mark.parametrize("trust", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("pull", [0.1, 1.0, 30.0])
def test_restrain_is_the_law_of_total_variance(pull: float, trust: float) -> None:
    """identity: summed over a layer, step^2 / var_post is at most trust times (var_prior - var_post) / var_prior.

    Both sums are taken from the moments here; the message's precision is never touched.
    """
    prior, ext = random_update(pull)
    held, acted = damp.restrain(prior, ext, trust)
    np.testing.assert_array_equal(held.prec, ext.prec)  # the step is held back, not the precision
    before = moments(prior)

    def ratio(message: Message) -> float:
        post = moments(combine(prior, message))
        step = (post.mean - before.mean) ** 2 / post.var
        expected = (before.var - post.var) / before.var
        return float(step.sum() / expected.sum())

    free = ratio(ext)
    assert acted == (free > trust)
    np.testing.assert_allclose(ratio(held), min(free, trust), rtol=1e-12)
    if free <= trust:
        np.testing.assert_allclose(held.shift, ext.shift, rtol=1e-12, atol=1e-12)


def test_restrain_keeps_the_direction() -> None:
    """identity: every mean moves by the same fraction of its free step."""
    prior, ext = random_update(50.0, seed=1)
    held, acted = damp.restrain(prior, ext, 1.0)
    assert acted
    start = moments(prior).mean
    share = (moments(combine(prior, held)).mean - start) / (moments(combine(prior, ext)).mean - start)
    np.testing.assert_allclose(share, np.full(share.shape, share[0, 0]), rtol=1e-9)
    assert 0 < share[0, 0] < 1


def test_a_calibrated_weak_message_has_ratio_one() -> None:
    """calibration: messages weaker than the prior, drawn from the model, move the mean as the law expects.

    Step^2 in posterior variances over the expected one, 400 layers of 24 weights: 1 within four standard errors
    (and the 1 % by which such a message narrows the posterior).
    """
    ratios = []
    for seed in range(400):
        prior, ext = random_update(1.0, seed, strength=0.01)
        post = moments(combine(prior, ext))
        step = (post.mean - moments(prior).mean) ** 2 / post.var
        ratios.append(float(step.sum() / (1 - post.var * prior.prec).sum()))
        _, acted = damp.restrain(prior, ext, ratios[-1] * 0.999)
        assert acted
        _, acted = damp.restrain(prior, ext, ratios[-1] * 1.001)
        assert not acted
    error = np.std(ratios) / np.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 4 * error + 0.03


def test_a_flat_message_is_not_held_back(dtype: str) -> None:
    """identity: no message, no step, no clip and no NaN."""
    prior, _ = random_update(1.0)
    prior = Message(*(a.astype(dtype) for a in prior))
    held, acted = damp.restrain(prior, Message(*(jnp.zeros_like(a) for a in prior)), 4.0)
    assert acted == 0 and held.shift.dtype == dtype
    np.testing.assert_array_equal(held, np.zeros_like(held))


def test_clips_are_counted() -> None:
    """enumeration: score_prec held in [0, 1 / var], variances above MIN_VAR, each hit counted."""
    prec, negative, excess = damp.clip_prec(jnp.array([-1.0, 0.0, 0.5, 3.0]), jnp.array([1.0, 1.0, 1.0, 0.5]))
    np.testing.assert_array_equal(prec, [0.0, 0.0, 0.5, 2.0])
    assert negative == 1 and excess == 1
    floored, count = damp.floor_var(Moments(jnp.zeros(3), jnp.array([0.0, 1e-20, 1.0])))
    np.testing.assert_array_equal(floored.var, [damp.MIN_VAR, damp.MIN_VAR, 1.0])
    assert count == 2
