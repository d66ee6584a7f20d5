"""What a group of weights is worth: the log-likelihood that is expected to be lost without it, in nats.

A gate of 1 multiplies all that a group adds to the z of its layer; the group is removed by gate 0, which leaves its
units at their centres. If y is as the network believes, the expected loss of log-likelihood on row i is, to second
order, half the square of the score of the gate, d log p(y_i) / d gate (Bartlett's identity), so that

    loss_g = 1/2 sum_i weight_i (sum_n in g  u_in d log p(y_i) / d u_in)^2,   u taken from its centre.

Each datum counts once, whatever `data_weight` is, and only outputs are compared: the nats of a group mean the same in
every layer, at every depth, fan-out and group size, and for every likelihood; they add up over rows and clients.
Not guaranteed: losses of several groups do not add up where groups say the same. Remove a few, then rank again.
Oracle: each group removed by itself, the change of the predictive distribution measured (tests/engine/test_ranking.py).
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from ..factors.priors.base import over_groups
from ..numerics.beliefs import Moments
from .network import Network
from .plan import Minibatch
from .predict import Affine, mean_layers, output_moments, plain_outputs
from .state import State


def group_losses(network: Network, state: State, rows: Minibatch, group_of: Array | None) -> list[Array]:
    """Expected loss without each unit's group, (units,) for each layer. Rows are not centred; removed units lose 0."""
    z_var = output_moments(network, state.layers, rows.x).var

    def log_likelihood(moves: list[Array]) -> tuple[Array, list[Array]]:
        """The log-likelihood of all rows when the inputs of the layers move, and those inputs, centred."""
        inputs: list[Array] = []

        def moved(layer: Affine, move: Array) -> Callable[[Array], Array]:
            def outputs(value: Array) -> Array:
                inputs.append(layer.inputs(value))
                return layer.of(inputs[-1] + move)

            return outputs

        first, *rest = map(moved, mean_layers(network, state.layers), moves)
        z = plain_outputs(network.activation, first(network.enter(rows.x)), rest, network.places)
        return network.output.log_partition(Moments(z, z_var), rows.y, state.noise_var).sum(), inputs

    shapes = jax.eval_shape(lambda: log_likelihood([jnp.zeros((), rows.x.dtype)] * network.n_layers)[1])
    still = [jnp.zeros(u.shape, u.dtype) for u in shapes]
    slopes, inputs = jax.grad(log_likelihood, has_aux=True)(still)
    losses = []
    for l, (slope, u) in enumerate(zip(slopes, inputs, strict=True)):
        score = (slope * u).reshape(len(u), -1, network.widths[l]).sum(1)  # over the places of a unit
        if l == 0 and group_of is not None:
            score = jax.vmap(over_groups, (0, None))(score, group_of)
        losses.append(0.5 * rows.weight @ jnp.square(score))
    return losses
