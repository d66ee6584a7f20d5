"""Sparsity control of a training, alone or at the server of a federation: when units are questioned and removed.

`exact`: a cubic schedule removes the groups whose removal is expected to lose the least log-likelihood
(`engine.ranking`) until the goal is met (`engine.prune.exact`); under a prior that questions groups they are put in
question after `warm_up` epochs. `paper`: the groups' odds begin at rho_0, because what the random
start shows is no evidence; when more groups than the target are surely active these restart at rho_0 and the others are
removed for good (`engine.prune.paper`). A restart leaves the biases' odds as they are.
Paper: Section III-C, Algorithms 1 and 2; errata E9, E11. Oracle: transcriptions of both algorithms, loop by loop.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine import prune
from ..engine.network import Network
from ..engine.prune import Masks
from ..engine.settings import Settings
from ..engine.state import State, question
from ..factors.priors.catalog import PRIORS
from .fitted import active_units

SEGMENTS = 8
"""While units are being removed an epoch is cut into this many parts (into minibatches, if they are fewer), with a few
units removed after each: the remaining ones adapt before the next ones are removed, so that of two redundant units one
stays."""


Rank = Callable[[State], list[np.ndarray]]
"""Gives the expected loss without each unit's group, (units,) for each layer."""


class SparsityControl:
    """Decides which units of a network remain while it is trained.

    `network` is the full network and `groups` are the group ids of all its inputs (None: every input is its own group).
    In the methods, `group_of` are the group ids of those inputs that a `state` still holds.
    """

    def __init__(self, settings: Settings, network: Network, groups: np.ndarray | None) -> None:
        self.settings, self.network, self.groups = settings, network, groups
        self.progress = 0.0  # of the exact rule's schedule, up to which units have been removed
        self.first = 0  # epochs before its schedule begins

    @property
    def by_paper(self) -> bool:
        """Whether units are removed by the paper's rule."""
        return self.settings.prunes and self.settings.pruning == "paper"

    @property
    def by_schedule(self) -> bool:
        """Whether units are removed by the exact rule."""
        return self.settings.prunes and self.settings.pruning == "exact"

    def initial(self, state: State, group_of: np.ndarray | None) -> State:
        """The state to start from: the paper's rule questions all groups and biases before the first epoch.

        A state whose units have been questioned already is returned as it is.
        """
        s = self.settings
        questioned = any(np.isfinite(np.asarray(layer.offset)).any() for layer in state.layers)
        if not PRIORS[s.prior].in_question or s.pruning != "paper" or questioned:
            return state
        return self._question(state, group_of, from_here=True)

    def continue_from(self, state: State, group_of: np.ndarray | None, epochs_done: int) -> None:
        """Begin the exact rule's schedule after so many epochs, if there are units for it to remove from this state."""
        if self.by_schedule:
            active = active_units(state)
            anything = [np.zeros(mask.shape) for mask in active]  # how many go does not depend on the order
            left = prune.exact(self.settings, self.network, active, anything, group_of, 1.0, self.groups)
            self.first = epochs_done if any((a != b).any() for a, b in zip(active, left, strict=True)) else 0

    def progress_at(self, epochs_done: float) -> float:
        """How far the exact rule's schedule has come after so many epochs."""
        return prune.progress(self.settings, epochs_done - self.first)

    def after_warm_up(self, state: State, group_of: np.ndarray | None, before: int, epochs_done: int) -> State:
        """The state with all units questioned, if the warm-up has ended after epoch `before`; else as it is."""
        s = self.settings
        if not PRIORS[s.prior].in_question or s.pruning == "paper" or not before < s.warm_up <= epochs_done:
            return state
        return self._question(state, group_of, from_here=False)

    def remaining(
        self, state: State, group_of: np.ndarray | None, epochs_done: float, rank: Rank
    ) -> tuple[Masks | None, bool]:
        """The units that remain after so many epochs (None: all), and whether they restart (see `restarted`)."""
        if self.by_paper:
            probs = [np.asarray(layer.active_prob) for layer in state.layers]
            return prune.paper(self.settings, self.network, active_units(state), probs, group_of, self.groups)
        progress = self.progress_at(epochs_done)
        if not self.by_schedule or progress <= self.progress:
            return None, False
        self.progress = progress
        active, masks = active_units(state), self.forecast(state, group_of, progress, rank)
        return (masks if any((a != b).any() for a, b in zip(active, masks, strict=True)) else None), False

    def forecast(self, state: State, group_of: np.ndarray | None, progress: float, rank: Rank) -> Masks:
        """The units that the exact rule would leave at this progress, as this state ranks them."""
        losses = rank(state)
        return prune.exact(self.settings, self.network, active_units(state), losses, group_of, progress, self.groups)

    def restarted(self, state: State, group_of: np.ndarray | None) -> State:
        """The paper's restart: every remaining group at rho_0, its evidence counted from here; biases stay."""
        return self._question(state, group_of, from_here=True, biases=False)

    def is_settled(self, state: State, group_of: np.ndarray | None, epochs_done: int) -> bool:
        """Whether no more units will be removed."""
        if self.by_paper:
            return not self.is_above_goal(state, group_of)
        return not self.settings.prunes or self.progress_at(epochs_done) == 1

    def is_above_goal(self, state: State, group_of: np.ndarray | None) -> bool:
        """Whether more groups remain than the goal says."""
        goal = prune.goal_units(self.settings, self.network, self.groups)
        return goal is not None and prune.n_left(active_units(state), group_of) > goal

    def _question(self, state: State, group_of: np.ndarray | None, *, from_here: bool, biases: bool = True) -> State:
        start = PRIORS[self.settings.prior].start_logit(self.settings.init_active_prob)
        return question(state, start, group_of, from_here, biases)
