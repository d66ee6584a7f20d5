"""The paper's rule of sparsity at the server, as Algorithm 2 prints it.

The groups' odds begin at rho_0: what the random start shows is no evidence. After a round the rule looks at the
aggregated rho; when more groups than the target are surely active, these restart at rho_0 and the others are gone for
good. A restart leaves the biases' odds as they are. Paper: Section III-C, Algorithm 2; erratum E11.
Oracle: a transcription of Algorithm 2, loop by loop.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..engine import prune
from ..engine.network import Network
from ..engine.settings import Settings
from ..engine.state import State, question
from ..factors.priors.catalog import PRIORS
from ..training.fitted import active_units


def begun(settings: Settings, state: State, group_of: Any) -> State:
    """A start whose groups and biases are in question; one that has them in question already stays as it is."""
    asked = any(np.isfinite(np.asarray(layer.offset)).any() for layer in state.layers)
    if settings.pruning != "paper" or not PRIORS[settings.prior].in_question or asked:
        return state
    start = PRIORS[settings.prior].start_logit(settings.init_active_prob)
    return question(state, start, group_of, from_here=True)


def restarted(settings: Settings, state: State, group_of: Any) -> State:
    """Every group that is left at rho_0 again, its evidence counted from here."""
    start = PRIORS[settings.prior].start_logit(settings.init_active_prob)
    return jax.device_get(question(state, start, group_of, from_here=True, biases=False))


def is_reached(settings: Settings, network: Network, state: State, group_of: Any, asked_groups: Any) -> bool:
    """Whether no more groups are left than were asked for; group ids as in `prune.exact`."""
    goal = prune.goal_units(settings, network, asked_groups)
    return goal is None or prune.n_left(active_units(state), group_of) <= goal
