"""tdamp as a contender: the only benchmark file that knows the engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tdamp.engine.network import Network
from tdamp.engine.predict import mean_network, output_moments
from tdamp.engine.settings import Settings
from tdamp.training.fit import fit

from ..core.problems import Problem

CHUNK = 1000
"""Rows predicted at a time: class probabilities take (rows, classes, nodes) floats."""


@dataclass(frozen=True)
class Ours:
    """A model during or after training. During training it is valid only inside the callback."""

    fitted: Any

    @property
    def widths(self) -> tuple[int, ...]:
        """Widths of the network as it is now, removed units gone."""
        return tuple(self.fitted.network.widths)

    @property
    def n_units(self) -> int:
        """Inputs and hidden units that are left."""
        return self.fitted.n_units

    @property
    def state_bytes(self) -> int:
        """Size of everything that training carries from minibatch to minibatch."""
        return sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(self.fitted.state))

    @property
    def weight_bytes(self) -> int:
        """Size of one array for every layer's weights."""
        return sum(layer.weight.var.nbytes for layer in self.fitted.state.layers)

    def point(self, x: np.ndarray) -> np.ndarray:
        """Outputs of the posterior-mean network."""
        return self._rows(partial(_point, self.fitted.network, self.fitted.state.layers), x)

    def predictive(self, x: np.ndarray) -> np.ndarray:
        """Class probabilities, or the predictive mean."""
        state = self.fitted.state
        return self._rows(partial(_predictive, self.fitted.network, state.layers, state.noise_var), x)

    def _rows(self, function: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
        x = x[:, np.asarray(self.fitted.inputs)]
        return np.concatenate([np.asarray(function(x[i : i + CHUNK])) for i in range(0, len(x), CHUNK)])


_point = partial(jax.jit, static_argnums=0)(mean_network)


@partial(jax.jit, static_argnums=0)
def _predictive(network: Network, layers: Any, noise_var: jax.Array, x: jax.Array) -> jax.Array:
    z = output_moments(network, layers, x)
    return jnp.exp(network.output.log_probs(z, noise_var)) if network.output.has_classes else z.mean


def train(
    problem: Problem,
    widths: tuple[int, ...],
    settings: Settings,
    seed: int,
    on_epoch: Callable[[int, Ours, float], None],
) -> Ours:
    """Fit, calling `on_epoch(epoch, model, seconds)` after each epoch.

    The seconds are wall time from the end of one callback to the start of the next: everything that `fit` does,
    compilation included.
    """
    started = time.perf_counter()

    def callback(epoch: int, fitted: Any, record: dict[str, Any]) -> None:
        nonlocal started
        jax.block_until_ready(fitted.state)
        on_epoch(epoch, Ours(fitted), time.perf_counter() - started)
        started = time.perf_counter()

    network = Network(widths=widths, task=problem.task, activation="relu")
    return Ours(fit(network, problem.x, problem.y, settings, seed=seed, callback=callback))
