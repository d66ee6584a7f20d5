"""Module A: deep approximate message passing over one minibatch.

Forward: z_fwd and u_post layer by layer; backward: scores, w_ext, b_ext and u_bwd. A minibatch starts fresh.
Paper: Algorithm 1, lines "forward / backward message passing". Not guaranteed: convergence of many
sweeps (hence the damping). Oracle: the loop transcription in tests/oracles.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ..factors.activations import piecewise
from ..factors.activations.catalog import ACTIVATIONS
from ..factors.layers import dense
from ..factors.layers.dense import Score
from ..factors.likelihoods import gaussian, heteroscedastic, probit
from ..numerics.beliefs import Message, Moments, known
from .network import Network
from .turbo import Layer, Prior, marginals

MIN_VAR = 1e-16
"""Floor of a forward variance: keeps 1 / var^2 inside float32."""


class Clips(NamedTuple):
    """How often each clip acted."""

    negative_prec: Array  # an activation's (or a varying noise's) score_prec < 0: not log-concave, clipped to 0
    excess_prec: Array  # a score_prec > 1 / var, clipped
    self_coupling: Array  # BiG-AMP self-coupling < 0, floored at 0
    min_var: Array  # forward variance below MIN_VAR
    restrained: Array  # a layer's step was held back, see `restrain`


class Exchange(NamedTuple):
    """What one sweep leaves for the next: messages to each layer's parameters and to its input, and scores."""

    w_ext: tuple[Message, ...]
    b_ext: tuple[Message, ...]
    u_bwd: tuple[Message, ...]  # to the hidden units, one fewer
    score: tuple[Score, ...]


class Inference(NamedTuple):
    """Result of Module A on a minibatch."""

    exchange: Exchange
    w_said: tuple[Score, ...]  # w_ext and b_ext again, as scores at the priors' means
    b_said: tuple[Score, ...]
    z_fwd: Moments  # of the output layer
    drift: tuple[Array, ...]  # mean of each hidden layer's input, relative to its centre
    z_post: Moments
    clips: Clips


def _add(a: Clips, b: Clips) -> Clips:
    return jax.tree.map(jnp.add, a, b)


def no_clips() -> Clips:
    """Counters at zero."""
    zero = jnp.zeros((), jnp.int32)
    return Clips(zero, zero, zero, zero, zero)


def count(hits: Array) -> Array:
    """How many hold. Summed as float32: exact up to 16 million, and much faster than whole numbers."""
    return hits.astype(jnp.float32).sum().astype(jnp.int32)


def floor_var(z_fwd: Moments) -> tuple[Moments, Array]:
    """The MIN_VAR clip and its count."""
    return z_fwd._replace(var=jnp.maximum(z_fwd.var, MIN_VAR)), count(z_fwd.var < MIN_VAR)


def clip_prec(prec: Array, var: Array) -> tuple[Array, Array, Array]:
    """score_prec held in [0, 1 / var], and how often either end acted.

    A floor above 0 would invent data: 1e-2 halved the first layer's variance on MNIST.
    """
    top = 1 / var
    return jnp.clip(prec, 0, top), count(prec < 0), count(prec > top)


def output_of(network: Network) -> Any:
    """The output factor: a module with `score` and `log_partition`."""
    if network.task == "classification":
        return probit
    return heteroscedastic if network.noise == "varying" else gaussian


def restrain(prior: Moments, said: Score, trust: Array | float) -> tuple[Score, Array]:
    """Hold a layer's step to what a calibrated message would make it, and tell whether that acted.

    A score's expected square is its precision (Bartlett's identity), here weighted with the prior's variance and summed
    over a layer. A batch whose rows pull together is counted row by row and overshoots that by up to its size; then
    the score (not the precision) is scaled down, its square to `trust` times the expected one.

    A score is multiplied by the variance before it is squared: of tiny weights it may be so large that its square is
    infinite, and NaN with the zero variance of a removed unit.
    """
    found, expected = jnp.sum(said.score * (said.score * prior.var)), trust * jnp.sum(said.prec * prior.var)
    over = found > expected
    scale = jnp.sqrt(jnp.where(over, expected / jnp.where(over, found, 1), 1))
    return Score(scale * said.score, said.prec), over.astype(jnp.int32)


def about(prior: Moments, post: Moments, said: Score) -> Score:
    """A message given by its score at the posterior's mean, now at the prior's mean. The same if these are the same."""
    return said if post.mean is prior.mean else Score(said.score + (post.mean - prior.mean) * said.prec, said.prec)


