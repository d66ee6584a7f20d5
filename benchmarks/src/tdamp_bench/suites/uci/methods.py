"""Who takes part: tdamp with its defaults, and five peers. What a peer tunes on which rows stands in its own module."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tdamp.estimators import TDAMPRegressor

from .tasks import Answer, Peer, Task, standardised

QUICK_EPOCHS = 3


@dataclass(frozen=True)
class Method:
    """How it is called, the module and function among the baselines, and the most training rows it is asked to bear."""

    label: str
    module: str = ""
    most_rows: int | None = None
    function: str = "predict"

    def peer(self) -> Peer:
        """What answers; imports its library, and says so if that is missing."""
        if not self.module:
            return ours
        return standardised(
            getattr(importlib.import_module(f"...methods.baselines.{self.module}", __package__), self.function)
        )


METHODS = {
    "tdamp": Method("tdamp"),
    "gp": Method("GP", "gaussian_process", most_rows=1500),
    "pytagi": Method("pytagi", "pytagi_regression"),
    "ensemble": Method("ensemble", "deep_ensemble"),
    "ensemble_adamw": Method("ensemble, AdamW", "deep_ensemble", function="predict_adamw"),
    "laplace": Method("Laplace", "laplace_net"),
}


class Fitted:
    """The predictive distribution of a fitted estimator at the test rows, a Student's t."""

    def __init__(self, model: TDAMPRegressor, x_test: np.ndarray) -> None:
        self.model, self.x_test = model, x_test
        self.mean: np.ndarray = model.predict(x_test)

    def log_score(self, y: np.ndarray) -> float:
        """Mean over rows of the log density of y."""
        return self.model.log_score(self.x_test, y)

    def interval(self, level: float) -> np.ndarray:
        """The central interval of this probability, (rows, 2)."""
        return self.model.predict_interval(self.x_test, level)


def ours(tasks: Sequence[Task], quick: bool) -> Iterator[Answer]:
    """tdamp as it comes, the same on every table: nothing is set but the size of the network and the random seed."""
    only_quick: dict[str, Any] = {"max_epochs": QUICK_EPOCHS} if quick else {}
    for task in tasks:
        started = time.perf_counter()
        model = TDAMPRegressor((task.hidden,), random_state=task.split, **only_quick).fit(task.x, task.y)
        yield Answer(Fitted(model, task.x_test), time.perf_counter() - started)
