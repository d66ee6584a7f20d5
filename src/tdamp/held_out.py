"""Rows held out of training: they say which epoch is best, and how wide a regression's predictions must be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from . import blocks, calibration
from .calibration import LEAST_DOF, Calibration, Level, Predicted
from .checks import Data
from .fitted import Fitted
from .looks import Looks
from .needed import some_rows


class Look(NamedTuple):
    """A regression after an epoch: what it predicts for the rows, their log scores, and its level on its own rows."""

    found: Predicted
    each: np.ndarray
    level: Level


@dataclass(frozen=True)
class HeldOut:
    """Rows in the engine's units, not trained on; `trained` are (some of) those that were."""

    data: Data
    trained: Data
    looks: list[Look] = field(default_factory=list)  # of a regression

    def score(self, fitted: Fitted) -> float:
        """Mean log score; a regression's is that of its prediction as wide as suits these rows best."""
        x, y, weight = self.data
        if fitted.network.task == "classification":
            return float(np.average(blocks.log_scores(fitted, x, y), weights=weight))
        return self.judge(blocks.predicted(fitted, x), level_of(fitted, self.trained))

    def judge(self, found: Predicted, level: Level) -> float:
        """The same, of a regression's predictions for these rows."""
        each = calibration.best_log_scores(self.data.y, found, self.data.weight)
        self.looks.append(Look(found, each, level))
        return float(np.average(each, weights=self.data.weight))

    def packed(self) -> dict[str, np.ndarray]:
        """The looks, for a checkpoint; their scores follow from them."""
        return Looks((look.found, look.level) for look in self.looks).packed()

    def unpack(self, arrays: dict[str, np.ndarray]) -> None:
        """Look again as a checkpoint says."""
        looks = Looks()
        looks.unpack(arrays)
        self.looks.clear()
        for look in looks:
            self.judge(*look)

    def latest_good(self) -> int:
        """The place of the last look that the rows cannot tell from the best one: within a standard error of the mean
        difference of their scores. Schedules are made to be run to their end; few rows end them by chance."""
        share = self.data.weight / self.data.weight.sum()
        best = max((look.each for look in self.looks), key=lambda each: float(share @ each))
        for place in range(len(self.looks) - 1, -1, -1):
            lost = best - self.looks[place].each
            mean = share @ lost
            if mean <= np.sqrt(share**2 @ (lost - mean) ** 2):
                return place
        raise AssertionError("the best one is as good as itself")

    def calibration(self, fitted: Fitted) -> Calibration | None:
        """Of a regression; None for classes, whose probabilities are left as they are."""
        if fitted.network.task == "classification":
            return None
        return calibration.calibrate(self.data.y, blocks.predicted(fitted, self.data.x), self.data.weight)

    def calibration_at(self, place: int, level: Level) -> Calibration:
        """Found at this look, for a network of another level."""
        look = self.looks[place]
        return calibration.calibrate(self.data.y, look.found, self.data.weight).carried(look.level, level)


def level_of(fitted: Fitted, data: Data) -> Level:
    """On at most `needed.MOST_ROWS` of the rows."""
    some = some_rows(len(data.x))
    return blocks.predicted(fitted, data.x[some]).level(data.weight[some])


def hold_out(data: Data, fraction: float, seed: int) -> tuple[Data, HeldOut] | None:
    """The rows to train on and the others, every class among both where it can be; None when all rows are needed."""
    y = data.y
    stratify = y if y.ndim == 1 and np.unique(y, return_counts=True)[1].min() >= 2 else None
    held = max(int(np.ceil(fraction * len(y))), len(np.unique(y)) if stratify is not None else 1)
    if len(y) - held < held:
        return None
    rows, others = train_test_split(np.arange(len(y)), test_size=held, random_state=seed, stratify=stratify)
    rest = Data(*(a[rows] for a in data))
    return rest, HeldOut(Data(*(a[others] for a in data)), rest)


def without_any(fitted: Fitted, data: Data) -> Calibration | None:
    """Where no row could be spared: nothing is stretched, and the tails are those of a noise level that so few rows
    tell. A row tells of it by the share of the noise in its variance."""
    if fitted.network.task == "classification":
        return None
    found = blocks.predicted(fitted, data.x)
    share = found.noise_var / (found.epistemic_var + found.noise_var)
    one = np.ones(fitted.network.n_targets)
    return Calibration(one, one, LEAST_DOF + data.weight @ share)
