"""Check of an exported file against the library, on random rows."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .predictions import with_feature_names

if TYPE_CHECKING:
    from ..estimators import Estimator
    from ..export import Plain

ROWS = 200
TOLERANCE = 1e-3
"""Largest difference: of means and standard deviations in predicted standard deviations, and of probabilities."""


def write(to: str, plain: Plain, path: Path) -> None:
    """Write the network in one of the formats."""
    from ..export import save_torch, to_numpy, to_onnx

    {"onnx": to_onnx, "torch": save_torch, "numpy": to_numpy}[to](plain, path)


def difference(to: str, path: Path, estimator: Estimator) -> float:
    """The largest difference between the file and the library, on rows spread like those of training."""
    rng = np.random.default_rng(0)
    rows = estimator.x_mean_ + estimator.x_scale_ * rng.standard_normal((ROWS, len(estimator.x_mean_)))
    x = rows.astype(np.float32).astype(np.float64)  # numbers that a float32 file can read
    if to == "torch":
        return _torch_difference(path, estimator, x)
    ours = _ours(estimator, x)
    theirs = _onnx(path, x) if to == "onnx" else _numpy(path, x)
    scale = ours[1] if len(ours) == 2 else 1.0
    return max(float(np.max(np.abs(a - np.reshape(b, a.shape)) / scale)) for a, b in zip(ours, theirs, strict=True))


def _ours(estimator: Estimator, x: np.ndarray) -> tuple[np.ndarray, ...]:
    if estimator.network_.output.has_classes:
        return (estimator.predict_proba(with_feature_names(estimator, x)),)
    predicted = estimator.predict_distribution(with_feature_names(estimator, x))
    return predicted.mean, predicted.std


def _onnx(path: Path, x: np.ndarray) -> tuple[Any, ...]:
    from .._optional import need

    session = need("onnxruntime", "export").InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, {"x": x.astype(np.float32)})
    return (outputs[0],) if len(outputs) == 1 else (outputs[0], np.sqrt(outputs[1]))


def _numpy(path: Path, x: np.ndarray) -> tuple[Any, ...]:
    outputs = runpy.run_path(str(path))["predict_distribution"](x)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def _torch_difference(path: Path, estimator: Estimator, x: np.ndarray) -> float:
    """Predictions of the posterior-mean network, or its class scores, relative to their spread over the rows."""
    from .._optional import need
    from ..engine.predict import mean_outputs
    from ..export import load_torch
    from ..numerics.beliefs import Moments

    torch, fitted = need("torch", "torch"), estimator.fitted_
    module: Any = load_torch(path)
    with torch.no_grad():
        theirs = module(torch.from_numpy(x[:, module.inputs].astype(np.float32))).numpy()
    scaled = ((x - estimator.x_mean_) / estimator.x_scale_).astype(np.float32)[:, fitted.inputs]
    z: Any = np.asarray(mean_outputs(fitted.network, fitted.state.layers, scaled), np.float64)
    noise_var: Any = np.asarray(fitted.state.noise_var, np.float64)
    ours = fitted.network.output.predictive(Moments(z, np.zeros_like(z)), noise_var).mean
    ours = ours * getattr(estimator, "y_scale_", 1.0) + getattr(estimator, "y_mean_", 0.0)
    return float(np.max(np.abs(ours - theirs)) / max(float(np.std(ours)), 1e-30))
