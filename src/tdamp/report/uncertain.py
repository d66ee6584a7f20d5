"""The rows that the model is least sure about: little images, or a table of their values."""

from __future__ import annotations

import base64
import io

import numpy as np

from .canvas import need
from .facts import Facts, Held
from .plots.units import top_inputs
from .tables import table
from .text import cell, number, percent, safe, short

IMAGES = 12
ROWS = 10
COLUMNS = 8


def uncertainty(held: Held) -> np.ndarray:
    """Entropy of the class probabilities, or the epistemic std, relative to its mean for each output."""
    if held.probs is not None:
        probs = np.asarray(held.probs, np.float64)
        return -(probs * np.log(np.maximum(probs, 1e-300))).sum(1)
    assert held.epistemic_std is not None
    std = np.asarray(held.epistemic_std, np.float64).reshape(len(held.y), -1)
    return (std / std.mean(0)).sum(1) if (std.mean(0) > 0).all() else std.sum(1)


def section(facts: Facts, held: Held) -> str:
    """HTML section: heading, sentence and examples."""
    order = np.argsort(-uncertainty(held), kind="stable")
    as_images = held.x is not None and facts.image_shape is not None
    body = images(facts, held, order[:IMAGES]) if as_images else rows(facts, held, order[:ROWS])
    measure = (
        "entropy of their class probabilities"
        if held.probs is not None
        else "standard deviation of what it has learned"
    )
    read = (
        f"The rows with the largest {measure}: worth a look for wrong labels, odd inputs and cases that need more data."
    )
    title = "Where the model is least sure"
    return f'<section id="uncertain"><h2>{title}</h2><p>{read}</p><div class="card">{body}</div></section>'


def verdict(facts: Facts, held: Held, at: int) -> tuple[str, str, bool]:
    """Truth and prediction of a row as text, and whether it is right (a regression: inside its interval)."""
    if held.probs is not None:
        probs = np.asarray(held.probs)[at]
        best, own = int(probs.argmax()), int(held.y[at])
        return (
            safe(short(facts.label(own), 24)),
            f"{safe(short(facts.label(best), 24))} ({percent(probs[best])})",
            best == own,
        )
    one = held.distribution.take(np.s_[at : at + 1])
    y, mean, low, high = (np.ravel(a) for a in (held.y[at], one.mean, *one.interval(0.95)))
    truth = ", ".join(number(v, 3) for v in y[:3])
    shown = zip(mean[:3], low[:3], high[:3], strict=True)
    predicted = ", ".join(f"{number(m, 3)} ({number(a, 3)} to {number(b, 3)})" for m, a, b in shown)
    return truth, predicted, bool(((low <= y) & (y <= high)).all())


def rows(facts: Facts, held: Held, picked: np.ndarray) -> str:
    """A table: row, truth, prediction, and the values of the inputs most in use."""
    columns = [int(i) for i in top_inputs(facts, COLUMNS)] if held.x is not None else []
    head = ["row", "true", "predicted" if held.probs is not None else "predicted (95 %)", ""]
    lines = []
    for at in picked:
        truth, predicted, right = verdict(facts, held, at)
        values = [cell(held.x[at, i]) for i in columns] if held.x is not None else []
        lines.append([str(at), truth, predicted, _mark(right, held), *values])
    return table("Most uncertain rows", head + [safe(short(facts.feature(i), 20)) for i in columns], lines)


def images(facts: Facts, held: Held, picked: np.ndarray) -> str:
    """Little images with truth and prediction."""
    assert held.x is not None and facts.image_shape is not None
    pixels = np.asarray(held.x[picked], np.float64).reshape(len(picked), *facts.image_shape)
    low, high = np.nanmin(pixels), np.nanmax(pixels)
    parts = []
    for at, image in zip(picked, np.nan_to_num((pixels - low) / (high - low or 1.0)), strict=True):
        truth, predicted, right = verdict(facts, held, at)
        parts.append(
            f'<figure><img src="{_png(image)}" alt="row {at}, true {truth}, predicted {predicted}">'
            f"<figcaption>true {truth}<br>said {predicted} {_mark(right, held)}</figcaption></figure>"
        )
    return f'<div class="thumbs">{"".join(parts)}</div>'


def _mark(right: bool, held: Held) -> str:
    words = ("right", "wrong") if held.probs is not None else ("inside", "outside")
    return f'<span class="{"good" if right else "bad"}">{words[0] if right else words[1]}</span>'


def _png(image: np.ndarray) -> str:
    file = io.BytesIO()
    need("matplotlib.image").imsave(
        file, image, cmap="gray_r", vmin=0, vmax=1, format="png", metadata={"Software": None}
    )
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
