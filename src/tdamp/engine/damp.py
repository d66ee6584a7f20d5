"""Module A: deep approximate message passing over one minibatch.

Forward: z_fwd and u_post layer by layer; backward: scores, w_ext, b_ext and u_bwd. A minibatch starts fresh. Messages
to weights and biases leave as scores at the means of their priors.
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
from ..factors.layers import maps
from ..numerics.beliefs import Message, Moments, Score, as_message, known
from .info import Clips, add, count, no_clips
from .plan import Knobs, Minibatch, Plan
from .turbo import Layer, marginals

MIN_VAR = 1e-16
"""Floor of a forward variance: keeps 1 / var^2 inside float32."""


class Exchange(NamedTuple):
    """What one sweep leaves for the next: messages to each layer's parameters and to its input, and scores."""

    w_ext: tuple[Message, ...]
    b_ext: tuple[Message, ...]
    u_bwd: tuple[Message, ...]  # to the hidden units, one fewer
    score: tuple[Score, ...]


class Inference(NamedTuple):
    """Result of Module A on a minibatch."""

    exchange: Exchange
    w_score: tuple[Score, ...]  # w_ext and b_ext again, as scores at the priors' means
    b_score: tuple[Score, ...]
    z_fwd: Moments  # of the output layer
    drift: tuple[Array, ...]  # mean of each hidden layer's input, relative to its centre, for each row of its table
    z_post: Moments
    clips: Clips


class Forward(NamedTuple):
    """Beliefs of a forward pass, a layer at a time."""

    values: list[list[Moments]]  # what each layer reads, before and after each map
    skips: list[list[Moments]]  # what is added to its z, before and after each map; empty without a skip
    u: list[Moments]  # inputs, centred
    w_post: list[Moments]
    b_post: list[Moments]
    z_fwd: list[Moments]


def floor_var(z_fwd: Moments) -> tuple[Moments, Array]:
    """The MIN_VAR clip and its count."""
    return z_fwd._replace(var=jnp.maximum(z_fwd.var, MIN_VAR)), count(z_fwd.var < MIN_VAR)


def clip_prec(prec: Array, var: Array, signed: bool = False) -> tuple[Array, Array, Array]:
    """score_prec held in [0, 1 / var], or in [-1 / var, 1 / var] if `signed`, and how often either end acted.

    A floor above 0 would invent data: 1e-2 halved the first layer's variance on MNIST. Where weights are shared many
    places have one label, and what each of them hears is weak: then the kink's part of the precision, of either sign,
    is far larger than the mean, and a floor at 0 for each place would keep its positive half alone. There the sums
    alone are floored, which go to weights, biases and inputs (docs/derivations/convolution.md).
    """
    top = 1 / var
    low = -top if signed else 0
    return jnp.clip(prec, low, top), count(prec < low), count(prec > top)


def restrain(prior: Moments, message: Score, trust: Array | float) -> tuple[Score, Array]:
    """Hold a layer's step to what a calibrated message would make it, and tell whether that acted.

    A score's expected square is its precision (Bartlett's identity), here weighted with the prior's variance and summed
    over a layer. A batch whose rows pull together is counted row by row and overshoots that by up to its size; then
    the score (not the precision) is scaled down, its square to `trust` times the expected one.

    A score is multiplied by the variance before it is squared: of tiny weights it may be so large that its square is
    infinite, and NaN with the zero variance of a removed unit.
    """
    square, expected = jnp.sum(message.score * (message.score * prior.var)), trust * jnp.sum(message.prec * prior.var)
    over = square > expected
    scale = jnp.sqrt(jnp.where(over, expected / jnp.where(over, square, 1), 1))
    return Score(scale * message.score, message.prec), over.astype(jnp.int32)


def at_prior_mean(prior: Moments, post: Moments, message: Score) -> Score:
    """A message given by its score at the posterior's mean, now at the prior's mean. The same if these are the same."""
    if post.mean is prior.mean:
        return message
    return Score(message.score + (post.mean - prior.mean) * message.prec, message.prec)


