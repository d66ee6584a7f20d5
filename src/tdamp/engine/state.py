"""The state of training: the posterior of every layer and the noise, how it starts, and what may be asked of it."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..factors.likelihoods.base import OutputStart
from ..factors.priors import base as prior_base
from ..factors.priors import spike_slab
from ..factors.priors.base import to_rows
from ..factors.priors.catalog import PRIORS
from ..numerics.beliefs import Moments
from .network import Network
from .settings import Settings
from .turbo import Layer

ROUNDING = 1e-20
"""A variance below this share of the squared mean is rounding: the column is constant."""


class State(NamedTuple):
    """What the next minibatch needs: the posterior of every layer, and the noise."""

    layers: tuple[Layer, ...]
    noise_var: Array  # (outputs,) for regression, () for classification
    noise_scale: Array  # where it started, for its bounds
    base_var_start: tuple[Array, ...]


class Scales(NamedTuple):
    """What a start needs to know of the data, in float64: the rows themselves need not be there."""

    x_mean: np.ndarray  # (inputs,), or (rows,) of the first layer's table
    x_power: float  # sum of the inputs' variances
    y_mean: np.ndarray
    y_var: np.ndarray


def scales_of(network: Network, x: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> Scales:
    """The scales of weighted rows; what is constant counts as having variance one."""
    share = np.full(len(x), 1 / len(x)) if weight is None else weight / weight.sum(dtype=np.float64)
    y_mean = share @ y.astype(np.float64)
    y_var = network.output.target_var(y, y_mean, share)
    x_mean = share @ x.astype(np.float64, copy=False)
    return no_less_than_rounding(x_mean, float(share @ np.square(x - x_mean).sum(1)), y_mean, y_var)


def no_less_than_rounding(x_mean: np.ndarray, x_power: float, y_mean: np.ndarray, y_var: np.ndarray) -> Scales:
    """The scales with a variance of one for what is constant but for rounding."""
    y_var = np.where(y_var > ROUNDING * np.square(y_mean), y_var, 1.0)
    return Scales(x_mean, x_power if x_power > ROUNDING * np.square(x_mean).sum() else 1.0, y_mean, y_var)


def for_images(network: Network, scales: Scales) -> Scales:
    """The scales of what a first layer that reads images sees at one of its places: a row of its table each.

    What is constant over rows still differs from place to place, and counts as power of a channel.
    """
    place, copies = network.places[0], network.places[0].copies
    mean = network.enter(scales.x_mean[None])
    channels = np.asarray(mean.mean(tuple(range(mean.ndim - 1))), np.float64)
    spread = float(np.square(mean - channels).sum()) + scales.x_power * mean.size / scales.x_mean.size
    share = copies / (mean.size // mean.shape[-1]) if place.linear.shares_weights else 1.0
    return scales._replace(x_mean=to_rows(channels, copies * len(channels)), x_power=spread * share)


def init(
    network: Network,
    settings: Settings,
    rng: np.random.Generator,
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray | None = None,
) -> State:
    """`start` at the scales of these rows."""
    return start(network, settings, rng, scales_of(network, x, y, weight), jnp.dtype(x.dtype))


def start(network: Network, settings: Settings, rng: np.random.Generator, scales: Scales, dtype: Any) -> State:
    """Random means and a flat-as-it-may-be posterior, scaled to the data.

    Base variances make every z of the prior have variance one (the outputs: that of y). Means are `init_scale` times
    He's; identical means would never break the units' symmetry. The variance leaves the untrained outputs with
    noise-to-signal `init_noise`: each layer adds its share, so it is divided by the depth.
    """
    x_mean, x_power, y_mean, y_var = scales if network.is_flat else for_images(network, scales)
    if not settings.centre_inputs:
        x_mean, x_power = np.zeros_like(x_mean), x_power + float(np.square(x_mean).sum())
    room = jnp.finfo(dtype)
    if not all(1e6 * float(room.tiny) < float(scale) < 1e-6 * float(room.max) for scale in (x_power, *np.ravel(y_var))):
        raise ValueError(f"x or y is too large or too small for {dtype}: bring them to a scale near one")
    network.output.check_scales(y_var)
    output = network.output.output_start(y_mean, y_var, network.widths[-1])
    prior = PRIORS[settings.prior]
    put: Any = partial(np.asarray, dtype=dtype)  # the arrays are made on the host: nothing compiles
    layers = []
    for l, ((n_in, n_out), n_units) in enumerate(zip(network.tables, network.widths, strict=False)):
        last = output if l == network.n_layers - 1 else OutputStart(1.0, np.zeros(n_out), 1.0, n_out)
        used = np.ones((n_in, n_out), bool) if network.layers is None else network.linear[l].used(n_in, n_out)
        base_var = last.var / (x_power if l == 0 else n_in) / used.mean()
        spread = 2 * settings.init_scale**2 * base_var
        doubt = settings.init_noise / network.n_layers
        mean = np.sqrt(spread) * rng.standard_normal((n_in, n_out))
        mean[:, last.n_random :] = 0
        mean[~used] = 0
        layers.append(
            Layer(
                weight=Moments(put(mean), put(np.where(used, doubt * spread, base_var))),
                bias=Moments(put(last.bias_mean), put(np.full(n_out, doubt * last.var))),
                centre=put(x_mean if l == 0 else np.zeros(n_in)),
                offset=put(np.full(n_units, np.inf)),
                bias_offset=put(np.full(n_out, np.inf)),
                base_var=put(base_var),
                bias_base_var=put(last.bias_var),
                active_prob=put(np.ones(n_units)),
                sure=put(True, dtype=bool),
                prior_state=prior.start(settings.init_active_prob, put),
            )
        )
    base_vars = tuple(layer.base_var for layer in layers)
    return jax.device_put(State(tuple(layers), put(settings.noise_init * y_var), put(y_var), base_vars))


def evidence(state: State, group_of: Array | np.ndarray | None) -> list[np.ndarray]:
    """Evidence of every unit's group for being needed, in nats, a layer at a time, on the host."""
    return [np.asarray(nats) for nats in _evidence(state.layers, group_of)]


