"""The linear factor z = u W + b, in the BiG-AMP form.

Density: prod_(i,m) delta(z_im - sum_n u_in W_nm - b_m). Paper: Fig. 2, factor f_l (its messages are in the
unavailable supplement; derived in the docs). Sums over n and i are Gaussian by the central limit theorem, so
variances are *not* exact on small or structured problems; the fixed-point mean of a Gaussian model is.
Oracle: the loop transcription in tests/oracles, ridge regression, and the N^(-1/2) rate.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from ...numerics.beliefs import Message, Moments, Score


def forward(u: Moments, w: Moments, b: Moments, previous_score: Array | None) -> Moments:
    """z_fwd, with the Onsager term of the last sweep's score (None on a minibatch's first sweep).

    `u.var` may be None for data: two of the four products vanish.
    """
    mean = u.mean @ w.mean + b.mean
    if u.var is None:
        var = plain = (u.mean * u.mean) @ w.var + b.var
    elif previous_score is None:
        return Moments(mean, (u.mean * u.mean + u.var) @ w.var + u.var @ (w.mean * w.mean) + b.var)
    else:
        plain = (u.mean * u.mean) @ w.var + u.var @ (w.mean * w.mean) + b.var
        var = plain + u.var @ w.var
    if previous_score is not None:
        mean = mean - previous_score * plain
    return Moments(mean, var)


def to_weight(u: Moments, w: Moments, score: Score, fresh: bool) -> tuple[Score, Array]:
    """w_ext of a batch as its score at w.mean and its precision, and how often the self-coupling clip acted.

    Rows of `score` must already carry their sample weights. On a `fresh` minibatch's first sweep u has not heard of
    this layer's scores yet, so there is no self-coupling to take away: the term -w u_var' s_prec only belongs to
    later sweeps. (In single sweeps it would shrink every weight; in deep networks the signal then dies out.)
    The clip: prec - u_var' s_prec is a difference of estimates and is floored at 0 (BiG-AMP's gain clip).
    """
    prec = (u.mean * u.mean).T @ score.prec
    pull = u.mean.T @ score.score
    if u.var is None or fresh:
        return Score(pull, prec), jnp.zeros((), jnp.int32)
    coupling, clipped = _coupling(prec - u.var.T @ score.prec)
    return Score(pull + w.mean * (coupling - prec), prec), clipped


def to_bias(score: Score) -> Score:
    """b_ext of a batch, as `to_weight`; rows of `score` carry their sample weights."""
    return Score(score.score.sum(0), score.prec.sum(0))


def to_input(u: Moments, w: Moments, score: Score, fresh: bool) -> tuple[Message, Array]:
    """u_bwd, and how often the self-coupling clip acted; `fresh` as in `to_weight`."""
    prec = score.prec @ (w.mean * w.mean).T
    shift = score.score @ w.mean.T
    if fresh:
        return Message(shift + u.mean * prec, prec), jnp.zeros((), jnp.int32)
    coupling, clipped = _coupling(prec - score.prec @ w.var.T)
    return Message(shift + u.mean * coupling, prec), clipped


def _coupling(raw: Array) -> tuple[Array, Array]:
    return jnp.maximum(raw, 0), jnp.sum(raw < 0, dtype=jnp.int32)
