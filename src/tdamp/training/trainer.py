"""One training by Algorithm 1, epoch by epoch: sparsity, compaction, the best epoch, and resuming from a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future

import numpy as np
from jax.sharding import Mesh

from ..engine import compact
from ..engine.info import Info
from ..engine.mstep import NOISE_RANGE
from ..engine.network import Network
from ..engine.plan import knobs_of, plan_of
from ..engine.settings import Settings
from ..engine.state import State, is_finite, remove, rows_read, scales_of
from ..engine.state import start as start_at
from .batches import Feed
from .best import Best
from .checkpoint import Stage
from .compaction import order_smaller
from .data import Data
from .devices import check_alike
from .epoch import Epoch
from .events import in_words, log_event, outline
from .fitted import Callback, Fitted, Monitor, active_units
from .history import Record, epoch_record, times_counted
from .outcome import Outcome
from .ranking import Ranking
from .snapshot import arrays_of, state_of
from .sparsity import SEGMENTS, Rank, SparsityControl
from .stored import Stored


class Trainer:
    """One training: the state, the units that remain of the network, and the data it is trained on.

    `groups` are the inputs' group ids; `start` is a training of the same network to continue.
    """

    def __init__(
        self,
        network: Network,
        data: Data | Stored,
        settings: Settings,
        groups: np.ndarray | None,
        seed: int,
        start: Fitted | None,
        mesh: Mesh | None,
    ) -> None:
        self.full_network, self.data, self.settings, self.seed, self.mesh = network, data, settings, seed, mesh
        self.sparsity = SparsityControl(settings, network, groups)
        self.network, self.history, self.fresh = network, list[Record](), start is None
        self.kept = [np.arange(n) for n in network.widths[:-1]]
        if start is None:
            scales = data.scales if isinstance(data, Stored) else scales_of(network, *data)
            self.state = start_at(network, settings, np.random.default_rng(seed), scales, data.x.dtype)
        else:
            self.state, self.network, self.history = start.state, start.network, list(start.history)
            self.kept = list(start.kept)
        self.bucket = compact.bucket_of(settings.prior, network)
        self.smaller: compact.Smaller | None = None
        self.best: Best | None = None
        self.ended: tuple[Outcome, int] | None = None  # with the epoch whose posterior it is
        self.first = len(self.history)
        self.tick: Callable[[float], None] | None = None
        self.sparsity.continue_from(self.state, self._group_of, self.first)
        self._compact(active_units(self.state), self.bucket)

    def train(
        self,
        callback: Callback | None = None,
        monitor: Monitor | None = None,
        tick: Callable[[float], None] | None = None,
        stage: Stage | None = None,
    ) -> Fitted:
        """Run all epochs that are still to come: those after the checkpoint in `stage`, if it has one.

        `tick` is called with the epochs that are over, chunk by chunk.
        """
        resumed = stage is not None and self._resume(stage)
        if self.ended is not None:
            return self._fitted(*self.ended)
        self.feed, self.tick = self._feed(), tick
        if self.fresh and not resumed:
            self.state = self.sparsity.initial(self.state, self._group_of)
        begun, rows = time.perf_counter(), len(self.data.x)
        fields = {"epochs_before": len(self.history), "seed": self.seed}
        fields |= outline(self.full_network, self.settings, rows)
        log_event("start", f"training starts: {self.full_network.widths} on {rows} rows", **fields)
        outcome = self._epochs(callback, monitor, stage)
        if outcome is Outcome.OK:
            outcome = self._verdict()
        best, self.best, self.smaller = self.best, None, None
        if best is not None:
            self.state, self.network, self.kept = best.state, best.network, list(best.kept)
        self._compact(active_units(self.state), bucket=1)
        self.ended = outcome, len(self.history) if best is None else best.at + 1
        if stage is not None:
            self._save(stage)
        fitted = self._fitted(*self.ended)
        result = {"outcome": outcome.name, "epochs": len(self.history), "epoch": fitted.epoch, "units": fitted.n_units}
        log_event("end", f"training ends: {outcome}", **result, seconds=time.perf_counter() - begun)
        return fitted

    def _epochs(self, callback: Callback | None, monitor: Monitor | None, stage: Stage | None) -> Outcome:
        """Epochs until the last one, a callback, the patience or a divergence ends them."""
        for epoch in range(len(self.history), self.first + self.settings.max_epochs):
            started, before = time.perf_counter(), self.state
            info = self._em_iteration(epoch)
            check_alike(self.mesh, f"After epoch {epoch + 1} the posteriors", self.state)
            if not is_finite(self.state):
                self.state = before
                return Outcome.DIVERGED
            self._control_sparsity(epoch + 1)
            self._record(epoch + 1, info, time.perf_counter() - started)
            if monitor is not None:
                self._score(epoch, float(monitor(self._fitted(Outcome.OK))))
            log_event("epoch", f"epoch {epoch + 1}  {in_words(self.history[-1])}", **self.history[-1])
            if callback is not None and callback(epoch + 1, self._fitted(Outcome.OK), self.history[-1]) is True:
                log_event("stop", "a callback ends the training", epoch=epoch + 1, reason="callback")
                break
            if self.best is not None and epoch - self.best.at >= self.settings.patience:
                log_event("stop", f"no better epoch since {self.best.at + 1}", epoch=epoch + 1, reason="patience")
                break
            if stage is not None and stage.is_due:
                self._save(stage)
        return Outcome.OK

    def _score(self, epoch: int, score: float) -> None:
        """Record the monitor's score of an epoch; one that is still to lose units is no candidate for the best."""
        self.history[-1]["held_out"] = score
        if self.sparsity.is_settled(self.state, self._group_of, epoch + 1):
            self.best = Best(score, epoch, self.state, self.network, self.kept).better(self.best)

    def _save(self, stage: Stage) -> None:
        """Write all that changes while training runs into the checkpoint."""
        arrays, best, smaller = arrays_of("now", self.state, self.kept), self.best, self.smaller
        if best is not None:
            arrays |= arrays_of("best", best.state, best.kept)
        words = {
            "widths": self.network.widths,
            "history": self.history,
            "share": self.sparsity.progress,
            "smaller": None if smaller is None else [smaller.widths, smaller.due],
            "best": None if best is None else [best.score, best.at],
            "ended": None if self.ended is None else [self.ended[0].name, self.ended[1]],
        }
        stage.save(len(self.history), arrays, words)

    def _resume(self, stage: Stage) -> bool:
        """Continue from the checkpoint, if there is one."""
        stored = stage.load()
        if stored is None:
            return False
        (arrays, words), like = stored, self.state
        self.state, self.kept = state_of("now", arrays, like)
        self.network = self.full_network.take(self.kept)
        self.history, self.sparsity.progress = words["history"], words["share"]
        if words["smaller"] is not None:
            compiled: Future[None] = Future()
            compiled.set_result(None)  # they are compiled when they are first used
            self.smaller = compact.Smaller(tuple(words["smaller"][0]), words["smaller"][1], compiled)
        if words["best"] is not None:
            score, epoch = words["best"]
            state, kept = state_of("best", arrays, like)
            self.best = Best(score, epoch, state, self.full_network.take(kept), kept)
        if words["ended"] is not None:
            self.ended = Outcome[words["ended"][0]], words["ended"][1]
        return True

    def _em_iteration(self, epoch: int) -> Info:
        """An epoch; the exact rule removes units while it runs."""
        s, by_schedule, tick = self.settings, self.sparsity.by_schedule, self.tick
        run = Epoch(
            self.feed,
            np.random.default_rng((self.seed, epoch)),
            parts=SEGMENTS if s.prunes else 1,
            after=(lambda state, share: self._remove(state, epoch + share)) if by_schedule else None,
            tick=None if tick is None else lambda share: tick(epoch + share),
        )
        plan, knobs = plan_of(self.network, s), knobs_of(s, epoch - self.sparsity.first, float(self.data.weight.sum()))
        self.state, _, info = run.run(plan, knobs, self._group_of, self.state)
        return info

    def _remove(self, state: State, epochs_done: float) -> State:
        """The exact rule during an epoch, as far as its schedule has come."""
        masks, _ = self.sparsity.remaining(state, self._group_of, epochs_done, self._rank(epochs_done))
        return state if masks is None else remove(state, masks, self.network.rigid)

    def _rank(self, epochs_done: float) -> Rank:
        columns, step = self.network.columns(self.kept[0]), round(SEGMENTS * epochs_done)
        return Ranking(self.settings, self.data, self.seed).by(self.network, columns, self._group_of, step)

    def _control_sparsity(self, epochs_done: int) -> None:
        """Question units, remove them by the paper's rule, and compact the arrays when it pays."""
        self.state = self.sparsity.after_warm_up(self.state, self._group_of, epochs_done - 1, epochs_done)
        if self.sparsity.by_paper:
            masks, restart = self.sparsity.remaining(self.state, self._group_of, epochs_done, self._rank(epochs_done))
            self.state = self.state if masks is None else remove(self.state, masks, self.network.rigid)
            if restart:
                self.state = self.sparsity.restarted(self.state, self._group_of)
        if self.settings.prunes:
            self._shrink(active_units(self.state), epochs_done)

    def _shrink(self, active: list[np.ndarray], epochs_done: int) -> None:
        """Have smaller arrays compiled when they pay, and use them when they are due and hold all units."""
        if self.smaller is None:
            self.smaller = order_smaller(self.sparsity, self.state, self.network, self.kept, self.feed, epochs_done)
        if self.smaller is None or epochs_done < self.smaller.due:
            return
        if self.smaller.holds(active):
            self.smaller.compiled.result()
            self._compact(active, self.bucket, self.smaller.widths)
            log_event("compaction", f"arrays of {self.network.widths}", epoch=epochs_done, widths=self.network.widths)
            self.feed = self._feed()
            self.smaller = None
        elif self.sparsity.is_settled(self.state, self._group_of, epochs_done):  # too small for good
            self.smaller = None

    def _feed(self) -> Feed:
        read = rows_read(self.network, self.kept[0], self.state)
        return Feed(self.data, *read, self.settings.chunk_rows, mesh=self.mesh)

    def _compact(self, active: list[np.ndarray], bucket: int, widths: tuple[int, ...] | None = None) -> None:
        self.state, self.network, index = compact.take(self.state, self.network, active, bucket, widths)
        self.kept = [kept[i] for kept, i in zip(self.kept, index, strict=True)]

    @property
    def _group_of(self) -> np.ndarray | None:
        return None if (groups := self.sparsity.groups) is None else groups[self.kept[0]]

    def _record(self, epoch: int, info: Info, seconds: float) -> None:
        at = epoch - self.sparsity.first  # of the schedule
        counted = times_counted(self.history, self.settings, at, epoch - self.first)
        rows, weight = float(self.data.weight.sum()), self.settings.data_weight_at(at - 1)
        self.history.append(epoch_record(epoch, seconds, weight, self.state, info, rows, counted))

    def _verdict(self) -> Outcome:
        if self.settings.pruning == "paper" and self.sparsity.is_above_goal(self.state, self._group_of):
            return Outcome.TARGET_NOT_REACHED
        noise_var, scale = np.asarray(self.state.noise_var), np.asarray(self.state.noise_scale)
        return Outcome.NOISE_AT_FLOOR if (noise_var <= scale * NOISE_RANGE[0] * 1.01).any() else Outcome.OK

    def _fitted(self, outcome: Outcome, epoch: int | None = None) -> Fitted:
        epoch = len(self.history) if epoch is None else epoch
        kept, history, prediction = tuple(self.kept), tuple(self.history), self.settings.prediction
        return Fitted(self.network, self.state, kept, history, outcome, epoch, prediction=prediction)
