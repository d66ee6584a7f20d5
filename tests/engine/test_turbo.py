"""Module B's marginals against enumeration of a small layer."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from oracles import supports
from tdamp.engine import turbo
from tdamp.factors.priors.burst import Chain
from tdamp.numerics.beliefs import Message, Moments, moments, tilt

UNITS, OUTPUTS, BASE_VAR, BIAS_VAR, TRANSITIONS = 5, 3, 0.6, 1.4, (0.2, 0.35)
SHARED = np.array([0, 1, 1, 2, 0])


def logit(p: float) -> jax.Array:
    """Log-odds of a probability."""
    return jnp.asarray(np.log(p / (1 - p)))


def random_layer(group_of: np.ndarray, seed: int = 0) -> tuple[turbo.Layer, Message, Message, Message, Message]:
    """A layer whose slabs hold earlier messages, those messages, and new ones for weights and biases."""
    rng = np.random.default_rng(seed)

    def message(*shape: int) -> Message:
        prec = rng.exponential(size=shape)
        return Message(rng.normal(size=shape) * np.sqrt(prec), prec)

    past, past_bias = message(UNITS, OUTPUTS), message(OUTPUTS)
    layer = turbo.Layer(
        weight=moments(Message(jnp.asarray(past.shift), jnp.asarray(past.prec + 1 / BASE_VAR))),
        bias=moments(Message(jnp.asarray(past_bias.shift), jnp.asarray(past_bias.prec + 1 / BIAS_VAR))),
        centre=jnp.zeros(UNITS),
        offset=jnp.asarray(rng.normal(size=group_of.max() + 1)[group_of]),
        bias_offset=jnp.asarray(rng.normal(size=OUTPUTS)),
        base_var=jnp.asarray(BASE_VAR),
        bias_base_var=jnp.asarray(BIAS_VAR),
        active_prob=jnp.full(UNITS, 0.25),
        sure=jnp.asarray(False),
        prior_state=Chain(logit(TRANSITIONS[0]), logit(TRANSITIONS[1])),
    )
    return layer, past, past_bias, message(UNITS, OUTPUTS), message(OUTPUTS)


@pytest.mark.parametrize(
    ("prior", "group_of"), [("group", None), ("group", SHARED), ("burst", None)], ids=["group", "shared", "burst"]
)
def test_marginals(prior: str, group_of: np.ndarray | None) -> None:
    """enumeration: weights and biases over every support, past and new messages together, from the base prior."""
    names = np.arange(UNITS) if group_of is None else group_of
    layer, past, past_bias, w_ext, b_ext = random_layer(names)
    group_logit = np.array([np.asarray(layer.offset)[names == g][0] for g in range(names.max() + 1)])
    exact = supports.group_posterior(
        group_logit,
        np.zeros((UNITS, OUTPUTS)),
        np.full((UNITS, OUTPUTS), BASE_VAR),
        past.shift + w_ext.shift,
        past.prec + w_ext.prec,
        names,
        TRANSITIONS if prior == "burst" else None,
    )
    w_post, b_post = turbo.marginals(layer, prior, group_of, w_ext, b_ext)
    np.testing.assert_allclose(w_post.mean, exact.mean, rtol=1e-10)
    np.testing.assert_allclose(w_post.var, exact.var, rtol=1e-10)

    column = [x[:, None] for x in (np.zeros(OUTPUTS), np.full(OUTPUTS, BIAS_VAR))]
    column += [(a + c)[:, None] for a, c in zip(past_bias, b_ext, strict=True)]
    exact = supports.group_posterior(np.asarray(layer.bias_offset), *column, np.arange(OUTPUTS))
    np.testing.assert_allclose(b_post.mean, exact.mean[:, 0], rtol=1e-10)
    np.testing.assert_allclose(b_post.var, exact.var[:, 0], rtol=1e-10)


@pytest.mark.parametrize("prior", ["group", "burst"])
def test_removed_units_are_zero_and_stay_out_of_the_way(prior: str) -> None:
    """enumeration: a removed unit has no weight, an unquestioned one is a plain Gaussian, the rest is as given."""
    layer, past, _, w_ext, b_ext = random_layer(np.arange(UNITS), seed=1)
    offset = np.asarray(layer.offset).copy()
    offset[1], offset[3] = -np.inf, np.inf
    w_post, _ = turbo.marginals(layer._replace(offset=jnp.asarray(offset)), prior, None, w_ext, b_ext)
    assert np.all(np.asarray(w_post.mean)[1] == 0) and np.all(np.asarray(w_post.var)[1] == 0)
    np.testing.assert_allclose(w_post.var[3], 1 / (1 / BASE_VAR + past.prec[3] + w_ext.prec[3]), rtol=1e-12)
    known = np.where(np.isinf(offset), np.sign(offset) * 200, offset)  # e^-200: as good as given
    zeros = np.zeros((UNITS, OUTPUTS))
    total = [a + c for a, c in zip(past, w_ext, strict=True)]
    chain = TRANSITIONS if prior == "burst" else None
    exact = supports.group_posterior(known, zeros, zeros + BASE_VAR, *total, np.arange(UNITS), chain)
    np.testing.assert_allclose(w_post.mean, exact.mean, rtol=1e-9, atol=1e-80)
    np.testing.assert_allclose(w_post.var, exact.var, rtol=1e-9, atol=1e-80)


def test_refresh_and_the_sure_shortcut() -> None:
    """identity: a layer is called sure only if every group is, and is then answered from its last refresh."""
    layer, *_, w_ext, b_ext = random_layer(np.arange(UNITS), seed=2)
    doubtful = turbo.refresh(layer, "group", None)
    assert not doubtful.sure
    np.testing.assert_allclose(doubtful.active_prob, jax.nn.sigmoid(turbo.active_logit(layer, "group", None)))
    ends = layer._replace(offset=jnp.array([-np.inf, np.inf, 200.0, -200.0, np.inf]))
    certain = turbo.refresh(ends, "group", None)
    assert certain.sure
    assert not turbo.refresh(ends._replace(offset=ends.offset.at[2].set(0.0)), "group", None).sure  # one is in doubt
    np.testing.assert_allclose(certain.active_prob, [0, 1, 1, 0, 1], atol=np.exp(-turbo.SURE_LOGIT))
    quick, _ = turbo.marginals(certain, "group", None, w_ext, b_ext)
    full, _ = turbo.marginals(certain._replace(sure=jnp.asarray(False)), "group", None, w_ext, b_ext)
    np.testing.assert_allclose(quick.mean, full.mean, atol=1e-12)


def test_posterior_is_the_thinned_slab() -> None:
    """identity: predictions see the slab, thinned at the layer's own active_prob."""
    layer, past, _, _, _ = random_layer(np.arange(UNITS), seed=3)
    w_post, _ = turbo.posterior(layer)
    var = 1 / (1 / BASE_VAR + past.prec)
    mean = var * past.shift
    np.testing.assert_allclose(w_post.mean, 0.25 * mean, rtol=1e-12)
    np.testing.assert_allclose(w_post.var, 0.25 * (var + mean**2) - (0.25 * mean) ** 2, rtol=1e-10)


def test_gaussian_prior_has_units_that_are_on_or_removed() -> None:
    """identity: with prior `gaussian` a weight is its slab, or zero without doubt."""
    layer, past, _, w_ext, b_ext = random_layer(np.arange(UNITS), seed=3)
    on = (np.arange(UNITS) % 2 == 0).astype(float)
    layer = layer._replace(weight=Moments(*(on[:, None] * a for a in layer.weight)))  # removed: known to be zero
    w_post, b_post = turbo.marginals(layer, "gaussian", None, w_ext, b_ext)
    var = 1 / (1 / BASE_VAR + past.prec + w_ext.prec)
    np.testing.assert_allclose(w_post.mean, on[:, None] * var * (past.shift + w_ext.shift), rtol=1e-12)
    np.testing.assert_allclose(w_post.var, on[:, None] * var, rtol=1e-12)
    np.testing.assert_array_equal(b_post, tilt(layer.bias, b_ext))
