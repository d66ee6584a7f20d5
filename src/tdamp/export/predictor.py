"""Predictions of one trained network. Needs NumPy and nothing else.

predict(x): means of a regression, labels of a classification. predict_distribution(x): (means, standard deviations)
of a new observation (Student's t with MODEL["dof"] degrees of freedom, a Gaussian where there are none; a count is
Poisson, and its log-normal rate has the same mean and the variance std^2 - mean), or the class
probabilities, columns in the order of MODEL["classes"]. x is the table of data as
it was given for training, with MODEL["n_features"] columns; one output comes without its axis.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

MODEL: dict[str, Any] = json.loads("null")
CHUNK_ROWS, CHUNK_NUMBERS = 1000, 2**22


def predict(x: Any) -> np.ndarray:
    """The most probable labels, or the means."""
    predicted = predict_distribution(x)
    return predicted[0] if isinstance(predicted, tuple) else np.array(MODEL["classes"])[predicted.argmax(1)]


def predict_distribution(x: Any) -> Any:
    """(mean, std) of a new observation, or class probabilities (rows, classes)."""
    x = np.asarray(x, np.float64)
    if x.ndim != 2 or x.shape[1] != MODEL["n_features"]:
        raise ValueError(f"x: expected (rows, {MODEL['n_features']}) numbers, got shape {x.shape}")
    if not np.isfinite(x[:, MODEL["inputs"]]).all():
        raise ValueError("x: every number must be finite; fill in missing values as for the training")
    parts = [_predict_chunk(x[i : i + CHUNK_ROWS]) for i in range(0, max(len(x), 1), CHUNK_ROWS)]
    outputs = [np.concatenate(part) for part in zip(*parts, strict=True)]
    if len(outputs) == 1:
        return outputs[0]
    return tuple(part[:, 0] if part.shape[1] == 1 else part for part in outputs)


def _predict_chunk(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Class probabilities alone, or means and standard deviations."""
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
    return FORMS[MODEL["form"]](z_mean, z_var)


def _of_means(z_mean: np.ndarray, z_var: np.ndarray) -> tuple[np.ndarray, ...]:
    """The outputs are means; the noise is the same in every row."""
    return _with_noise(z_mean, z_var, ARRAYS["noise_var"])


def _of_means_and_log_noise(z_mean: np.ndarray, z_var: np.ndarray) -> tuple[np.ndarray, ...]:
    """The first half are means, the second half logs of the noise: its mean is that of a log-normal number."""
    n = len(ARRAYS["y_mean"])
    log_noise = np.clip(z_mean[:, n:] + 0.5 * z_var[:, n:], -MODEL["log_range"], MODEL["log_range"])
    return _with_noise(z_mean[:, :n], z_var[:, :n], ARRAYS["noise_var"] * np.exp(log_noise))


def _with_noise(z_mean: np.ndarray, z_var: np.ndarray, noise_var: np.ndarray) -> tuple[np.ndarray, ...]:
    std = np.sqrt(z_var * ARRAYS["stretch"] + noise_var)
    return ARRAYS["y_mean"] + ARRAYS["y_scale"] * z_mean, ARRAYS["y_scale"] * std


def _of_log_rates(z_mean: np.ndarray, z_var: np.ndarray) -> tuple[np.ndarray, ...]:
    """Moments of a Poisson count whose rate is log-normal."""
    rate = np.exp(np.minimum(z_mean + 0.5 * z_var, MODEL["max_log_rate"]))
    return rate, np.hypot(np.sqrt(rate), rate * np.sqrt(np.expm1(np.minimum(z_var, MODEL["max_log_rate"]))))


def _of_class_scores(z_mean: np.ndarray, z_var: np.ndarray) -> tuple[np.ndarray, ...]:
    std = np.sqrt(np.maximum(z_var + 0.5 * ARRAYS["noise_var"], MODEL["min_var"]))
    return (_class_probs(z_mean, std),)


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
    if len(regions) == 2:
        return _kink(regions, mean, var, std)
    return _several(regions, mean, std)


