"""Hostile streams for `partial_fit`: thousands of batches whose scale drifts, shifts and bursts.

A stream has a concept (a linear function of unit inputs, or labels by it) that its first batch and its probe rows
follow. What comes after is spoiled. In the end clean batches of the same concept tell whether it can still be learned:
nothing is forgotten by `partial_fit`, so that old rows weigh as much as new ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tdamp.estimators import TDAMPClassifier, TDAMPRegressor
from tdamp.training.outcome import Outcome

from . import faults
from .plan import Plan

STREAM = 3
INPUTS = 6
CLASSES = 4
FIRST, MOST, PROBE = 56, 24, 50
"""Rows of the first batch, rows of a later one at most, and rows that are predicted for every snapshot."""
DECADES = 6.0
"""The drifting scale stays within 1e-6 and 1e6 of the first batch's."""
STEP = 0.1
"""Standard deviation of its steps, in decades: it crosses the whole range some ten times in 10,000 batches."""


class Kind(NamedTuple):
    """A stream: its task, and whether its batches are spoiled in other ways besides the drift of their scale."""

    task: str
    spoiled: bool


KINDS = {
    "regression, all": Kind("regression", True),
    "classification, all": Kind("classification", True),
    "regression, drift": Kind("regression", False),
    "classification, drift": Kind("classification", False),
}
Batch = tuple[np.ndarray, np.ndarray]


class Concept(NamedTuple):
    """What is to be learned."""

    task: str
    weight: np.ndarray

    def rows(self, rng: np.random.Generator, n: int) -> Batch:
        """Clean ones."""
        x = rng.standard_normal((n, INPUTS))
        z = x @ self.weight + 0.3 * rng.standard_normal((n, self.weight.shape[1]))
        return x, z[:, 0] if self.task == "regression" else z.argmax(1)


def concept_of(kind: Kind, rng: np.random.Generator) -> Concept:
    """A random one."""
    outputs = 1 if kind.task == "regression" else CLASSES
    return Concept(kind.task, rng.standard_normal((INPUTS, outputs)) / np.sqrt(INPUTS))


def batches(kind: Kind, concept: Concept, rng: np.random.Generator, count: int) -> Iterator[Batch]:
    """The first is clean; then the inputs' scale walks at random, and anything may happen."""
    yield concept.rows(rng, FIRST)
    decade, shift, favourite = 0.0, np.zeros(INPUTS), 0
    for _ in range(count - 1):
        x, y = concept.rows(rng, int(rng.integers(1, MOST + 1)))
        decade = _reflected(decade + STEP * rng.standard_normal())
        if kind.spoiled:
            if rng.random() < 0.01:  # a sudden shift, which stays
                shift = 10.0 ** rng.uniform(-2, 3) * rng.standard_normal(INPUTS)
                favourite = int(rng.integers(CLASSES))
            x, y = _spoiled(rng, x + shift, y, kind.task, favourite)
        yield x * 10.0**decade, y


def _reflected(decade: float) -> float:
    """Back from the ends of its range."""
    return 2 * np.sign(decade) * DECADES - decade if abs(decade) > DECADES else decade


def _spoiled(rng: np.random.Generator, x: np.ndarray, y: np.ndarray, task: str, favourite: int) -> Batch:
    """Each with a probability: one row, one row many times, flipped or favoured labels, a burst of noise or size."""
    if rng.random() < 0.1:
        x, y = x[:1], y[:1]
    if rng.random() < 0.1:
        x, y = np.repeat(x[:1], len(x), 0), np.repeat(y[:1], len(y), 0)
    if rng.random() < 0.05:
        x = np.zeros_like(x)
    if task == "classification":
        if rng.random() < 0.2:
            y = (y + 1) % CLASSES
        if rng.random() < 0.5:
            y = np.where(rng.random(len(y)) < 0.95, favourite, y)
        return x, y
    if rng.random() < 0.1:
        y = -y
    if rng.random() < 0.05:
        y = y + 10.0 ** rng.uniform(-2, 6) * rng.standard_cauchy(len(y))
    if rng.random() < 0.05:
        y = np.full_like(y, y[0])
    return x, y


def run(name: str, plan: Plan, tick: Any) -> dict[str, Any]:
    """Train on the stream with snapshots every so often, then on clean batches."""
    kind = KINDS[name]
    rng = np.random.default_rng([STREAM, list(KINDS).index(name)])
    concept = concept_of(kind, rng)
    probe = concept.rows(rng, PROBE)
    model = _model(kind)
    snapshots, wrong, outcomes = [], [], dict.fromkeys((outcome.name for outcome in Outcome), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        for number, (x, y) in enumerate(batches(kind, concept, rng, plan.batches), 1):
            _learn(model, kind, x, y)
            outcomes[model.fitted_.outcome.name] += 1
            if number % plan.snapshot_every == 0 or number in (1, plan.batches):
                snapshots.append(_snapshot(model, number, x, y, probe))
                wrong += [f"batch {number}: {fault}" for fault in snapshots[-1].pop("faults")]
                tick(f"{name}, batch {number}")
        clean = [concept.rows(rng, MOST) for _ in range(plan.clean)]
        fresh = _model(kind)
        _learn(fresh, kind, *concept.rows(rng, FIRST))
        for x, y in clean:
            _learn(model, kind, x, y)
            _learn(fresh, kind, x, y)
        after = _snapshot(model, plan.batches + plan.clean, *clean[-1], probe)
    wrong += [f"after clean batches: {fault}" for fault in after.pop("faults")]
    return {
        "kind": "stream",
        "stream": name,
        "batches": plan.batches,
        "looks": snapshots,  # the name in stored runs
        "faults": wrong,
        "outcomes": outcomes,
        "after_clean": after,
        "fresh_log_score": float(fresh.log_score(*probe)),
        "fresh_score": float(fresh.score(*probe)),
    }


def _model(kind: Kind) -> Any:
    make = TDAMPRegressor if kind.task == "regression" else TDAMPClassifier
    return make((16, 8), batch_size=8, random_state=0)


def _learn(model: Any, kind: Kind, x: np.ndarray, y: np.ndarray) -> None:
    model.partial_fit(x, y, **({"classes": np.arange(CLASSES)} if kind.task == "classification" else {}))


def _snapshot(model: Any, number: int, x: np.ndarray, y: np.ndarray, probe: Batch) -> dict[str, Any]:
    """Faults, and how the model does on the probe rows; `doubt` is the median of variance / base variance."""
    fitted = model.fitted_
    snapshot: dict[str, Any] = {
        "batch": number,
        "faults": faults.of_fitted(fitted) + faults.of_estimator(model, x, probe[0], y),
        "log_score": float(model.log_score(*probe)),
        "score": float(model.score(*probe)),
        "noise_var": float(np.mean(fitted.state.noise_var)),
        "doubt": float(np.median(np.concatenate([np.ravel(l.weight.var / l.base_var) for l in fitted.state.layers]))),
    }
    if isinstance(model, TDAMPRegressor):
        predicted = model.predict_distribution(probe[0])
        snapshot |= {
            "least_std": float(predicted.std.min()),
            "least_epistemic_std": float(predicted.epistemic_std.min()),
        }
    return snapshot