def forward(
    plan: Plan, group_of: Array | None, layers: tuple[Layer, ...], x: Array, last: Exchange | None
) -> tuple[Forward, Array]:
    """Beliefs about every layer's inputs, parameters and z, from the data up, and how often MIN_VAR acted."""
    network = plan.network
    regions = ACTIVATIONS[network.activation].regions
    value, beliefs, clipped = known(network.enter(x)), Forward([], [], [], [], [], []), jnp.zeros((), jnp.int32)
    from_below = [value]  # values that have heard nothing from above: what a skip adds
    for l, (place, layer) in enumerate(zip(network.places, layers, strict=True)):
        ext = (last.w_ext[l], last.b_ext[l]) if last else (None, None)
        w_post, b_post = marginals(layer, plan.prior, group_of if l == 0 else None, *ext)
        read = maps.forward(place.maps, value)
        u = read[-1] if l == 0 and network.is_flat else place.linear.from_centre(read[-1], layer.centre)
        z_fwd = place.linear.forward(u, w_post, b_post, last.score[l].score if last else None)
        skip = [] if place.skip is None else maps.forward(place.skip_maps, from_below[place.skip])
        z_fwd, floored = floor_var(plus(z_fwd, skip[-1]) if skip else z_fwd)
        clipped = clipped + floored
        pairs: Any = zip(beliefs, (read, skip, u, w_post, b_post, z_fwd), strict=True)
        beliefs = Forward(*([*seen, belief] for seen, belief in pairs))
        if l < network.n_layers - 1:
            from_below.append(piecewise.forward(regions, z_fwd))
            value = from_below[-1] if last is None else piecewise.activate(regions, z_fwd, last.u_bwd[l]).u_post
    return beliefs, clipped


def plus(z: Moments, u: Moments) -> Moments:
    """The belief in a sum, the two doubts being independent."""
    return Moments(z.mean + u.mean, z.var if u.var is None else z.var + u.var)


def output_score(plan: Plan, z_fwd: Moments, y: Array, noise_var: Array) -> tuple[Score, Moments, Clips]:
    """The likelihood's score, the posterior of z, and the clips of a likelihood that is not log-concave."""
    output, clips = plan.network.output, no_clips()
    score = output.score(z_fwd, y, noise_var)
    if not output.log_concave:
        prec, negative, excess = clip_prec(score.prec, z_fwd.var)
        score, clips = Score(score.score, prec), clips._replace(negative_prec=negative, excess_prec=excess)
    z_post = Moments(
        z_fwd.mean + z_fwd.var * score.score,
        z_fwd.var * jnp.maximum(1 - z_fwd.var * score.prec, 0),
    )
    return score, z_post, clips


def hidden_score(plan: Plan, z_fwd: Moments, u_bwd: Message) -> tuple[Score, Clips]:
    """An activation's score, and how often its precision was clipped."""
    active = piecewise.activate(ACTIVATIONS[plan.network.activation].regions, z_fwd, u_bwd)
    prec, negative, excess = clip_prec(active.score_prec, z_fwd.var, plan.network.shares_weights)
    return Score(active.score, prec), no_clips()._replace(negative_prec=negative, excess_prec=excess)