def _kink(
    regions: list[list[float]], mean: np.ndarray, var: np.ndarray, std: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Two lines that meet: the one on the mean's side, and the change of slope times the tail beyond the kink."""
    (_, kink, left, intercept), (_, _, right, _) = regions
    past = mean - kink
    t = np.abs(past) / std
    mass, first, second = (_pdf(t) * part for part in _tail(t))
    near, jump = np.where(past > 0, right, left), np.where(past > 0, left - right, right - left)
    u_mean = left * kink + intercept + near * past + (right - left) * std * first
    return u_mean, var * np.maximum(near**2 + 2 * near * jump * mass + jump**2 * (second - first**2), 0)


def _several(regions: list[list[float]], mean: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Three lines or more: in each region f is f(mean) + rise + slope std t, and t has moments there."""
    at_mean = regions[0][2] * mean + regions[0][3]
    for low, _, slope, intercept in regions[1:]:
        at_mean = np.where(mean > low, slope * mean + intercept, at_mean)
    inside = [np.clip(mean, low, high) for low, high, _, _ in regions]  # the point of the region nearest the mean
    ups = [slope * (high - at) for (_, high, slope, _), at in zip(regions, inside, strict=True)]
    downs = [slope * (low - at) for (low, _, slope, _), at in zip(regions, inside, strict=True)]
    # the rise as the sum of those on the way from the mean: it keeps its digits however close a kink is
    rises = [sum(ups[:i]) + sum(downs[i + 1 :]) for i in range(len(regions))]
    moments = [_outer(regions[0][1], -1, mean, std)]
    moments += [_bounded(low, high, mean, std) for low, high, _, _ in regions[1:-1]]
    moments += [_outer(regions[-1][0], 1, mean, std)]
    steps = [slope * std for _, _, slope, _ in regions]
    parts = list(zip(rises, steps, moments, strict=True))
    shift = sum(rise * mass + step * first for rise, step, (mass, first, _) in parts)
    u_var: Any = 0.0
    for rise, step, (mass, first, second) in parts:
        away = rise - shift  # from the mean of f: nothing large is subtracted
        u_var = u_var + away * (away * mass + 2 * step * first) + step**2 * second
    return at_mean + shift, np.maximum(u_var, 0)


def _outer(bound: float, side: int, mean: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, ...]:
    """E[t^n; z beyond the bound], n = 0, 1, 2; t counts from the bound, or from the mean where that lies beyond it."""
    sds = side * (bound - mean) / std
    t = np.minimum(np.abs(sds), MODEL["furthest"])
    mass, first, second = (_pdf(t) * part for part in _tail(t))
    around = 1 - mass, _pdf(t), 1 - second - t * (2 * first + t * mass)
    mass, first, second = (np.where(sds < 0, *pair) for pair in zip(around, (mass, first, second), strict=True))
    return mass, side * first, second


def _bounded(low: float, high: float, mean: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, ...]:
    """E[t^n; low < z < high], n = 0, 1, 2; t counts from the point there that is nearest the mean.

    Gauss-Legendre over the part that carries mass: a closed form would lose all digits where it is narrow beside std.
    """
    peak = np.clip(mean, low, high)
    away = np.clip((peak - mean) / std, -MODEL["furthest"], MODEL["furthest"])
    reach = 80 / (np.abs(away) + np.sqrt(away**2 + 80))  # the density has fallen by exp(-40) there
    start = np.maximum((low - peak) / std, -reach)
    width = np.minimum((high - peak) / std, reach) - start
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t = start[..., None] + width[..., None] * (nodes + 1) / 2
    density = np.exp(-t * (away[..., None] + 0.5 * t)) * weights / 2
    share = _pdf(away) * width
    return tuple(share * (density * power).sum(-1) for power in (np.ones_like(t), t, t * t))


def _log_cdf(t: np.ndarray) -> np.ndarray:
    tail = _tail(np.abs(t))[0]
    lower = np.log(tail) - 0.5 * t * t - 0.5 * np.log(2 * np.pi)
    return np.where(t < 0, lower, np.log1p(-_pdf(t) * tail))


def _class_probs(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """P(the noisy score of y is the largest): panels of Gauss-Legendre, dense around the peak of every class."""
    if mean.shape[1] == 2:
        return np.exp(_log_cdf((mean - mean[:, ::-1]) / np.hypot(std[:, :1], std[:, 1:])))
    rule, chunks = MODEL["largest"], []
    nodes, weights = np.polynomial.legendre.leggauss(rule["order"])
    size = max(1, CHUNK_NUMBERS // ((len(rule["chosen"]) + 1) * len(nodes) * mean.shape[1]))
    for i in range(0, max(len(mean), 1), size):
        unit = std[i : i + size].max(1, keepdims=True)
        z = np.maximum((mean[i : i + size] - mean[i : i + size].max(1, keepdims=True)) / unit, -rule["furthest"])
        s = np.maximum(std[i : i + size] / unit, np.maximum(rule["narrowest"], -rule["coarsest"] * 2.0**-52 * z))
        edges = _edges(z, s, rule)
        half = np.diff(edges)[..., None] / 2
        t = (edges[:, :-1, None] + half * (nodes + 1)).reshape(len(z), 1, -1)
        sds = np.clip((t - z[..., None]) / s[..., None], -1e9, 1e9)  # (rows, classes, nodes)
        log_cdf = _log_cdf(sds)
        log_terms = log_cdf.sum(1, keepdims=True) - log_cdf - 0.5 * sds**2
        probs = (np.exp(log_terms) * (half * weights).reshape(t.shape)).sum(2) / s
        chunks.append(probs / probs.sum(1, keepdims=True))
    return np.concatenate(chunks)


def _edges(z: np.ndarray, s: np.ndarray, rule: dict[str, Any]) -> np.ndarray:
    """Bounds of the panels, in rising order: some of the points that lie around every class's peak."""
    peak, prec, rival_prec = z, 1 / s**2, 1 / s[:, None] ** 2
    for _ in range(rule["peak_steps"]):
        above = np.maximum(z[:, None] - peak[..., None], 0)  # (rows, class, rival)
        total = prec + ((above > 0) * rival_prec).sum(2)
        peak = np.maximum(peak, peak + (prec * (z - peak) + (above * rival_prec).sum(2)) / total)
    above = np.maximum(z[:, None] - peak[..., None], 0)
    width, behind = 1 / np.sqrt(total), 0.5 * (prec * (peak - z) ** 2 + (above**2 * rival_prec).sum(2))
    peak = np.where(behind > rule["hopeless"], 0, peak)
    low = (peak - rule["reach"] * width).min(1, keepdims=True)
    high = (z + rule["reach"] * s).max(1, keepdims=True)
    down, up = (np.arcsinh(np.minimum(away / width, rule["span"]))[..., None] for away in (peak - low, high - peak))
    points = peak[..., None] + width[..., None] * np.sinh((down + up) * np.array(rule["steps"]) - down)
    chosen = np.sort(points.reshape(len(z), -1))[:, rule["chosen"]]
    return np.concatenate([low, np.clip(chosen, low, high), high], 1)


def _unpack(packed: list[Any]) -> np.ndarray:
    dtype, shape, text = packed
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape).astype(np.float64)


FORMS = {
    "mean": _of_means,
    "mean_and_log_noise": _of_means_and_log_noise,
    "log_rate": _of_log_rates,
    "class_scores": _of_class_scores,
}
ARRAYS = {name: _unpack(packed) for name, packed in MODEL["arrays"].items()} if MODEL else {}
