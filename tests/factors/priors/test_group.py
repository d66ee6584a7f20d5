"""The group spike-slab prior against every support, and Module B's exchange built on it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from oracles import supports
from tdamp.factors.priors import base, group
from tdamp.numerics.beliefs import Message, Moments, gain, thin, tilt

UNITS, OUTPUTS, BASE_VAR = 6, 4, 0.6
GROUPINGS = {
    "one unit each": np.arange(UNITS),
    "shared": np.array([0, 1, 0, 2, 2, 2]),
    "all in one": np.zeros(UNITS, int),
}


def random_layer(seed: int, group_of: np.ndarray) -> tuple[np.ndarray, Moments, Message]:
    """Log-odds per group, an informed prior slab and messages, some of them flat."""
    rng = np.random.default_rng(seed)
    shape = UNITS, OUTPUTS
    prior = Moments(0.3 * rng.normal(size=shape), BASE_VAR * rng.uniform(0.3, 1.0, shape))
    prec = rng.exponential(size=shape) * (rng.random(shape) < 0.8)
    return rng.normal(size=group_of.max() + 1), prior, Message(rng.normal(size=shape) * np.sqrt(prec), prec)


@pytest.mark.parametrize("name", GROUPINGS)
def test_posterior_by_enumeration(name: str) -> None:
    """enumeration: log-odds and weight moments over all supports; the prior's own evidence is in the offset."""
    group_of = GROUPINGS[name]
    segments = None if name == "one unit each" else group_of
    prior_logit, prior, w_ext = random_layer(1, group_of)
    exact = supports.group_posterior(prior_logit, *prior, *w_ext, group_of)
    # the code's offset counts from the base prior: take off what the prior slab already shows
    offset = prior_logit[group_of] - base.evidence(prior, BASE_VAR, segments)
    post = tilt(prior, w_ext)
    logit = base.group_logit(offset, post, BASE_VAR, segments)
    np.testing.assert_allclose(logit, exact.logit[group_of], rtol=1e-10, atol=1e-11)
    w_post = thin(post, jax.nn.sigmoid(logit)[:, None])
    np.testing.assert_allclose(w_post.mean, exact.mean, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(w_post.var, exact.var, rtol=1e-9)


@pytest.mark.parametrize("name", GROUPINGS)
def test_extrinsic_logit(name: str) -> None:
    """enumeration: a weight's log-odds from Module B are the posterior with its own message left out."""
    group_of = GROUPINGS[name]
    segments = None if name == "one unit each" else group_of
    prior_logit, prior, w_ext = random_layer(2, group_of)
    ours = group.extrinsic_logit(prior_logit[group_of], prior, w_ext, segments)
    for n, m in [(0, 0), (2, 3), (5, 1)]:
        without = Message(*(x.copy() for x in w_ext))
        for x in without:
            x[n, m] = 0.0
        exact = supports.group_posterior(prior_logit, *prior, *without, group_of)
        np.testing.assert_allclose(ours[n, m], exact.logit[group_of[n]], rtol=1e-9, atol=1e-10)
    # its own gain put back gives the group's posterior, the same for every weight of the group
    exact = supports.group_posterior(prior_logit, *prior, *w_ext, group_of)
    whole = np.broadcast_to(exact.logit[group_of][:, None], ours.shape)
    np.testing.assert_allclose(ours + gain(prior, w_ext), whole, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", GROUPINGS)
def test_evidence_adds_up(name: str) -> None:
    """identity: evidence(prior + ext) - evidence(prior) is the sum of the group's gains (Savage-Dickey)."""
    group_of = GROUPINGS[name]
    _, prior, w_ext = random_layer(3, group_of)
    after = base.evidence(tilt(prior, w_ext), BASE_VAR, group_of)
    before = base.evidence(prior, BASE_VAR, group_of)
    gains = np.asarray(gain(prior, w_ext)).sum(1)
    expected = [sum(gains[j] for j in range(UNITS) if group_of[j] == group_of[n]) for n in range(UNITS)]
    np.testing.assert_allclose(after - before, expected, rtol=1e-10, atol=1e-12)


def test_base_prior_shows_nothing(dtype: str) -> None:
    """identity: a slab equal to its base has evidence zero."""
    slab = Moments(np.zeros((3, 128), dtype), np.full((3, 128), BASE_VAR, dtype))
    evidence = base.evidence(slab, np.asarray(BASE_VAR, dtype))
    np.testing.assert_allclose(evidence, np.zeros(3), atol=1e-3 if dtype == "float32" else 1e-12)


def test_product_of_128_ratios_underflows_and_log_odds_do_not() -> None:
    """identity: 128 equal likelihood ratios of e^-8 multiply to zero even in float64; their logs add up."""
    var = np.float64(1.0)
    prec = np.exp(16.0) - 1  # gain of a flat-shift message is -log(1 + var prec) / 2 = -8
    ratios = np.full(128, np.exp(-8.0))
    prior = Moments(np.zeros((1, 128)), np.full((1, 128), var))
    w_ext = Message(np.zeros((1, 128)), np.full((1, 128), prec))
    assert np.prod(ratios) == 0
    assert np.prod(ratios.astype(np.float32)) == 0
    for cast in (np.float32, np.float64):
        prior_c, ext_c = (type(t)(*(x.astype(cast) for x in t)) for t in (prior, w_ext))
        odds = group.extrinsic_logit(np.zeros(1, cast), prior_c, ext_c)
        np.testing.assert_allclose(odds, np.full((1, 128), -127 * 8.0), rtol=1e-5 if cast == np.float32 else 1e-13)
        slab = tilt(prior_c, ext_c)
        logit = base.group_logit(np.zeros(1, cast), slab, np.asarray(1, cast))
        np.testing.assert_allclose(logit, [-1024.0], rtol=1e-6)


def test_removed_and_unquestioned(dtype: str) -> None:
    """contract: infinite offsets stay infinite and give probability exactly 0 or 1, never NaN."""
    rng = np.random.default_rng(0)
    slab = Moments((100 * rng.normal(size=(3, 8))).astype(dtype), rng.uniform(0.1, 1, size=(3, 8)).astype(dtype))
    slab = Moments(*(jnp.asarray(a * np.array([0, 1, 1], dtype)[:, None]) for a in slab))  # removed: known to be zero
    offset = np.array([-np.inf, 0.0, np.inf], dtype)
    prob = jax.nn.sigmoid(base.group_logit(offset, slab, np.asarray(1, dtype)))
    assert prob[0] == 0 and prob[2] == 1 and np.isfinite(prob[1])
    w_post = thin(slab, prob[:, None])
    assert np.all(np.asarray(w_post.mean)[0] == 0) and np.all(np.asarray(w_post.var)[0] == 0)
    np.testing.assert_allclose(w_post.var[2], slab.var[2], rtol=1e-6)
