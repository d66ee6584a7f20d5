"""AMP of Lucibello et al. (2022): the equations of one minibatch, for Gaussian weights and ReLU units.

Density: the posterior of the weights, prior x prod_(rows) P(y | network(x)), approximated by `iterations` forward and
backward passes over the means and variances of weights, units and outputs. Numbers in brackets are equations of their
appendix; docs/derivations/amp-baseline.md says what is theirs and what is ours. A bias is the weight of a unit that
is always 1. A weight of variance 0 is known and never moves: that is how units are removed.
Not guaranteed: convergence, not even finite numbers. Oracle: the loops in tests/bench/test_bench_amp.py.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from tdamp.engine.network import Task
from tdamp.factors.activations import piecewise
from tdamp.factors.activations.catalog import ACTIVATIONS
from tdamp.factors.likelihoods.gaussian import Gaussian
from tdamp.numerics import truncated_normal
from tdamp.numerics.beliefs import Message, Moments, Score, known

DAMPING = 0.8
"""alpha (135): the share of its old value that a weight's mean keeps. Their choice and that of the EM-TDAMP paper."""
VAR_FLOOR = 1e-8
"""Added to every forward variance, as in their code: it is divided by, and a removed unit has none."""
RELU = ACTIVATIONS["relu"].regions


class Layer(NamedTuple):
    """Weights of one layer, (inputs + 1, outputs), biases last."""

    prior: Moments  # by PasP the last minibatch's posterior
    mean: Array  # m (135), which follows the posterior's mean and is what messages and predictions use


class Pass(NamedTuple):
    """What a pass leaves to the next one, layer by layer."""

    unit: tuple[Array, ...]  # means of the layer's input
    weight: tuple[Array, ...]  # m
    score: tuple[Array, ...]  # g
    bwd: tuple[Message, ...]  # (B, A), to the hidden units


def with_one(u: Moments) -> Moments:
    """The units of a layer, and the one that is always 1."""
    return Moments(_with_column(u.mean, 1.0), _with_column(u.var, 0.0))


def _with_column(a: Array, value: float) -> Array:
    return jnp.pad(a, ((0, 0), (0, 1)), constant_values=value)


def argmax_score(z: Moments, label: Array) -> Score:
    """The output "the label has the largest score", each rival on its own and without noise (132).

    log-partition = sum_(m != y) log Phi((z_y - z_m) / sqrt(var_y + var_m)): its first (133) and minus its second
    derivative in each mean.
    """
    is_label = jax.nn.one_hot(label, z.mean.shape[-1], dtype=z.mean.dtype)
    y_mean, y_var = ((moment * is_label).sum(-1, keepdims=True) for moment in z)
    var = z.var + y_var
    std = jnp.sqrt(var)
    cut = truncated_normal.above((z.mean - y_mean) / std)
    score, prec = -(1 - is_label) * cut.mean / std, (1 - is_label) * cut.shrink / var
    return Score(score - is_label * score.sum(-1, keepdims=True), prec + is_label * prec.sum(-1, keepdims=True))


def forward(u: Moments, w: Moments, last: tuple[Array, Array, Array] | None) -> Moments:
    """omega (112) and V (111) of z = u W; `last` is (u, m, g) of the last pass, None on the first (g = 0, (106))."""
    mean, var = u.mean @ w.mean, (u.mean * u.mean) @ w.var
    if last is not None:
        last_unit, last_weight, score = last
        mean = mean - score * ((u.mean * last_unit) @ w.var)
    if u.var is not None:
        var = var + u.var @ (w.mean * w.mean + w.var)
        if last is not None:
            own = u.var @ (w.mean * last_weight) - score * ((last_unit * u.var) @ (w.var * last_weight))
            mean = mean - score * own
    return Moments(mean, var + VAR_FLOOR)


def relu_score(z: Moments, u_bwd: Message) -> tuple[Score, Array]:
    """g (113) and Gamma (114) of the ReLU, and how many rows and units had Gamma < 0.

    The factor is not log-concave, so Gamma can be negative. It is floored at 0: with two hidden layers the variances
    otherwise turn negative and the numbers end within an epoch.
    """
    active = piecewise.activate(RELU, z, u_bwd)
    return Score(active.score, jnp.maximum(active.score_prec, 0)), (active.score_prec < 0).sum(1, dtype=jnp.float32)


