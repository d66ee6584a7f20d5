"""The tails of the standard normal from one series, for exports that have no special functions.

With J_n(a) = integral of (t - a)^n pdf(t) / pdf(a) over t > a, for a >= 0: J_0 = (J_2 + a) / (1 + a^2) and
J_1 = (1 - a J_2) / (1 + a^2), where a J_2 < 0.33. So J_2 alone gives all three without cancellation, however far the
tail; (a + CENTRE)^3 J_2(a) is smooth on the compactified half line and one short Chebyshev series.
Oracle: quadrature at 50 digits.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import erfcx

CENTRE = 2.5
"""a = CENTRE is the middle of the compactified half line, y = (a - CENTRE) / (a + CENTRE)."""

FURTHEST = 1e4
"""Tails are cut here: the density has long been zero in every float type."""

DEGREE = {"float32": 12, "float64": 26}
"""The shortest series that reach the types' precision."""


def second_tail(a: np.ndarray) -> np.ndarray:
    """J_2 in float64: directly for small a, else by the continued fraction of the ratios of I_n = J_n / n!.

    n I_n = I_(n-2) - a I_(n-1) with I_(-1) = 1, so the ratios r_n = I_n / I_(n-1) obey r_(n-1) = 1 / (a + n r_n).
    """
    direct = (1 + a * a) * np.sqrt(np.pi / 2) * erfcx(a / np.sqrt(2)) - a
    ratios = [np.ones_like(a)]
    for n in range(400, 0, -1):
        ratios.append(1 / (a + n * ratios[-1]))
    return np.where(a < 1, direct, 2 * ratios[-1] * ratios[-2] * ratios[-3])


@cache
def series(degree: int) -> tuple[float, ...]:
    """Coefficients in powers of y of (a + CENTRE)^3 J_2(a), lowest first."""
    n = 200
    y = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    a = CENTRE * (1 + y) / (1 - y)
    fit = chebyshev.chebfit(y, (a + CENTRE) ** 3 * second_tail(a), 60)[: degree + 1]
    return tuple(float(c) for c in chebyshev.cheb2poly(fit))