def sweep(
    plan: Plan, group_of: Array | None, layers: tuple[Layer, ...], batch: Minibatch, noise_var: Array,
    trust: Array | float, last: Exchange | None, damping: Array | float,
) -> Inference:  # fmt: skip
    """One forward and one backward pass; `last` is None on a fresh minibatch's only or first sweep."""
    beliefs, floored = forward(plan, group_of, layers, batch.x, last)
    score, z_post, clips = output_score(plan, beliefs.z_fwd[-1], batch.y, noise_var)
    clips = clips._replace(min_var=floored)
    w_scores: list[Score] = []
    b_scores: list[Score] = []
    u_bwds: list[Message] = []
    scores: list[Score] = []
    past: dict[int, Message] = {}  # what values hear past the layers that read them
    signed = plan.network.shares_weights
    for l, layer in reversed(list(enumerate(layers))):
        place, u, w_post = plan.network.places[l], beliefs.u[l], beliefs.w_post[l]
        if l < len(layers) - 1:
            score, clipped = hidden_score(plan, beliefs.z_fwd[l], u_bwds[0])
            clips = add(clips, clipped)
        if last is not None:
            score = Score(*(new + damping * (old - new) for new, old in zip(score, last.score[l], strict=True)))
        scores.insert(0, score)
        weighted = Score(*(over_places(batch.weight, s) * s for s in score))
        message, coupling = place.linear.to_weight(u, w_post, weighted, last is None, signed)
        message, w_held = restrain(layer.weight, at_prior_mean(layer.weight, w_post, message), trust)
        w_scores.insert(0, message)
        message = at_prior_mean(layer.bias, beliefs.b_post[l], place.linear.to_bias(weighted, signed))
        message, b_held = restrain(layer.bias, message, trust)
        b_scores.insert(0, message)
        clips = clips._replace(
            self_coupling=clips.self_coupling + coupling, restrained=clips.restrained + w_held + b_held
        )
        if place.skip is not None:
            known_prec = Score(score.score, jnp.maximum(score.prec, 0))
            skip = maps.backward(place.skip_maps, as_message(known_prec, beliefs.skips[l][-1]), beliefs.skips[l])
            past[place.skip] = add(past[place.skip], skip) if place.skip in past else skip
        if l > 0:
            u_bwd, coupling = place.linear.to_input(u, w_post, score, last is None, signed)
            u_bwd = maps.backward(place.maps, place.linear.uncentred(u_bwd, layer.centre), beliefs.values[l])
            u_bwds.insert(0, add(u_bwd, past[l]) if l in past else u_bwd)
            clips = clips._replace(self_coupling=clips.self_coupling + coupling)
    exchange = Exchange(
        tuple(as_message(score, layer.weight) for layer, score in zip(layers, w_scores, strict=True)),
        tuple(as_message(score, layer.bias) for layer, score in zip(layers, b_scores, strict=True)),
        tuple(u_bwds),
        tuple(scores),
    )
    n = jnp.maximum(batch.weight.sum(), 1)
    hidden = zip(plan.network.linear[1:], beliefs.u[1:], strict=True)
    drift = tuple(linear.over_rows(batch.weight, u.mean) / n for linear, u in hidden)
    return Inference(exchange, tuple(w_scores), tuple(b_scores), beliefs.z_fwd[-1], drift, z_post, clips)


def over_places(row_weight: Array, score: Array) -> Array:
    """The weights of rows, to be multiplied with what has places and units besides."""
    return jnp.expand_dims(row_weight, tuple(range(1, score.ndim)))


def infer(
    plan: Plan, knobs: Knobs, group_of: Array | None, layers: tuple[Layer, ...], batch: Minibatch, noise_var: Array
) -> Inference:
    """All sweeps over a minibatch; a plan for a single one needs no exchange."""

    def run(last: Exchange | None, damping: Array | float) -> Inference:
        return sweep(plan, group_of, layers, batch, noise_var, knobs.trust, last, damping)

    if plan.single:
        return run(None, 0.0)
    like = jax.eval_shape(lambda: run(None, 0.0))
    blank = jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), like)

    def body(t: Array, done: Inference) -> Inference:
        fresh = run(done.exchange, jnp.where(t == 0, 0.0, knobs.damping))
        return fresh._replace(clips=add(done.clips, fresh.clips))

    return jax.lax.fori_loop(0, knobs.sweeps, body, blank)


def drop_inputs(knobs: Knobs, centre: Array, x: Array, minibatch: Array) -> Array:
    """Each input of each row set to zero with probability `input_dropout`, the others made larger to keep the mean.

    `centre` has been taken off the rows, and zero is that of the data. What is dropped follows from the epoch and the
    minibatch.
    """
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), knobs.epoch), minibatch)
    keep = 1 - knobs.input_dropout
    return jnp.where(jax.random.bernoulli(key, keep, x.shape), (x + centre) / keep, 0) - centre
