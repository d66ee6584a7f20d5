"""Gaussian projection (EP) in the place of turbo's exact spike-slab posterior.

Turbo carries, for each group, slabs N(mean, var) and the log-odds of being on. EP keeps Gaussians alone: the posterior
P N(mean, var) + (1 - P) delta of each weight (P its group's probability, for a bias its own) is replaced by the
Gaussian with the same mean and variance before it becomes the next prior. The log-odds of a group then follow from
what remains: they are its prior log-odds plus the evidence of the projected Gaussians against the base prior
(factors/priors/base). Where all groups are certain nothing changes, and EP is turbo.

Gaussians do not tell how much of the spike they hold already, so the spike counts again at each projection. After
every minibatch it is the plainest reading of EP with the posterior as prior; once an epoch it counts about once within
the posterior's memory. In tdamp both start from the same warm-up with all units on, as turbo does there: put in
question at a random start with P = 1/2, means that are halved by each minibatch vanish before anything is learned. The
method as printed has no warm-up, and its arms none either.
Oracle: identity where groups are certain, moments of the mixture elsewhere.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from tdamp.engine import turbo
from tdamp.engine.state import State
from tdamp.engine.turbo import Layer
from tdamp.numerics.beliefs import Moments

from .loop import Arm

LEAST_VAR = 1e-6
"""Of a projected weight, relative to the base variance: a group that is surely off would have none, and no log-odds."""


def project(layer: Layer) -> Layer:
    """The layer with Gaussians of the spike-slab posterior's mean and variance as its slabs."""
    w_post, b_post = turbo.marginals(layer, "group", None, None, None)
    left = (layer.offset > -jnp.inf)[:, None]
    return layer._replace(
        weight=_floor(w_post, jnp.where(left, LEAST_VAR * layer.base_var, 0)),
        bias=_floor(b_post, LEAST_VAR * layer.bias_base_var),
    )


def _floor(belief: Moments, least: Array) -> Moments:
    return belief._replace(var=jnp.maximum(belief.var, least))


def project_all(state: State) -> State:
    """Every layer."""
    return state._replace(layers=tuple(project(layer) for layer in state.layers))


class ProjectEachMinibatch(Arm):
    """EP after every minibatch: nothing but Gaussians is handed on."""

    between = staticmethod(project_all)


class ProjectEachEpoch(Arm):
    """EP once an epoch."""

    def end(self, state: State) -> State:
        """The projection, and what it leaves of the log-odds."""
        return _project_and_refresh(state)


@jax.jit
def _project_and_refresh(state: State) -> State:
    layers = project_all(state).layers
    return state._replace(layers=tuple(turbo.refresh(layer, "group", None) for layer in layers))
