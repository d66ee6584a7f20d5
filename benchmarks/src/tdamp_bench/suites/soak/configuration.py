"""A random configuration: the network's shape up to padding, and everything that a change of would compile anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tdamp.engine.compact import BUCKET
from tdamp.engine.network import Task
from tdamp.factors.activations.catalog import ACTIVATIONS

STREAM = 1
"""Keeps the numbers of a configuration apart from those of its problems."""
INPUTS = 1, 8, 24, 64, 128
HIDDEN = 1, 8, 16, 48, 128
"""Widths; those above 8 are the largest of a bucket of eight that problems draw theirs from."""
DEPTHS = 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6, 8
ROWS = (2, 56), (150, 250)
"""Ranges that are padded to one number of rows, with or without the rows held out, and those far away."""


@dataclass(frozen=True)
class Configuration:
    """What problems share. `face` is the estimators or the engine below them, which is given data as they are."""

    face: str
    task: Task
    noise: str
    activation: str
    inputs: int
    hidden: tuple[int, ...]
    outputs: int  # targets, or classes
    rows: tuple[int, int]
    prior: str
    pasp: str
    keep: float | tuple[float, ...] | None
    pruning: str
    grouped: bool
    batch_size: int
    many_sweeps: bool
    noise_update: str
    noise_every: str
    learn_base_var: bool
    early_stopping: bool

    def widths(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Of one problem, inputs first, without the outputs; the burst prior is not padded, so its are all alike."""
        most = (self.inputs, *self.hidden)
        return most if self.prior == "burst" else tuple(_within(rng, n) for n in most)


def draw(index: int) -> Configuration:
    """The same for the same index."""
    rng = np.random.default_rng([STREAM, index])

    def one(choices: Any, p: Any = None) -> Any:
        return choices[rng.choice(len(choices), p=p)]

    task = one(("regression", "classification"))
    face = one(("estimator", "engine"))
    depth = one(DEPTHS)
    prior = one(("gaussian", "group", "burst"), (0.5, 0.3, 0.2))
    keep = one((None, 0.5, 0.2, (0.6,) * (depth + 1)), (0.6, 0.2, 0.1, 0.1))
    hidden, inputs = tuple(one(HIDDEN) for _ in range(depth)), one(INPUTS)
    if isinstance(keep, float):  # which layer's units go is then open: a deep network would end in too many shapes
        keep = keep if depth == 1 and keep * (inputs + sum(hidden)) >= 2 * BUCKET else None
    pruning = "exact"
    if prior == "group" and depth == 1 and keep is not None:  # the paper's rule wants a share of all units
        keep, pruning = 0.5, "paper"
    regression = task == "regression"
    return Configuration(
        face=face,
        task=task,
        noise=one(("constant", "varying")) if regression else "constant",
        activation=one(tuple(ACTIVATIONS)),
        inputs=inputs,
        hidden=hidden,
        outputs=one((1, 1, 3) if regression else (2, 3, 10)),
        rows=one(ROWS),
        prior=prior,
        pasp=one(("anchored", "paper"), (0.7, 0.3)),
        keep=keep,
        pruning=pruning,
        grouped=prior != "burst" and keep is None and inputs > 1 and bool(rng.random() < 0.3),
        batch_size=one((1, 8, 16, 64)),
        many_sweeps=bool(rng.random() < 0.4),
        noise_update=one(("em", "numerical", "fixed"), (0.7, 0.2, 0.1)),
        noise_every=one(("minibatch", "epoch")),
        learn_base_var=bool(rng.random() < 0.3),
        early_stopping=bool(rng.random() < 0.3),
    )


def _within(rng: np.random.Generator, most: int) -> int:
    return most if most <= BUCKET else int(rng.integers(most - BUCKET + 1, most + 1))
