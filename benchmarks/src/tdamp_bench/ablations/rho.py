"""Rules for the prior probability rho of a group that remove nothing: fixed at the target, and plain EM.

In the E-step both carry the posterior log-odds from minibatch to minibatch, as PasP has it. They differ in the M-step:
plain EM makes the posterior probability the next rho, the other rule goes back to the target at every epoch. The paper
holds that both fail to control how many units are left, and modifies the rule.
"""

from __future__ import annotations

import numpy as np

from tdamp.engine.state import State, question
from tdamp.factors.priors.base import prior_logit
from tdamp.training.fitted import active_units

from .loop import Arm

ON = 0.5
"""A unit counts as left if it is more likely on than off."""


class PlainEM(Arm):
    """rho starts at the target and follows the posterior from then on."""

    def __init__(self, target: float) -> None:
        self.prior_logit = prior_logit(target)

    def start(self, state: State) -> State:
        """Only evidence to come counts: the random start is none."""
        return question(state, self.prior_logit, None, from_here=True)

    def n_units(self, state: State) -> int:
        """Units that are more likely on than off."""
        masks = active_units(state)
        probs = [np.asarray(layer.active_prob) for layer in state.layers]
        return sum(int((mask & (p > ON)).sum()) for mask, p in zip(masks, probs, strict=True))


class FixedRho(PlainEM):
    """rho is the target at the beginning of every epoch: what earlier epochs showed is taken off the log-odds."""

    def begin(self, state: State) -> State:
        """Back to the target; the slabs stay, and the biases, which the rule is not about."""
        return question(state, self.prior_logit, None, from_here=True, biases=False)
