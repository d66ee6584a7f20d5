"""What pruning saved: parameters, work, bytes and time, before and after."""

from __future__ import annotations

import runpy
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.table import Table

from .._optional import need
from ..engine.network import Network
from .numpy import to_numpy
from .onnx import to_onnx
from .plain import Plain, PlainLayer
from .torch import save_torch

REPEATS, MIN_SECONDS = 20, 0.05
"""A latency is the median of this many calls, or of as many as fit into this time, whichever is more."""

WRITERS: dict[str, Callable[[Plain, Path], None]] = {"onnx": to_onnx, "torch": save_torch, "numpy": to_numpy}
"""How the network before pruning is written, to be weighed, by the key of its file."""

Predictor = Callable[[np.ndarray], Any]


def size_table(before: Network, plain: Plain, files: dict[str, Path]) -> list[dict[str, Any]]:
    """Rows of "what", "before" and "after": counts, bytes of `files` (keys as in WRITERS), and latency on one thread.

    The network before pruning is gone, so that its files and times are those of a random network of its shape. Files
    with other keys are weighed after pruning only; a folder weighs what its files do. Times are of the predictive
    distribution, by onnxruntime where it is installed, else by NumPy.
    """
    full, after = stand_in(before, plain), plain.network
    rows: list[dict[str, Any]] = [
        {"what": "inputs and hidden units", "before": before.n_units, "after": after.n_units},
        {"what": "parameters", "before": before.n_params, "after": after.n_params},
        {"what": "multiply-adds", "before": before.n_multiply_adds, "after": after.n_multiply_adds},
    ]
    with tempfile.TemporaryDirectory() as folder:
        for key, path in files.items():
            written = Path(folder) / f"before.{key}"
            if key in WRITERS:
                WRITERS[key](full, written)
            weight = _bytes(written) if key in WRITERS else None
            rows.append({"what": f"bytes of {key}", "before": weight, "after": _bytes(Path(path))})
        engine, predictors = _predictors(full, plain, Path(folder))
        rng = np.random.default_rng(0)
        for n in (1, 1000):
            x = rng.standard_normal((n, before.widths[0])).astype(np.float32)
            spent = [_seconds(predict, x) for predict in predictors]
            what = f"microseconds for {n} row{'s' * (n > 1)} ({engine})"
            rows.append({"what": what, "before": round(1e6 * spent[0], 1), "after": round(1e6 * spent[1], 1)})
    return rows


def render(rows: list[dict[str, Any]]) -> Table:
    """The rows as a table for the terminal, with how many times smaller each has become."""
    table = Table(title="Before and after pruning", title_justify="left")
    for i, column in enumerate(("", "before", "after", "ratio")):
        table.add_column(column, justify="right" if i else "left")
    for row in rows:
        before, after = row["before"], row["after"]
        ratio = f"{before / after:.1f}x" if before is not None and after else "-"
        table.add_row(row["what"], "-" if before is None else f"{before:,}", f"{after:,}", ratio)
    return table


def stand_in(network: Network, plain: Plain) -> Plain:
    """A random network of this shape, with the labels and names of `plain`: what it weighs and how long it takes."""
    if (network.widths[0], network.widths[-1]) != (plain.n_features, plain.network.widths[-1]):
        raise ValueError(
            f"before={network.widths}: expected {plain.n_features} inputs and {plain.network.widths[-1]} outputs"
        )
    rng, layers = np.random.default_rng(0), []
    for a, b in zip(network.widths, network.widths[1:], strict=False):
        w = rng.standard_normal((a, b)) / np.sqrt(a)
        layers.append(PlainLayer(np.zeros(a), w, 0.01 * w * w, np.zeros(b), np.full(b, 0.01)))
    inputs, n = np.arange(plain.n_features), plain.n_features
    scales = plain.noise_var, plain.y_mean, plain.y_scale, plain.classes, plain.feature_names
    kept = Plain(network.task, network.activation, n, inputs, np.zeros(n), np.ones(n), tuple(layers), *scales)
    return replace(kept, noise=plain.noise, stretch=plain.stretch, dof=plain.dof, likelihood=plain.likelihood)


def _bytes(path: Path) -> int:
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) if path.is_dir() else path.stat().st_size


def _predictors(before: Plain, after: Plain, folder: Path) -> tuple[str, list[Predictor]]:
    if find_spec("onnx") and find_spec("onnxruntime"):
        return "onnxruntime", [_onnx(plain, folder / "timed.onnx") for plain in (before, after)]
    return "NumPy", [_numpy(plain, folder / "timed.py") for plain in (before, after)]


def _onnx(plain: Plain, path: Path) -> Predictor:
    onnxruntime = need("onnxruntime", "export")
    to_onnx(plain, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {"x": x})


def _numpy(plain: Plain, path: Path) -> Predictor:
    to_numpy(plain, path)
    predict: Predictor = runpy.run_path(str(path))["predict_distribution"]
    return predict


def _seconds(predict: Predictor, x: np.ndarray) -> float:
    predict(x)  # the first call sets things up
    spent: list[float] = []
    while len(spent) < REPEATS or sum(spent) < MIN_SECONDS:
        started = time.perf_counter()
        predict(x)
        spent.append(time.perf_counter() - started)
    return median(spent)
