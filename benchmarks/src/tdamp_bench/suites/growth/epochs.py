"""Seconds of single epochs of many networks, in turn: a slow minute of the machine then falls on all of them alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tdamp.engine.network import Network, n_multiply_adds
from tdamp.engine.settings import Settings
from tdamp.engine.state import init, remove
from tdamp.training.fit import Fitted, fit
from tdamp.training.outcome import Outcome

from ...core.progress import Tick
from ...methods.baselines import gemm
from .plan import Plan


@dataclass(frozen=True)
class Case:
    """A training to be timed: `at` is its place on the axis of its series."""

    series: str
    at: float
    widths: tuple[int, ...]
    rows: int
    keep: float = 1.0

    @property
    def kept_widths(self) -> tuple[int, ...]:
        """Of the arrays that are left, before padding."""
        return (*(max(1, round(self.keep * n)) for n in self.widths[:-1]), self.widths[-1])


def cases_of(plan: Plan) -> list[Case]:
    """All series."""
    ends = plan.inputs, plan.classes

    def widths(*hidden: int) -> tuple[int, ...]:
        return ends[0], *hidden, ends[1]

    cases = [Case("rows", n, widths(plan.hidden), n) for n in plan.rows]
    cases += [Case("width", n, widths(n), plan.width_rows) for n in plan.width]
    cases += [Case("depth", n, widths(*(plan.depth_hidden,) * n), plan.depth_rows) for n in plan.depth]
    return cases + [Case("kept", k, widths(plan.kept_hidden), plan.kept_rows, k) for k in plan.kept]


def digits(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Random rows of MNIST's shape: what is in them does not change the time."""
    rng = np.random.default_rng(0)
    rows = max(*plan.rows, plan.width_rows, plan.depth_rows, plan.kept_rows)
    return rng.random((rows, plan.inputs), np.float32), rng.integers(0, plan.classes, rows).astype(np.int32)


class Timed:
    """A training that goes on for one epoch at a time."""

    def __init__(self, case: Case, settings: Settings, x: np.ndarray, y: np.ndarray) -> None:
        self.case, self.settings = case, replace(settings, max_epochs=1)
        self.x, self.y = x[: case.rows], y[: case.rows]
        self.network = Network(case.widths, "classification")
        self.fitted = self._begun()

    def epoch(self) -> float:
        """Seconds of the next one, by the training's own clock."""
        self.fitted = fit(self.network, self.x, self.y, self.settings, start=self.fitted)
        if self.fitted.outcome is Outcome.DIVERGED:
            raise RuntimeError(f"{self.case} diverged: its time means nothing")
        return float(self.fitted.history[-1]["seconds"])

    def _begun(self) -> Fitted:
        """Untrained, the first units of each layer left and the others removed: training compacts the arrays."""
        state = init(self.network, self.settings, np.random.default_rng(0), self.x, self.y)
        left = self.case.kept_widths
        masks = [np.arange(n) < k for n, k in zip(self.network.widths[:-1], left, strict=False)]
        kept = tuple(np.arange(n) for n in self.network.widths[:-1])
        return Fitted(self.network, remove(state, masks), kept, (), Outcome.OK, 0)


def interleaved(cases: Sequence[Timed], plan: Plan, tick: Tick) -> tuple[list[list[float]], list[dict[str, float]]]:
    """Seconds of `plan.repeats` epochs of each case after the warm-up, in turn, and a matrix product in every round."""
    seconds: list[list[float]] = [[] for _ in cases]
    products = []
    for number in range(plan.warmup + plan.repeats):
        for timed, taken_by_case in zip(cases, seconds, strict=True):
            taken = timed.epoch()
            if number >= plan.warmup:
                taken_by_case.append(taken)
            tick(f"{timed.case.series} {timed.case.at:g}, round {number + 1}")
        if number >= plan.warmup:
            products.append(gemm.measure(plan.gemm_size, plan.gemm_repeats))
    return seconds, products


def measured(timed: Timed, seconds: list[float], rate: float) -> dict[str, Any]:
    """What the law is fitted to. The roofline's operations are those of the arrays that are left, without padding."""
    case, widths = timed.case, timed.case.kept_widths
    roofline = gemm.epoch_flops(widths, case.rows) / rate
    return {
        "at": case.at,
        "widths": widths,
        "rows": case.rows,
        "weights": n_multiply_adds(widths),
        "products": gemm.epoch_flops(widths, 1) // 2,
        "seconds": seconds,
        "median": float(np.median(seconds)),
        "least": float(np.min(seconds)),
        "roofline_seconds": roofline,
        "roofline_share": roofline / float(np.median(seconds)),
        "best_roofline_share": roofline / float(np.min(seconds)),
    }
