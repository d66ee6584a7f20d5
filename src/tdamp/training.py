"""Training: Algorithm 1 epoch by epoch on the user's data, with pruning, compaction and a result code."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, isfinite
from typing import Any, NamedTuple

import numpy as np

from . import compact, prune
from .algorithm import Info, knobs_of, plan_of
from .calibration import Calibration
from .checks import Data, check_data, check_groups
from .epoch import em_iteration, prepare
from .feed import Feed
from .mstep import NOISE_RANGE
from .network import Network
from .outcome import Outcome
from .programs import in_background
from .settings import Settings, check_network
from .state import State, evidence, is_finite, prior_logit, question, remove, scales_of
from .state import start as start_at
from .stored import Stored

SEGMENTS = 8
"""While units are being removed an epoch is cut into this many parts (into minibatches, if they are fewer), with a few
units removed after each: those that remain take over before the next ones go, so that of two that say the same one
stays."""


@dataclass(frozen=True)
class Fitted:
    """A network during or after training.

    `kept` are the units of the network asked for that remain, a layer at a time: `kept[0]` are the data columns that
    `state` expects. During training removed units may still lie in the arrays, switched off; after it they are gone.
    """

    network: Network
    state: State
    kept: tuple[np.ndarray, ...]
    history: tuple[dict[str, Any], ...]
    outcome: Outcome
    epoch: int  # whose posterior this is, counted from 1
    calibration: Calibration | None = None  # of a regression, from rows that were not trained on

    @property
    def inputs(self) -> np.ndarray:
        """The data columns that `state` expects."""
        return self.kept[0]

    @property
    def n_units(self) -> int:
        """Inputs and hidden units that remain."""
        return _n_active(self.state)


Callback = Callable[[int, Fitted, dict[str, Any]], Any]
Monitor = Callable[[Fitted], float]


def fit(
    network: Network,
    x: np.ndarray,
    y: np.ndarray,
    settings: Settings | None = None,
    *,
    seed: int = 0,
    sample_weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    callback: Callback | None = None,
    monitor: Monitor | None = None,
    start: Fitted | None = None,
) -> Fitted:
    """Train a network by Algorithm 1.

    `groups` gives each input a group id: inputs of one group stay or go together. `callback(epoch, fitted, record)` is
    called after every epoch and ends the training by giving back True. `monitor(fitted)` gives the score of an epoch,
    such as the log score of rows held out: the best epoch's posterior is returned, and training ends when
    `settings.patience` epochs brought nothing better (while units are being removed no epoch counts). `start` goes on
    from a training of the same network, its epochs counted on: its posterior is the prior.
    Bad data raise ValueError; a training that goes wrong says so in `outcome` and still returns a finite posterior.
    """
    settings = settings or Settings()
    check_network(network)
    if seed < 0:
        raise ValueError(f"seed={seed}: expected a whole number of at least 0")
    data = check_data(network, x, y, sample_weight)
    return fit_checked(network, data, settings, seed, groups, callback, monitor, start)


def fit_checked(
    network: Network,
    data: Data | Stored,
    settings: Settings,
    seed: int,
    groups: np.ndarray | None = None,
    callback: Callback | None = None,
    monitor: Monitor | None = None,
    start: Fitted | None = None,
    tick: Callable[[float], None] | None = None,
) -> Fitted:
    """`fit` on data that have been checked; they may lie in files, and then `settings.chunk_rows` should be set.

    `tick` is told the epochs that are over, chunk by chunk.
    """
    ids = check_groups(groups, network.widths[0])
    if ids is not None and settings.prior == "burst":
        raise ValueError('prior="burst" runs over single units: leave out groups, or use prior="group"')
    prune.check_goal(settings, network, ids)
    run = _Run(network, data, settings, ids, seed, start)
    run.tick = tick
    return run.train(callback, monitor)


class _Best(NamedTuple):
    """The epoch that the monitor liked best."""

    score: float
    epoch: int
    state: State
    network: Network
    kept: list[np.ndarray]


class _Run:
    """One training: the state, what remains of the network, and the data it is trained on."""

    def __init__(
        self,
        network: Network,
        data: Data | Stored,
        settings: Settings,
        ids: np.ndarray | None,
        seed: int,
        start: Fitted | None,
    ) -> None:
        self.tick: Callable[[float], None] | None = None
        self.asked, self.data, self.settings, self.ids, self.seed = network, data, settings, ids, seed
        self.share = 0.0  # of the way to the goal that has been gone
        self.network, self.history = network, []
        self.kept = [np.arange(n) for n in network.widths[:-1]]
        if start is None:
            scales = data.scales if isinstance(data, Stored) else scales_of(network.task, *data)
            self.state = start_at(network, settings, np.random.default_rng(seed), scales, data.x.dtype)
        else:
            self.state, self.network, self.history = start.state, start.network, list(start.history)
            self.kept = list(start.kept)
        self.bucket = 1 if settings.prior == "burst" else compact.BUCKET  # a chain would feel units put at its end
        self.smaller: compact.Smaller | None = None
        self._compact(active_units(self.state), self.bucket)
        self.feed = self._feed()
        if start is None and settings.prior != "gaussian" and settings.pruning == "paper":
            self._question(from_here=True)

    def train(self, callback: Callback | None, monitor: Monitor | None) -> Fitted:
        outcome = Outcome.OK
        first = len(self.history)
        best: _Best | None = None
        for epoch in range(first, first + self.settings.max_epochs):
            started, before = time.perf_counter(), self.state
            info = self._em_iteration(epoch)
            if not is_finite(self.state):
                self.state, outcome = before, Outcome.DIVERGED
                break
            self._control_sparsity(epoch + 1)
            self._record(epoch + 1, epoch + 1 - first, info, time.perf_counter() - started)
            if monitor is not None:
                score = float(monitor(self._fitted(outcome)))
                self.history[-1]["held_out"] = score
                if self._is_settled and (best is None or score > best.score or not isfinite(best.score)):
                    best = _Best(score, epoch, self.state, self.network, self.kept)
            if callback is not None and callback(epoch + 1, self._fitted(outcome), self.history[-1]) is True:
                break
            if best is not None and epoch - best.epoch >= self.settings.patience:
                break
        if outcome is Outcome.OK:
            outcome = self._verdict()
        if best is not None:
            self.state, self.network, self.kept = best.state, best.network, best.kept
        self._compact(active_units(self.state), bucket=1)
        return self._fitted(outcome, None if best is None else best.epoch + 1)

    @property
    def _is_settled(self) -> bool:
        """Whether all units are gone that are to go."""
        s = self.settings
        goal = prune.goal_units(s, self.asked, self.ids)
        return not s.prunes or self.share == 1 or (s.pruning == "paper" and _n_active(self.state) <= (goal or 0))

    def _em_iteration(self, epoch: int) -> Info:
        """An epoch; the exact rule removes units while it runs."""
        s = self.settings
        exact = s.prunes and s.pruning == "exact"
        self.state, _, info = em_iteration(
            plan_of(self.network, s),
            knobs_of(s, epoch, float(self.data.weight.sum())),
            self._group_of,
            self.state,
            self.feed,
            np.random.default_rng((self.seed, epoch)),
            parts=SEGMENTS if s.prunes else 1,
            between=(lambda state, share: self._remove(state, epoch + share)) if exact else None,
            tick=(lambda share: tick(epoch + share)) if (tick := self.tick) is not None else None,
        )
        return info

    def _control_sparsity(self, epochs_done: int) -> None:
        """Put units in question, remove the ones that go, and compact the arrays when it pays."""
        s = self.settings
        if s.prior != "gaussian" and s.pruning != "paper" and epochs_done == s.warm_up:
            self._question(from_here=False)
        if not s.prunes:
            return
        if s.pruning == "paper":
            probs = [np.asarray(layer.active_prob) for layer in self.state.layers]
            remaining, acted = prune.paper(s, self.asked, active_units(self.state), probs)
            self.state = remove(self.state, remaining)
            if acted:
                self._question(from_here=True)
        self._shrink(active_units(self.state), epochs_done)

    def _shrink(self, active: list[np.ndarray], epochs_done: int) -> None:
        """Have smaller arrays compiled when they pay, and use them when they are due and hold all units."""
        if self.smaller is None:
            self.smaller = self._order_smaller(active, epochs_done)
        if self.smaller is None or epochs_done < self.smaller.due:
            return
        if self.smaller.holds(active):
            self.smaller.compiled.result()
            self._compact(active, self.bucket, self.smaller.widths)
            self.feed = self._feed()
            self.smaller = None
        elif self._is_settled:  # too small, and no unit will go any more
            self.smaller = None

    def _order_smaller(self, active: list[np.ndarray], epochs_done: int) -> compact.Smaller | None:
        """Smaller arrays for the units that will be left when they are compiled, if they pay: compiled from now on.

        A chain of the burst prior has no room for more than its units: it is compiled for those of now, and waits.
        """
        s, rows, waits = self.settings, len(self.data.x), self.bucket == 1
        due = epochs_done + (0 if waits else compact.epochs_to_compile(self.network, rows))
        if not compact.pays(self.network, active, rows * (s.max_epochs - due)):
            return None
        expected = active
        if s.pruning == "exact" and not waits:
            expected = self._remaining(self.state, prune.progress(s, due))
        widths = None if waits else compact.room(self.network, expected, self.bucket)
        state, network, index = compact.take(self.state, self.network, expected, self.bucket, widths)
        group_of = None if self.ids is None else self.ids[self.kept[0][index[0]]]
        plan, knobs, feed = plan_of(network, s), knobs_of(s, due, float(self.data.weight.sum())), self.feed

        def compile_all() -> None:
            prepare(plan, knobs, group_of, state, feed, SEGMENTS)
            evidence(state, group_of)

        return compact.Smaller(network.widths, due, in_background(compile_all))

    def _remove(self, state: State, epochs_done: float) -> State:
        """The exact rule, as far as its schedule has come."""
        share = prune.progress(self.settings, epochs_done)
        if share <= self.share:
            return state
        self.share = share
        active, masks = active_units(state), self._remaining(state, share)
        return remove(state, masks) if any((a != b).any() for a, b in zip(active, masks, strict=True)) else state

    def _remaining(self, state: State, share: float) -> list[np.ndarray]:
        """The units that the exact rule leaves at a share of its way, by the evidence of this state."""
        found = evidence(state, self._group_of)
        return prune.exact(self.settings, self.asked, active_units(state), found, self._group_of, share, self.ids)

    def _feed(self) -> Feed:
        return Feed(self.data, self.kept[0], np.asarray(self.state.layers[0].centre), self.settings.chunk_rows)

    def _compact(self, active: list[np.ndarray], bucket: int, widths: tuple[int, ...] | None = None) -> None:
        self.state, self.network, index = compact.take(self.state, self.network, active, bucket, widths)
        self.kept = [kept[i] for kept, i in zip(self.kept, index, strict=True)]

    def _question(self, from_here: bool) -> None:
        prob = self.settings.init_active_prob
        start = 0.0 if self.settings.prior == "burst" else prior_logit(prob)
        self.state = question(self.state, start, self._group_of, from_here)

    @property
    def _group_of(self) -> np.ndarray | None:
        return None if self.ids is None else self.ids[self.kept[0]]

    def _record(self, epoch: int, passes: int, info: Info, seconds: float) -> None:
        s = self.settings
        active = [int(mask.sum()) for mask in active_units(self.state)]
        self.history.append(
            {
                "epoch": epoch,
                "seconds": seconds,
                "data_weight": s.data_weight_at(epoch - 1),
                "counted": self._counted(epoch, passes),
                "noise_var": np.asarray(self.state.noise_var).tolist(),
                "log_evidence": float(info.log_evidence) / float(self.data.weight.sum()),
                "active_units": active,
                **{name: int(count) for name, count in info.clips._asdict().items()},
                "noise_clips": int(info.noise_clips),
            }
        )

    def _counted(self, epoch: int, passes: int) -> float:
        """How often the posterior counts each datum by now: on its way to data_weight, as fast as memory lets it."""
        s = self.settings
        if s.pasp == "paper":
            return float(passes)
        before = self.history[-1]["counted"] if self.history else 0.0
        kept = exp(-1 / s.memory_at(epoch - 1))
        return kept * before + (1 - kept) * s.data_weight_at(epoch - 1)

    def _verdict(self) -> Outcome:
        goal = prune.goal_units(self.settings, self.asked, self.ids)
        if self.settings.pruning == "paper" and goal is not None and sum(self.history[-1]["active_units"]) > goal:
            return Outcome.TARGET_NOT_REACHED
        noise_var, scale = np.asarray(self.state.noise_var), np.asarray(self.state.noise_scale)
        return Outcome.NOISE_AT_FLOOR if (noise_var <= scale * NOISE_RANGE[0] * 1.01).any() else Outcome.OK

    def _fitted(self, outcome: Outcome, epoch: int | None = None) -> Fitted:
        epoch = len(self.history) if epoch is None else epoch
        return Fitted(self.network, self.state, tuple(self.kept), tuple(self.history), outcome, epoch)


def _n_active(state: State) -> int:
    return sum(int(mask.sum()) for mask in active_units(state))


def active_units(state: State) -> list[np.ndarray]:
    """Which units of each layer are there, those not removed."""
    return [np.asarray(layer.offset) > -np.inf for layer in state.layers]
