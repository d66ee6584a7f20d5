"""Made-up facts for the report's tests: no training, the same at every call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tdamp.report import Facts, Held
from tdamp.training.outcome import Outcome

NASTY = (
    "<script>alert(1)</script>",
    '" onload="x',
    "a & b",
    "$\\frac{1}{0}$",
    "two\nlines \x00\x1b",
    "年齢 \u202e",
    "-->",
)


def history(epochs: int, widths: tuple[int, ...], outputs: int | None, held_out: bool = True) -> list[dict[str, Any]]:
    """Records as `fit` makes them; noise_var is a list for a regression."""
    records = []
    for epoch in range(1, epochs + 1):
        level = 0.2 + 1 / epoch
        records.append(
            {
                "epoch": epoch,
                "seconds": 0.25,
                "data_weight": 1.0,
                "noise_var": level if outputs is None else [level * (i + 1) for i in range(outputs)],
                "log_evidence": -1.0 - 2 / epoch**2,
                "active_units": [max(1, n - epoch) for n in widths[:-1]],
                "noise_clips": 0,
            }
        )
        if held_out and epoch % 2:
            records[-1]["held_out"] = -1.1 - 1 / epoch
    return records


def probabilities(widths: tuple[int, ...], rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Half of the units removed, the rest of any probability."""
    return tuple(np.where(rng.random(n) < 0.5, 0.0, rng.random(n)) for n in widths[:-1])


def classification(
    n_classes: int = 3, widths: tuple[int, ...] = (16, 12, 8), epochs: int = 20, **changes: Any
) -> Facts:
    """An image classifier with everything filled in."""
    rng = np.random.default_rng(0)
    widths = (*widths[:-1], n_classes)
    probs = rng.dirichlet(np.full(n_classes, 0.4), 90)
    y = np.array([rng.choice(n_classes, p=p) for p in probs])
    side = round(widths[0] ** 0.5)
    path = [
        {
            "keep": k,
            "units": 28 * k,
            "params": 900 * k,
            "error": 0.02 / k,
            "log_score": -0.1 / k,
            "calibration_error": 0.02,
        }
        for k in (1.0, 0.5, 0.25, 0.1)
    ]
    facts = Facts(
        title="Little pictures",
        task="classification",
        activation="relu",
        widths=widths,
        widths_left=(*(n // 2 for n in widths[:-1]), n_classes),
        n_rows=1234,
        outcome=str(Outcome.OK),
        version="0.1.0",
        history=history(epochs, widths, None),
        active_prob=probabilities(widths, rng),
        feature_names=tuple(f"pixel {i}" for i in range(widths[0])),
        image_shape=(side, side) if side**2 == widths[0] else None,
        classes=tuple(f"class {i}" for i in range(n_classes)),
        held=Held(y, probs=probs, x=rng.random((90, widths[0])), where="held-out rows"),
        frontier=path,
        notes=("Column age: 12 missing cells filled with the median",),
    )
    return replace(facts, **changes)


def regression(
    inputs: int = 7, outputs: int = 1, epochs: int = 20, names: tuple[str, ...] = NASTY, **changes: Any
) -> Facts:
    """A regression on a table whose column names are hostile."""
    rng = np.random.default_rng(1)
    widths = (inputs, 9, 5, outputs)
    shape = (80,) if outputs == 1 else (80, outputs)
    mean = rng.normal(size=shape)
    facts = Facts(
        title="A table",
        task="regression",
        activation="leaky_relu",
        widths=widths,
        widths_left=widths,
        n_rows=80,
        outcome=str(Outcome.NOISE_AT_FLOOR),
        version="0.1.0",
        history=history(epochs, widths, outputs),
        active_prob=probabilities(widths, rng),
        feature_names=names if inputs == len(names) else (),
        held=Held(
            y=rng.normal(mean, 0.5),
            mean=mean,
            epistemic_std=rng.uniform(0.1, 0.4, shape),
            aleatoric_std=np.full(shape, 0.4),
            x=rng.normal(size=(80, inputs)),
            where="training rows (no held-out data given)",
        ),
    )
    return replace(facts, **changes)
