"""The truncated standard normal at 50 digits, from erfc and the textbook moment formulas (mpmath)."""

from __future__ import annotations

import mpmath as mp
import numpy as np

DIGITS = 50


def _pdf(x: mp.mpf) -> mp.mpf:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _mass(low: mp.mpf, high: mp.mpf) -> mp.mpf:
    """Phi(high) - Phi(low), on the side where the difference loses least."""
    if low + high < 0:
        low, high = -high, -low
    return (mp.erfc(low / mp.sqrt(2)) - mp.erfc(high / mp.sqrt(2))) / 2


def cut(low: float, high: float) -> tuple[float, float, float, float, float, float]:
    """log_mass, mass, mean, distance of the mean from `low` (from `high` if low is -inf), var, 1 - var."""
    with mp.workdps(DIGITS + 60):  # the closed forms cancel by up to (1e4 / 1e-6)^4: 40 digits are for losing
        a, b = mp.mpf(low), mp.mpf(high)
        mass = _mass(a, b)
        pdf_a = mp.mpf(0) if mp.isinf(a) else _pdf(a)
        pdf_b = mp.mpf(0) if mp.isinf(b) else _pdf(b)
        mean = (pdf_a - pdf_b) / mass
        edge = (0 if mp.isinf(a) else a * pdf_a) - (0 if mp.isinf(b) else b * pdf_b)
        shrink = mean * mean - edge / mass
        gap = mean - (b if mp.isinf(a) else a)
        outside = mp.erfc(-a / mp.sqrt(2)) / 2 + mp.erfc(b / mp.sqrt(2)) / 2
        log_mass = mp.log1p(-outside) if outside < 0.5 else mp.log(mass)
        return float(log_mass), float(mass), float(mean), float(gap), float(1 - shrink), float(shrink)


def cuts(lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
    """`cut` of every pair, as six rows."""
    return np.array([cut(float(a), float(b)) for a, b in zip(lows, highs, strict=True)]).T


def cut_by_quadrature(low: float, high: float) -> tuple[float, float, float]:
    """log_mass, mean, var by integrating the density: the check of the closed forms above."""
    with mp.workdps(DIGITS):
        width = mp.mpf(high) - mp.mpf(low)
        points = [mp.mpf(low) + width * j / 8 for j in range(9)]
        mass = mp.quad(_pdf, points)
        mean = mp.quad(lambda x: x * _pdf(x), points) / mass
        var = mp.quad(lambda x: (x - mean) ** 2 * _pdf(x), points) / mass
        return float(mp.log(mass)), float(mean), float(var)
