"""One-dimensional integrals by dense Gauss-Legendre, in extended precision, split at the kinks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(240)
_NATS = 60.0  # the integrand is followed down to exp(-60) of its peak

REFERENCE: dict[str, tuple[Callable[[np.ndarray], np.ndarray], tuple[float, ...]]] = {
    "relu": (lambda z: np.maximum(z, 0), (0.0,)),
    "leaky_relu": (lambda z: np.where(z > 0, z, 0.01 * z), (0.0,)),
    "abs": (np.abs, (0.0,)),
    "hard_tanh": (lambda z: np.clip(z, -1, 1), (-1.0, 1.0)),
    "identity": (lambda z: z, ()),
}
"""Every activation once more, as a plain function and the list of its kinks."""


class Tilted(NamedTuple):
    """Moments under N(z; mean, var) exp(shift f(z) - prec f(z)^2 / 2), and the log of its integral."""

    log_partition: np.ndarray
    u_mean: np.ndarray
    u_var: np.ndarray
    z_mean_shift: np.ndarray  # E[z] - mean
    z_var: np.ndarray


def tilted(
    f: Callable[[np.ndarray], np.ndarray],
    kinks: tuple[float, ...],
    mean: np.ndarray,
    var: np.ndarray,
    shift: np.ndarray,
    prec: np.ndarray,
) -> Tilted:
    """Moments of the tilted Gaussian, vectorised over cases; f is linear between its kinks."""
    mean, var, shift, prec = (np.asarray(x, np.longdouble)[:, None] for x in (mean, var, shift, prec))
    edges = (-np.inf, *kinks, np.inf)
    points, weights = [], []
    for low, high in pairwise(edges):
        # the log-integrand is a parabola here: find its top inside the segment and how far it matters
        left = np.longdouble(low if np.isfinite(low) else min(high, 0.0) - 2)
        right = np.longdouble(high if np.isfinite(high) else max(low, 0.0) + 2)
        slope = (f(right) - f(left)) / (right - left)
        intercept = f(left) - slope * left
        bend = 1 / var + slope**2 * prec
        top = np.clip((mean / var + slope * (shift - intercept * prec)) / bend, low, high)
        steep = np.abs((mean - top) / var + slope * (shift - prec * (slope * top + intercept)))
        reach = 2 * _NATS / (steep + np.sqrt(steep**2 + 2 * _NATS * bend))
        start, stop = np.maximum(low, top - reach), np.minimum(high, top + reach)
        half = (stop - start) / 2
        points.append((start + stop) / 2 + half * _NODES)
        weights.append(half * _WEIGHTS)
    z, weight = np.concatenate(points, 1), np.concatenate(weights, 1)
    u = f(z)
    log_density = -((z - mean) ** 2) / (2 * var) + shift * u - prec * u**2 / 2
    top = log_density.max(1, keepdims=True)
    share = weight * np.exp(log_density - top)
    mass = share.sum(1, keepdims=True)
    share = share / mass
    u_mean = (share * u).sum(1, keepdims=True)
    moved = (share * (z - mean)).sum(1, keepdims=True)
    return Tilted(
        log_partition=(np.log(mass) + top - np.log(2 * np.pi * var) / 2)[:, 0],
        u_mean=u_mean[:, 0],
        u_var=(share * (u - u_mean) ** 2).sum(1),
        z_mean_shift=moved[:, 0],
        z_var=(share * (z - mean - moved) ** 2).sum(1),
    )


def gauss_expectation(f: Callable[[np.ndarray], np.ndarray], mean: float, var: float, nodes: int = 2001) -> np.ndarray:
    """E f(x), x ~ N(mean, var), by the trapezoid rule over 12 sds; f maps (nodes,) to (..., nodes)."""
    t = np.linspace(-12.0, 12.0, nodes)
    weight = np.exp(-0.5 * t * t) * (t[1] - t[0]) / np.sqrt(2 * np.pi)
    return (f(mean + np.sqrt(var) * t) * weight).sum(-1)
