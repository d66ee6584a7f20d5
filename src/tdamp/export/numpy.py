"""One Python file that predicts with NumPy alone: predictor.py with the network written into it.

Oracle: tdamp.predictive and tdamp.class_probs, to the rounding of the weights to float32.
"""

from __future__ import annotations

import base64
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.damp import MIN_VAR
from ..factors.activations.catalog import ACTIVATIONS
from ..factors.likelihoods.heteroscedastic import LOG_RANGE
from ..io.atomic import write_whole
from ..numerics import counts, gaussian_argmax
from . import tails
from .plain import Plain, PlainLayer, describe

EMPTY = 'json.loads("null")'
"""The place in predictor.py where the network goes."""

LINE = 100


def to_numpy(plain: Plain, path: str | Path) -> None:
    """Write a self-contained Python file with `predict(x)` and `predict_distribution(x)`.

    Weights are embedded as float32, computation is in float64. Nothing but NumPy is needed to run it.
    """
    template = (files(__package__) / "predictor.py").read_text(encoding="utf-8")
    head, placeholder, rest = template.partition(EMPTY)
    assert placeholder, "predictor.py has no place for the network"
    text = json.dumps(_model(plain), allow_nan=False)
    lines = "".join(f"    {text[i : i + LINE]!r}\n" for i in range(0, len(text), LINE))
    write_whole(path, f"{head}json.loads(\n{lines}){rest}".encode())


def _model(plain: Plain) -> dict[str, Any]:
    arrays = {f"layer{l}.{k}": v for l, layer in enumerate(plain.layers) for k, v in layer._asdict().items()}
    exact = {name: getattr(plain, name) for name in ("x_mean", "x_scale", "y_mean", "y_scale", "noise_var")}
    regions = [[max(min(v, 1e300), -1e300) for v in region] for region in ACTIVATIONS[plain.activation].regions]
    n_outputs = plain.network.n_targets
    exact["stretch"] = np.ones(n_outputs) if plain.stretch is None else plain.stretch
    return {
        **describe(plain),
        "form": plain.form,
        "log_range": LOG_RANGE,
        "max_log_rate": counts.MAX_LOG_RATE,
        "classes": list(plain.classes if plain.classes is not None else range(n_outputs)),
        "n_features": plain.n_features,
        "n_layers": len(plain.layers),
        "layer_names": PlainLayer._fields,
        "regions": regions,  # JSON knows no infinity, and the outer bounds are not used
        "min_var": MIN_VAR,
        "largest": _largest(n_outputs) if plain.form == "class_scores" else None,
        "furthest": tails.FURTHEST,
        "tail_centre": tails.CENTRE,
        "tail_series": tails.series(tails.DEGREE["float64"]),
        "arrays": {k: _pack(v, "<f4") for k, v in arrays.items()} | {k: _pack(v, "<f8") for k, v in exact.items()},
    }


def _largest(n_classes: int) -> dict[str, Any]:
    """The constants of the class probabilities."""
    numbers = ("ORDER", "PEAK_STEPS", "HOPELESS", "REACH", "SPAN", "COARSEST", "FURTHEST", "NARROWEST")
    steps, chosen = gaussian_argmax.choice(n_classes)
    return {name.lower(): getattr(gaussian_argmax, name) for name in numbers} | {
        "steps": steps.tolist(),
        "chosen": chosen.tolist(),
    }


def _pack(values: np.ndarray, dtype: str) -> list[Any]:
    with np.errstate(over="ignore"):  # the next line says it better
        array = np.asarray(values).astype(dtype)
    if not np.isfinite(array).all():
        raise ValueError(f"a number of the network is not finite in {array.dtype}; rescale the data and fit again")
    return [dtype, list(array.shape), base64.b64encode(array.tobytes()).decode("ascii")]