def to_unit(u: Moments, w: Moments, z_score: Score) -> Message:
    """(B, A) of (116) and (115), with g^2 put at its expectation Gamma and the term of third order left out."""
    prec = z_score.prec @ (w.mean * w.mean).T
    return Message(z_score.score @ w.mean.T + u.mean * (prec - z_score.prec @ w.var.T), prec)


def posterior(prior: Moments, mean: Array, u: Moments, z_score: Score) -> Moments:
    """The prior with (H, G) of (118) and (117), simplified as in `to_unit`: moments (109) and (110) before damping."""
    prec = (u.mean * u.mean).T @ z_score.prec
    pull = u.mean.T @ z_score.score + (mean - prior.mean) * prec  # H - G prior.mean
    if u.var is not None:
        pull = pull - mean * (u.var.T @ z_score.prec)
    var = prior.var / (1 + prior.var * prec)
    return Moments(prior.mean + var * pull, var)


def output_score(task: Task, z: Moments, y: Array, noise_var: Array) -> Score:
    """The hard argmax, or (ours) a Gaussian output of fixed noise variance."""
    return argmax_score(z, y) if task == "classification" else Gaussian().score(z, y, noise_var)


def one_pass(
    task: Task,
    layers: tuple[Layer, ...],
    weights: tuple[Moments, ...],
    last: Pass | None,
    x: Array,
    y: Array,
    present: Array,
    noise_var: Array,
) -> tuple[tuple[Moments, ...], Pass, Array]:
    """Forward and backward once: the new moments of the weights (means damped), what the next pass needs, clips.

    `present` is 0 for rows that only fill up a short minibatch.
    """
    depth = len(layers)
    inputs, forwards = [known(_with_column(x, 1.0))], []
    for l, w in enumerate(weights):
        z = forward(inputs[l], w, None if last is None else (last.unit[l], last.weight[l], last.score[l]))
        forwards.append(z)
        if l < depth - 1:
            u = piecewise.forward(RELU, z) if last is None else piecewise.activate(RELU, z, last.bwd[l]).u_post
            inputs.append(with_one(u))
    z_score = output_score(task, forwards[-1], y, noise_var)
    posts: list[Moments] = []
    scores: list[Array] = []
    bwds: list[Message] = []
    clips = jnp.zeros((), x.dtype)
    for l in reversed(range(depth)):
        if l < depth - 1:
            z_score, negative = relu_score(forwards[l], bwds[0])
            clips = clips + present @ negative
        there = Score(*(present[:, None] * s for s in z_score))
        posts.insert(0, posterior(layers[l].prior, weights[l].mean, inputs[l], there))
        scores.insert(0, z_score.score)
        if l > 0:
            shift, prec = to_unit(inputs[l], weights[l], z_score)
            bwds.insert(0, Message(shift[:, :-1], prec[:, :-1]))
    left = Pass(tuple(u.mean for u in inputs), tuple(w.mean for w in weights), tuple(scores), tuple(bwds))
    return tuple(posts), left, clips


def damped(old: Moments, new: Moments) -> Moments:
    """(135): the mean goes part of the way, the variance the whole."""
    return Moments(DAMPING * old.mean + (1 - DAMPING) * new.mean, new.var)


def minibatch(
    task: Task, iterations: int, layers: tuple[Layer, ...], x: Array, y: Array, present: Array, noise_var: Array
) -> tuple[tuple[Layer, ...], Array]:
    """Fresh messages, `iterations` passes, then PasP with rho = 1: the posterior is the next prior. And the clips."""
    weights = tuple(Moments(layer.mean, layer.prior.var) for layer in layers)
    last, total = None, jnp.zeros((), x.dtype)
    for _ in range(iterations):
        posts, last, clips = one_pass(task, layers, weights, last, x, y, present, noise_var)
        weights = tuple(damped(w, post) for w, post in zip(weights, posts, strict=True))
        total = total + clips
    return tuple(Layer(post, w.mean) for post, w in zip(posts, weights, strict=True)), total


def predict(layers: tuple[Layer, ...], x: Array) -> Array:
    """Outputs of the network of the weights' means."""
    for layer in layers[:-1]:
        x = jax.nn.relu(_with_column(x, 1.0) @ layer.mean)
    return _with_column(x, 1.0) @ layers[-1].mean