@jax.jit
def _evidence(layers: tuple[Layer, ...], group_of: Array | None) -> list[Array]:
    return [
        prior_base.evidence(layer.weight, layer.base_var, group_of if l == 0 else None, layer.offset > -jnp.inf)
        for l, layer in enumerate(layers)
    ]


def question(
    state: State, prior_logit: float, group_of: Array | np.ndarray | None, from_here: bool, biases: bool = True
) -> State:
    """Put every remaining unit, and the `biases`, in question, with these prior log-odds.

    `from_here` counts only evidence to come: what the present posterior shows already (the random start included)
    is taken off. Otherwise all evidence against the base prior counts. Biases may be left as they are.
    """
    shown = evidence(state, group_of) if from_here else None
    layers = []
    for l, layer in enumerate(jax.device_get(state.layers)):
        offset = np.where(layer.offset == -np.inf, -np.inf, prior_logit - (shown[l] if shown else 0.0))
        bias_offset = layer.bias_offset
        if biases:
            bias_shown = np.asarray(spike_slab.evidence(layer.bias, layer.bias_base_var)) if from_here else 0.0
            bias_offset = np.broadcast_to(prior_logit - bias_shown, bias_offset.shape)
        layers.append(
            layer._replace(
                offset=offset.astype(layer.offset.dtype),
                bias_offset=bias_offset.astype(layer.offset.dtype),
                sure=np.asarray(False),
            )
        )
    return jax.device_put(state._replace(layers=tuple(layers)))


def remove(state: State, active: list[np.ndarray], rigid: frozenset[int] = frozenset()) -> State:
    """Switch off for good every unit that is not `active` (a mask for each layer's inputs). On the host: no compiling.

    Its outgoing weights are then known to be zero; its own weights and bias return to the base prior, and as nothing
    depends on them they receive no message. Units of the values in `rigid` are read past the layer, too, and keep
    theirs.
    """
    layers = []
    for l, (layer, mask) in enumerate(zip(jax.device_get(state.layers), active, strict=True)):
        free = l + 1 < len(active) and l + 1 not in rigid
        here = active[l + 1] if free else np.ones(layer.bias.var.shape, bool)
        weight = _keep_or(layer.weight, here, layer.base_var)
        layers.append(
            layer._replace(
                weight=_keep_or(weight, to_rows(mask, len(layer.centre))[:, None], 0),
                bias=_keep_or(layer.bias, here, layer.bias_base_var),
                offset=np.where(mask, layer.offset, -np.inf),
                active_prob=np.where(mask, layer.active_prob, 0),
            )
        )
    return jax.device_put(state._replace(layers=tuple(layers)))


def _keep_or(belief: Any, mask: np.ndarray, var: Any) -> Any:
    return belief._replace(mean=np.where(mask, belief.mean, 0), var=np.where(mask, belief.var, var))


def rows_read(network: Network, inputs: np.ndarray, state: State) -> tuple[np.ndarray, np.ndarray]:
    """The columns of data that a network with these inputs reads, and what is taken off them before training.

    Nothing is taken off images, whose channels are centred layer by layer.
    """
    centre = np.asarray(state.layers[0].centre)
    return network.columns(inputs), centre if network.is_flat else np.zeros((), centre.dtype)


def is_finite(state: State) -> bool:
    """Whether every parameter of the posterior is a finite number (offsets may be infinite: that is their code)."""
    parts = [(layer.weight, layer.bias, layer.centre, layer.base_var, layer.active_prob) for layer in state.layers]
    return all(bool(np.isfinite(leaf).all()) for leaf in jax.tree.leaves(jax.device_get((parts, state.noise_var))))


def path_name(path: Any) -> str:
    """What a leaf of a state is called in files and messages: `layers.0.weight.mean`."""
    return ".".join(str(getattr(key, "name", getattr(key, "idx", key))) for key in path)
