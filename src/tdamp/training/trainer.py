"""One run of Algorithm 1, epoch by epoch: pruning, compaction, the best epoch, and going on from a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from math import exp, isfinite
from typing import NamedTuple

import numpy as np
from jax.sharding import Mesh

from ..engine import compact, prune
from ..engine.info import Info
from ..engine.mstep import NOISE_RANGE
from ..engine.network import Network
from ..engine.plan import knobs_of, plan_of
from ..engine.settings import Settings
from ..engine.state import State, evidence, is_finite, question, remove, scales_of
from ..engine.state import start as start_at
from ..factors.priors.catalog import PRIORS
from .batches import Feed
from .checkpoint import Stage
from .compiled import in_background
from .data import Data
from .devices import check_alike
from .epoch import Epoch, prepare
from .events import in_words, outline, tell
from .fitted import Callback, Fitted, Monitor, active_units
from .outcome import Outcome
from .snapshot import arrays_of, state_of
from .stored import Stored

SEGMENTS = 8
"""While units are being removed an epoch is cut into this many parts (into minibatches, if they are fewer), with a few
units removed after each: those that remain take over before the next ones go, so that of two that say the same one
stays."""


class _Best(NamedTuple):
    """The epoch that the monitor liked best."""

    score: float
    epoch: int
    state: State
    network: Network
    kept: list[np.ndarray]


class Run:
    """One training: the state, what remains of the network, and the data it is trained on."""

    def __init__(
        self,
        network: Network,
        data: Data | Stored,
        settings: Settings,
        ids: np.ndarray | None,
        seed: int,
        start: Fitted | None,
        mesh: Mesh | None,
        stage: Stage | None,
        tick: Callable[[float], None] | None,
    ) -> None:
        self.asked, self.data, self.settings, self.ids, self.seed, self.mesh = network, data, settings, ids, seed, mesh
        self.tick = tick
        self.share = 0.0  # of the way to the goal that has been gone
        self.network, self.history = network, []
        self.kept = [np.arange(n) for n in network.widths[:-1]]
        if start is None:
            scales = data.scales if isinstance(data, Stored) else scales_of(network, *data)
            self.state = start_at(network, settings, np.random.default_rng(seed), scales, data.x.dtype)
        else:
            self.state, self.network, self.history = start.state, start.network, list(start.history)
            self.kept = list(start.kept)
        self.bucket = compact.BUCKET if PRIORS[settings.prior].pads else 1
        self.smaller: compact.Smaller | None = None
        self.best: _Best | None = None
        self.ended: tuple[Outcome, int] | None = None  # with the epoch whose posterior it is
        self.first = len(self.history)
        self._compact(active_units(self.state), self.bucket)
        self.stage = stage
        resumed = stage is not None and self._take_up(stage)
        if self.ended is not None:
            return
        self.feed = self._feed()
        if not resumed and start is None and PRIORS[settings.prior].in_question and settings.pruning == "paper":
            self._question(from_here=True)

    def train(self, callback: Callback | None, monitor: Monitor | None) -> Fitted:
        """All epochs that are still to come."""
        if self.ended is not None:
            return self._fitted(*self.ended)
        outcome, begun = Outcome.OK, time.perf_counter()
        first, done, rows = self.first, len(self.history), len(self.data.x)
        fields = {"epochs_before": done, "seed": self.seed, **outline(self.asked, self.settings, rows)}
        tell("start", f"training starts: {self.asked.widths} on {rows} rows", **fields)
        for epoch in range(done, first + self.settings.max_epochs):
            started, before = time.perf_counter(), self.state
            info = self._em_iteration(epoch)
            check_alike(self.mesh, f"After epoch {epoch + 1} the posteriors", self.state)
            if not is_finite(self.state):
                self.state, outcome = before, Outcome.DIVERGED
                break
            self._control_sparsity(epoch + 1)
            self._record(epoch + 1, epoch + 1 - first, info, time.perf_counter() - started)
            if monitor is not None:
                score = float(monitor(self._fitted(outcome)))
                self.history[-1]["held_out"] = score
                best = self.best
                if self._is_settled and (best is None or score > best.score or not isfinite(best.score)):
                    self.best = _Best(score, epoch, self.state, self.network, self.kept)
            tell("epoch", f"epoch {epoch + 1}  {in_words(self.history[-1])}", **self.history[-1])
            if callback is not None and callback(epoch + 1, self._fitted(outcome), self.history[-1]) is True:
                tell("stop", "a callback ends the training", epoch=epoch + 1, reason="callback")
                break
            if self.best is not None and epoch - self.best.epoch >= self.settings.patience:
                tell("stop", f"no better epoch since {self.best.epoch + 1}", epoch=epoch + 1, reason="patience")
                break
            if self.stage is not None and self.stage.is_due:
                self._keep(self.stage)
        if outcome is Outcome.OK:
            outcome = self._verdict()
        best, self.best, self.smaller = self.best, None, None
        if best is not None:
            self.state, self.network, self.kept = best.state, best.network, best.kept
        self._compact(active_units(self.state), bucket=1)
        self.ended = outcome, len(self.history) if best is None else best.epoch + 1
        if self.stage is not None:
            self._keep(self.stage)
        fitted = self._fitted(*self.ended)
        found = {"outcome": outcome.name, "epochs": len(self.history), "epoch": fitted.epoch, "units": fitted.n_units}
        tell("end", f"training ends: {outcome}", **found, seconds=time.perf_counter() - begun)
        return fitted

    def _keep(self, stage: Stage) -> None:
        """All that changes while training runs, into the checkpoint."""
        arrays, best, smaller = arrays_of("now", self.state, self.kept), self.best, self.smaller
        if best is not None:
            arrays |= arrays_of("best", best.state, best.kept)
        words = {
            "widths": self.network.widths,
            "history": self.history,
            "share": self.share,
            "smaller": None if smaller is None else [smaller.widths, smaller.due],
            "best": None if best is None else [best.score, best.epoch, best.network.widths],
            "ended": None if self.ended is None else [self.ended[0].name, self.ended[1]],
        }
        stage.save(len(self.history), arrays, words)

    def _take_up(self, stage: Stage) -> bool:
        """Go on from the checkpoint, if there is one."""
        found = stage.load()
        if found is None:
            return False
        arrays, words = found
        like = self.state
        self.state, self.kept = state_of("now", arrays, like)
        self.network = replace(self.network, widths=tuple(words["widths"]))
        self.history, self.share = words["history"], words["share"]
        if words["smaller"] is not None:
            compiled: Future[None] = Future()
            compiled.set_result(None)  # they are compiled when they are first used
            widths, due = words["smaller"]
            self.smaller = compact.Smaller(tuple(widths), due, compiled)
        if words["best"] is not None:
            score, epoch, widths = words["best"]
            state, kept = state_of("best", arrays, like)
            self.best = _Best(score, epoch, state, replace(self.network, widths=tuple(widths)), kept)
        if words["ended"] is not None:
            self.ended = Outcome[words["ended"][0]], words["ended"][1]
        return True

    @property
    def _is_settled(self) -> bool:
        """Whether all units are gone that are to go."""
        s = self.settings
        return not s.prunes or self.share == 1 or (s.pruning == "paper" and not self._is_above_goal)

    @property
    def _is_above_goal(self) -> bool:
        """Whether more groups are left than were asked for."""
        goal = prune.goal_units(self.settings, self.asked, self.ids)
        return goal is not None and prune.n_left(active_units(self.state), self._group_of) > goal

    def _em_iteration(self, epoch: int) -> Info:
        """An epoch; the exact rule removes units while it runs."""
        s = self.settings
        exact = s.prunes and s.pruning == "exact"
        epoch_run = Epoch(
            self.feed,
            np.random.default_rng((self.seed, epoch)),
            parts=SEGMENTS if s.prunes else 1,
            after=(lambda state, share: self._remove(state, epoch + share)) if exact else None,
            tick=(lambda share: tick(epoch + share)) if (tick := self.tick) is not None else None,
        )
        plan, knobs = plan_of(self.network, s), knobs_of(s, epoch, float(self.data.weight.sum()))
        self.state, _, info = epoch_run.run(plan, knobs, self._group_of, self.state)
        return info

    def _control_sparsity(self, epochs_done: int) -> None:
        """Put units in question, remove the ones that go, and compact the arrays when it pays."""
        s = self.settings
        if PRIORS[s.prior].in_question and s.pruning != "paper" and epochs_done == s.warm_up:
            self._question(from_here=False)
        if not s.prunes:
            return
        if s.pruning == "paper":
            probs = [np.asarray(layer.active_prob) for layer in self.state.layers]
            remaining, acted = prune.paper(s, self.asked, active_units(self.state), probs, self._group_of, self.ids)
            self.state = remove(self.state, remaining)
            if acted:  # the paper resets the weights' probabilities, not the biases'
                self._question(from_here=True, biases=False)
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
            tell("compaction", f"arrays of {self.network.widths}", epoch=epochs_done, widths=self.network.widths)
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
        centre = np.asarray(self.state.layers[0].centre)
        return Feed(self.data, self.kept[0], centre, self.settings.chunk_rows, mesh=self.mesh)

    def _compact(self, active: list[np.ndarray], bucket: int, widths: tuple[int, ...] | None = None) -> None:
        self.state, self.network, index = compact.take(self.state, self.network, active, bucket, widths)
        self.kept = [kept[i] for kept, i in zip(self.kept, index, strict=True)]

    def _question(self, from_here: bool, biases: bool = True) -> None:
        start = PRIORS[self.settings.prior].start_logit(self.settings.init_active_prob)
        self.state = question(self.state, start, self._group_of, from_here, biases)

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
        if self.settings.pruning == "paper" and self._is_above_goal:
            return Outcome.TARGET_NOT_REACHED
        noise_var, scale = np.asarray(self.state.noise_var), np.asarray(self.state.noise_scale)
        return Outcome.NOISE_AT_FLOOR if (noise_var <= scale * NOISE_RANGE[0] * 1.01).any() else Outcome.OK

    def _fitted(self, outcome: Outcome, epoch: int | None = None) -> Fitted:
        epoch = len(self.history) if epoch is None else epoch
        kept, history, prediction = tuple(self.kept), tuple(self.history), self.settings.prediction
        return Fitted(self.network, self.state, kept, history, outcome, epoch, prediction=prediction)