def sweep(
    network: Network,
    prior: Prior,
    group_of: Array | None,
    layers: tuple[Layer, ...],
    x: Array,
    y: Array,
    row_weight: Array,
    noise_var: Array,
    trust: Array | float,
    last: Exchange | None,
    damping: Array | float,
) -> Inference:
    """One forward and one backward pass; `x` is centred. `last` is None on a fresh minibatch's only or first sweep."""
    depth = network.n_layers
    regions = ACTIVATIONS[network.activation].regions
    u = known(x)
    inputs, weights, biases, forwards = [], [], [], []
    clips = no_clips()
    for l, layer in enumerate(layers):
        w_post, b_post = marginals(
            layer,
            prior,
            group_of if l == 0 else None,
            last.w_ext[l] if last else None,
            last.b_ext[l] if last else None,
        )
        u = u if l == 0 else Moments(u.mean - layer.centre, u.var)
        z_fwd, floored = floor_var(dense.forward(u, w_post, b_post, last.score[l].score if last else None))
        clips = clips._replace(min_var=clips.min_var + floored)
        inputs.append(u)
        weights.append(w_post)
        biases.append(b_post)
        forwards.append(z_fwd)
        if l < depth - 1:
            if last is None:
                u = piecewise.forward(regions, z_fwd)
            else:
                u = piecewise.activate(regions, z_fwd, last.u_bwd[l]).u_post

    score = Score(*output_of(network).score(z_fwd, y, noise_var))
    if network.noise == "varying":
        prec, negative, excess = clip_prec(score.prec, z_fwd.var)
        score = Score(score.score, prec)
        clips = clips._replace(negative_prec=negative, excess_prec=excess)
    z_post = Moments(
        z_fwd.mean + z_fwd.var * score.score,
        z_fwd.var * jnp.maximum(1 - z_fwd.var * score.prec, 0),
    )
    w_said: list[Score] = []
    b_said: list[Score] = []
    u_bwds: list[Message] = []
    scores: list[Score] = []
    for l in reversed(range(depth)):
        if l < depth - 1:
            active = piecewise.activate(regions, forwards[l], u_bwds[0])
            prec, negative, excess = clip_prec(active.score_prec, forwards[l].var)
            score = Score(active.score, prec)
            clips = clips._replace(
                negative_prec=clips.negative_prec + negative,
                excess_prec=clips.excess_prec + excess,
            )
        if last is not None:
            score = Score(*(new + damping * (old - new) for new, old in zip(score, last.score[l], strict=True)))
        weighted = Score(*(row_weight[:, None] * s for s in score))
        said, coupling = dense.to_weight(inputs[l], weights[l], weighted, last is None)
        said, w_held = restrain(layers[l].weight, about(layers[l].weight, weights[l], said), trust)
        w_said.insert(0, said)
        said, b_held = restrain(layers[l].bias, about(layers[l].bias, biases[l], dense.to_bias(weighted)), trust)
        b_said.insert(0, said)
        scores.insert(0, score)
        clips = clips._replace(
            self_coupling=clips.self_coupling + coupling,
            restrained=clips.restrained + w_held + b_held,
        )
        if l > 0:
            message, coupling = dense.to_input(inputs[l], weights[l], score, last is None)
            u_bwds.insert(0, Message(message.shift + message.prec * layers[l].centre, message.prec))
            clips = clips._replace(self_coupling=clips.self_coupling + coupling)
    exchange = Exchange(
        tuple(dense.as_message(said, layer.weight) for layer, said in zip(layers, w_said, strict=True)),
        tuple(dense.as_message(said, layer.bias) for layer, said in zip(layers, b_said, strict=True)),
        tuple(u_bwds),
        tuple(scores),
    )
    n = jnp.maximum(row_weight.sum(), 1)
    drift = tuple(row_weight @ inputs[l].mean / n for l in range(1, depth))
    return Inference(exchange, tuple(w_said), tuple(b_said), forwards[-1], drift, z_post, clips)


def infer(
    network: Network,
    prior: Prior,
    group_of: Array | None,
    layers: tuple[Layer, ...],
    x: Array,
    y: Array,
    row_weight: Array,
    noise_var: Array,
    trust: Array | float,
    sweeps: Array | int,
    damping: Array | float,
    single: bool,
) -> Inference:
    """`sweeps` sweeps over a minibatch; `single` (static) says that it is one, which needs no exchange."""

    def run(last: Exchange | None, damping: Array | float) -> Inference:
        return sweep(network, prior, group_of, layers, x, y, row_weight, noise_var, trust, last, damping)

    if single:
        return run(None, 0.0)
    like = jax.eval_shape(lambda: run(None, 0.0))
    blank = jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), like)

    def body(t: Array, done: Inference) -> Inference:
        fresh = run(done.exchange, jnp.where(t == 0, 0.0, damping))
        return fresh._replace(clips=_add(done.clips, fresh.clips))

    return jax.lax.fori_loop(0, sweeps, body, blank)
