"""The clips of Module A and its trust region."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tdamp.engine import damp
from tdamp.engine.network import Network
from tdamp.engine.plan import Minibatch, plan_of
from tdamp.engine.settings import Settings
from tdamp.engine.turbo import Layer
from tdamp.factors.likelihoods.heteroscedastic import Heteroscedastic
from tdamp.numerics.beliefs import Moments, Score, as_message, tilt


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


@pytest.mark.parametrize("trust", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("pull", [0.1, 1.0, 30.0])
def test_restrain_bounds_the_squared_scores(pull: float, trust: float) -> None:
    """identity: summed over a layer, squared scores are at most trust times their expectation; precisions stay."""
    prior, said = random_update(pull)
    held, acted = damp.restrain(prior, said, trust)
    np.testing.assert_array_equal(held.prec, said.prec)  # the step is held back, not the precision
    free = ratio(prior, said)
    assert acted == (free > trust)
    np.testing.assert_allclose(ratio(prior, held), min(free, trust), rtol=1e-12)
    if free <= trust:
        np.testing.assert_array_equal(held.score, said.score)


def test_restrain_holds_scores_whose_squares_are_infinite() -> None:
    """identity: the same update in other units of the weights; a removed unit (variance 0) hides nothing."""
    prior, said = random_update(1e6)
    held, _ = damp.restrain(prior, said, 1.0)
    unit = np.float32(1e-15)  # weights this small belong to inputs of 1e15: scores beyond 1e19 have infinite squares
    removed = jnp.asarray([[1.0]] * 5 + [[0.0]], jnp.float32)
    tiny = Moments(prior.mean.astype(jnp.float32) * unit, prior.var.astype(jnp.float32) * unit * unit)
    strong = Score(said.score.astype(jnp.float32) / unit, said.prec.astype(jnp.float32) / unit / unit)
    assert np.isinf(jnp.sum(strong.score * strong.score * tiny.var))  # what squaring first gives
    found, acted = damp.restrain(tiny, strong, 1.0)
    assert acted
    np.testing.assert_allclose(found.score * unit, held.score, rtol=1e-4)
    gone = Moments(tiny.mean * removed, tiny.var * removed)
    found, acted = damp.restrain(gone, strong, 1.0)
    assert acted and np.isclose(ratio(gone, found), 1.0, rtol=1e-4)


def test_restrain_keeps_the_direction() -> None:
    """identity: every mean moves by the same fraction of its free step."""
    prior, said = random_update(50.0, seed=1)
    held, acted = damp.restrain(prior, said, 1.0)
    assert acted
    free, short = (tilt(prior, as_message(step, prior)).mean - prior.mean for step in (said, held))
    share = short / free
    np.testing.assert_allclose(share, np.full(share.shape, share[0, 0]), rtol=1e-9)
    assert 0 < share[0, 0] < 1


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
        assert damp.restrain(prior, said, ratios[-1] * 0.999)[1]
        assert not damp.restrain(prior, said, ratios[-1] * 1.001)[1]
    error = np.std(ratios) / np.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 4 * error + 0.03
    assert abs(np.mean(moves) - 1) < 4 * error + 0.03


def test_a_flat_message_is_not_held_back(dtype: str) -> None:
    """contract: no message, no step, no clip and no NaN."""
    prior, _ = random_update(1.0)
    prior = Moments(*(a.astype(dtype) for a in prior))
    held, acted = damp.restrain(prior, Score(*(jnp.zeros_like(a) for a in prior)), 4.0)
    assert acted == 0 and held.score.dtype == dtype
    np.testing.assert_array_equal(held, np.zeros_like(held))


def test_clips_are_counted() -> None:
    """contract: score_prec held in [0, 1 / var], variances above MIN_VAR, each hit counted."""
    prec, negative, excess = damp.clip_prec(jnp.array([-1.0, 0.0, 0.5, 3.0]), jnp.array([1.0, 1.0, 1.0, 0.5]))
    np.testing.assert_array_equal(prec, [0.0, 0.0, 0.5, 2.0])
    assert negative == 1 and excess == 1
    floored, count = damp.floor_var(Moments(jnp.zeros(3), jnp.array([0.0, 1e-20, 1.0])))
    np.testing.assert_array_equal(floored.var, [damp.MIN_VAR, damp.MIN_VAR, 1.0])
    assert count == 2


def test_a_sweep_with_varying_noise() -> None:
    """identity: one layer by hand. Precisions of the log noise, which may be negative, are clipped and counted."""
    rng = np.random.default_rng(0)
    network = Network((3, 2), noise="varying")
    x, y, rows = rng.normal(size=(40, 3)), 2 * rng.normal(size=(40, 1)), rng.uniform(0.5, 2, 40)
    weight, bias = (Moments(0.3 * rng.normal(size=s), rng.uniform(0.2, 1, s)) for s in ((3, 2), (2,)))
    one, noise_var = jnp.float64(1.0), jnp.array([0.7])
    offsets = np.full(3, np.inf), np.full(2, np.inf)
    layer = Layer(weight, bias, np.zeros(3), *offsets, one, one, np.ones(3), np.array(True))
    found = damp.sweep(plan_of(network, Settings()), None, (layer,), Minibatch(x, y, rows), noise_var, 1e30, None, 0.0)
    z = Moments(x @ weight.mean + bias.mean, x**2 @ weight.var + bias.var)
    score, prec = Heteroscedastic().score(z, y, noise_var)
    clipped = np.clip(prec, 0, 1 / z.var)
    assert 0 < found.clips.negative_prec == (prec < 0).sum() < 40
    np.testing.assert_allclose(found.z_fwd, z, rtol=1e-12)
    np.testing.assert_allclose(found.z_post.mean, z.mean + z.var * score, rtol=1e-10)
    np.testing.assert_allclose(found.z_post.var, z.var * (1 - z.var * clipped), rtol=1e-10)
    np.testing.assert_allclose(found.b_score[0].score, rows @ score, rtol=1e-10)
    np.testing.assert_allclose(found.b_score[0].prec, rows @ clipped, rtol=1e-10)
    np.testing.assert_allclose(found.w_score[0].score, x.T @ (rows[:, None] * score), rtol=1e-10)
