"""The clips of Module A and its trust region."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tdamp import damp
from tdamp.beliefs import Moments, tilt
from tdamp.factors import linear
from tdamp.factors.linear import Score, as_message


def random_update(pull: float, seed: int = 0, strength: float = 1.0) -> tuple[Moments, Score]:
    """A prior, and a message that pulls at its mean `pull` times as much as a calibrated one, as a score."""
    rng = np.random.default_rng(seed)
    shape = (6, 4)
    prior = Moments(jnp.asarray(rng.normal(size=shape)), jnp.asarray(1 / (0.5 + rng.exponential(size=shape))))
    prec = strength * jnp.asarray(rng.exponential(size=shape))
    # drawn from the model: w ~ prior, the message is y = w + noise of precision prec
    seen = pull * (jnp.sqrt(prior.var + 1 / prec) * jnp.asarray(rng.normal(size=shape)))
    return prior, Score(seen * prec, prec)


def ratio(prior: Moments, said: Score) -> float:
    """Squared scores over the expected ones, in units of the prior, summed over the layer from scaled parameters."""
    std = np.sqrt(prior.var)
    score, prec = np.asarray(said.score * std), np.asarray(said.prec * std * std)
    return float((score**2).sum() / prec.sum())


def restrained(prior: Moments, said: Score, trust: float) -> tuple[Score, bool]:
    """`restrain` on one array of parameters."""
    scale, acted = damp.restrain((said.score,), (prior.var,), trust * jnp.sum(said.prec * prior.var))
    return Score(scale * said.score, said.prec), bool(acted)


@pytest.mark.parametrize("trust", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("pull", [0.1, 1.0, 30.0])
def test_restrain_bounds_the_squared_scores(pull: float, trust: float) -> None:
    """identity: summed over a layer, squared scores are at most trust times their expectation."""
    prior, said = random_update(pull)
    held, acted = restrained(prior, said, trust)
    free = ratio(prior, said)
    assert acted == (free > trust)
    np.testing.assert_allclose(ratio(prior, held), min(free, trust), rtol=1e-12)
    if free <= trust:
        np.testing.assert_array_equal(held.score, said.score)


def test_weights_and_biases_are_restrained_together() -> None:
    """identity: one factor for both, from the sum of both."""
    (w, w_said), (b, b_said) = random_update(3.0, 1), random_update(9.0, 2)
    scores, var = (w_said.score, b_said.score), (w.var, b.var)
    scale, acted = damp.restrain(scores, var, jnp.asarray(1.0))
    assert acted
    np.testing.assert_allclose(sum(jnp.sum((scale * s) ** 2 * v) for s, v in zip(scores, var, strict=True)), 1.0)


def test_expected_squares_come_from_the_outputs() -> None:
    """identity: sum over weights and biases of var prec is the sum over rows of score_prec direct_var."""
    rng = np.random.default_rng(4)
    u = Moments(rng.normal(size=(5, 3)), rng.exponential(size=(5, 3)))
    w, b = Moments(rng.normal(size=(3, 2)), rng.exponential(size=(3, 2))), Moments(np.ones(2), rng.exponential(size=2))
    score = Score(rng.normal(size=(5, 2)), rng.exponential(size=(5, 2)))
    to_weight, _ = linear.to_weight(u, w, score, fresh=True)
    total = jnp.sum(to_weight.prec * w.var) + jnp.sum(linear.to_bias(score).prec * b.var)
    np.testing.assert_allclose(jnp.sum(score.prec * linear.direct_var(u, w, b)), total, rtol=1e-12)


def test_a_calibrated_weak_message_has_ratio_one() -> None:
    """calibration: messages weaker than the prior, drawn from the model, have squared scores equal to their precisions.

    400 layers of 24 weights: 1 within four standard errors (and the 1 % by which such a message is not weak). The
    law of total variance says the same of the means: step^2 / var is expected to be what the variance loses.
    """
    ratios, moves = [], []
    for seed in range(400):
        prior, said = random_update(1.0, seed, strength=0.01)
        ratios.append(ratio(prior, said))
        post = tilt(prior, as_message(said, prior))
        moves.append(float(((post.mean - prior.mean) ** 2 / post.var).sum() / (1 - post.var / prior.var).sum()))
        assert restrained(prior, said, ratios[-1] * 0.999)[1]
        assert not restrained(prior, said, ratios[-1] * 1.001)[1]
    error = np.std(ratios) / np.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 4 * error + 0.03
    assert abs(np.mean(moves) - 1) < 4 * error + 0.03


def test_a_flat_message_is_not_held_back(dtype: str) -> None:
    """identity: no message, no step, no clip and no NaN."""
    prior, _ = random_update(1.0)
    prior = Moments(*(a.astype(dtype) for a in prior))
    held, acted = restrained(prior, Score(*(jnp.zeros_like(a) for a in prior)), 4.0)
    assert not acted and held.score.dtype == dtype
    np.testing.assert_array_equal(held, np.zeros_like(held))


def test_clips_are_counted() -> None:
    """enumeration: score_prec held in [0, 1 / var], variances above MIN_VAR, each hit counted."""
    prec, negative, excess = damp.clip_prec(jnp.array([-1.0, 0.0, 0.5, 3.0]), jnp.array([1.0, 1.0, 1.0, 0.5]))
    np.testing.assert_array_equal(prec, [0.0, 0.0, 0.5, 2.0])
    assert negative == 1 and excess == 1
    floored, count = damp.floor_var(Moments(jnp.zeros(3), jnp.array([0.0, 1e-20, 1.0])))
    np.testing.assert_array_equal(floored.var, [damp.MIN_VAR, damp.MIN_VAR, 1.0])
    assert count == 2
