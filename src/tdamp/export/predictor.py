"""Predictions of one trained network. Needs NumPy and nothing else.

predict(x): means of a regression, labels of a classification. predict_distribution(x): (means, standard deviations)
of a new observation (Student's t with MODEL["dof"] degrees of freedom, a Gaussian where there are none), or the class
probabilities, columns in the order of MODEL["classes"]. x is the table of data as
it was given for training, with MODEL["n_features"] columns; one output comes without its axis.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

MODEL: dict[str, Any] = json.loads("null")
CHUNK_ROWS = 1000


def predict(x: Any) -> np.ndarray:
    """The most probable labels, or the means."""
    if MODEL["task"] == "regression":
        return predict_distribution(x)[0]
    return np.array(MODEL["classes"])[predict_distribution(x).argmax(1)]


def predict_distribution(x: Any) -> Any:
    """(mean, std) of a new observation, or class probabilities (rows, classes)."""
    x = np.asarray(x, np.float64)
    if x.ndim != 2 or x.shape[1] != MODEL["n_features"]:
        raise ValueError(f"x: expected (rows, {MODEL['n_features']}) numbers, got shape {x.shape}")
    if not np.isfinite(x[:, MODEL["inputs"]]).all():
        raise ValueError("x: every number must be finite; fill in missing values as for the training")
    parts = [_predict_chunk(x[i : i + CHUNK_ROWS]) for i in range(0, max(len(x), 1), CHUNK_ROWS)]
    found = [np.concatenate(part) for part in zip(*parts, strict=True)]
    if MODEL["task"] == "classification":
        return found[0]
    return tuple(part[:, 0] if part.shape[1] == 1 else part for part in found)


def _predict_chunk(x: np.ndarray) -> tuple[np.ndarray, ...]:
    a = ARRAYS
    u_mean, u_var = (x[:, MODEL["inputs"]] - a["x_mean"]) / a["x_scale"], None
    for l in range(MODEL["n_layers"]):
        centre, w_mean, w_var, b_mean, b_var = (a[f"layer{l}.{name}"] for name in MODEL["layer_names"])
        u_mean = u_mean - centre
        z_mean = u_mean @ w_mean + b_mean
        z_var = u_mean**2 @ w_var + b_var
        if u_var is not None:
            z_var = z_var + u_var @ (w_var + w_mean**2)
        z_var = np.maximum(z_var, MODEL["min_var"])
        if l < MODEL["n_layers"] - 1:
            u_mean, u_var = _activate(z_mean, z_var)
    if MODEL["task"] == "classification":
        return (_class_probs(z_mean, np.sqrt(np.maximum(z_var + 0.5 * a["noise_var"], MODEL["min_var"]))),)
    n = len(a["y_mean"])
    noise_var = a["noise_var"]
    if MODEL["noise"] == "varying":
        log_noise = z_mean[:, n:] + 0.5 * z_var[:, n:]
        noise_var = noise_var * np.exp(np.clip(log_noise, -MODEL["log_range"], MODEL["log_range"]))
    std = np.sqrt(z_var[:, :n] * a["stretch"] + noise_var)
    return a["y_mean"] + a["y_scale"] * z_mean[:, :n], a["y_scale"] * std


def _tail(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E[(z - t)^n; z > t] / pdf(t) of a standard normal z, for n = 0, 1, 2 and t >= 0: one series gives all three."""
    t = np.minimum(t, MODEL["furthest"])
    far = t + MODEL["tail_centre"]
    y, second = (t - MODEL["tail_centre"]) / far, np.zeros_like(t)
    for c in reversed(MODEL["tail_series"]):
        second = second * y + c
    second = second / far**3
    return (second + t) / (1 + t * t), (1 - t * second) / (1 + t * t), second


def _pdf(t: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * np.minimum(np.abs(t), MODEL["furthest"]) ** 2) / np.sqrt(2 * np.pi)


def _activate(mean: np.ndarray, var: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of f(z), z ~ N(mean, var), from the moments of f(z) - f(mean)."""
    std, regions = np.sqrt(var), MODEL["regions"]  # (low, high, slope, intercept) of every line of f
    if len(regions) == 1:
        return regions[0][2] * mean + regions[0][3], regions[0][2] ** 2 * var
    if len(regions) == 3:
        return _clamp(regions[1], mean, var, std)
    (_, kink, left, intercept), (_, _, right, _) = regions
    past = mean - kink
    t = np.abs(past) / std
    mass, first, second = (_pdf(t) * part for part in _tail(t))
    near, jump = np.where(past > 0, right, left), np.where(past > 0, left - right, right - left)
    u_mean = left * kink + intercept + near * past + (right - left) * std * first
    return u_mean, var * np.maximum(near**2 + 2 * near * jump * mass + jump**2 * (second - first**2), 0)


def _clamp(region: list[float], mean: np.ndarray, var: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f is a line between two bounds and constant outside: moments about the bounded point nearest the mean."""
    low, high, slope, intercept = region
    peak = np.clip(mean, low, high)
    above, below = np.maximum(high - mean, 0) / std, np.maximum(mean - low, 0) / std
    above_mass, below_mass = _pdf(above) * _tail(above)[0], _pdf(below) * _tail(below)[0]
    away = np.clip((peak - mean) / std, -MODEL["furthest"], MODEL["furthest"])
    reach = 80 / (np.abs(away) + np.sqrt(away**2 + 80))  # the density has fallen by exp(-40) there
    start = np.maximum((low - peak) / std, -reach)
    width = np.minimum((high - peak) / std, reach) - start
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t = start[..., None] + width[..., None] * (nodes + 1) / 2
    density = np.exp(-t * (away[..., None] + 0.5 * t)) * weights / 2
    share = _pdf(away) * width
    first = (high - peak) * above_mass + (low - peak) * below_mass + std * share * (density * t).sum(-1)
    second = (high - peak) ** 2 * above_mass + (low - peak) ** 2 * below_mass + var * share * (density * t * t).sum(-1)
    return slope * (peak + first) + intercept, slope**2 * np.maximum(second - first**2, 0)


def _log_cdf(t: np.ndarray) -> np.ndarray:
    tail = _tail(np.abs(t))[0]
    lower = np.log(tail) - 0.5 * t * t - 0.5 * np.log(2 * np.pi)
    return np.where(t < 0, lower, np.log1p(-_pdf(t) * tail))


def _class_probs(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """P(the noisy score of y is the largest), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(MODEL["n_nodes"])
    log_probs = np.empty_like(mean)
    for y in range(mean.shape[1]):
        rivals = np.arange(mean.shape[1]) != y
        margin = mean[:, [y]] - mean[:, rivals]
        sds = (margin[..., None] + std[:, [y], None] * nodes) / std[:, rivals, None]
        log_mass = _log_cdf(np.clip(sds, -1e9, 1e9)).sum(1) + np.log(weights / weights.sum())
        best = log_mass.max(1, keepdims=True)
        log_probs[:, y] = best[:, 0] + np.log(np.exp(log_mass - best).sum(1))
    probs = np.exp(log_probs - log_probs.max(1, keepdims=True))
    return probs / probs.sum(1, keepdims=True)


def _unpack(packed: list[Any]) -> np.ndarray:
    dtype, shape, text = packed
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape).astype(np.float64)


ARRAYS = {name: _unpack(packed) for name, packed in MODEL["arrays"].items()} if MODEL else {}
