"""The minimum Gumbel and its best noise variance by quadrature and bisection."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

_T = np.linspace(-60.0, 6.0, 60001)
_SHARE = np.exp(_T - np.exp(_T)) * (_T[1] - _T[0])


def moments(loc: float, scale: float) -> tuple[float, float]:
    """First and second moment of the density exp(t - e^t) / scale, t = (x - loc) / scale."""
    x = loc + scale * _T
    return float((_SHARE * x).sum()), float((_SHARE * x**2).sum())


def slope(loc: float, noise_var: float) -> float:
    """d / d log v of the mean of log Phi(-margin / sqrt(v)), the margin a minimum Gumbel of scale one."""
    a = -(loc + _T) / np.sqrt(noise_var)
    hazard = np.exp(-0.5 * a * a - 0.5 * np.log(2 * np.pi) - log_ndtr(a))
    return float((_SHARE * hazard * (-0.5 * a)).sum())


def best_noise_var(loc: float) -> float:
    """F(loc), the root of `slope` in log v: sharper than a flat maximum."""
    return float(np.exp(brentq(lambda s: slope(loc, np.exp(s)), 2 * loc - 3, 2 * loc + 9, xtol=1e-12)))


def asymptote() -> float:
    """lim F(x) e^(-2x), x -> -inf: seen from a margin of zero the Gumbel's tail is then the exponential e^(-margin)."""
    margin = np.linspace(-40.0, 60.0, 400001)

    def slope_at(log_var: float) -> float:
        a = -margin * np.exp(-0.5 * log_var)
        log_hazard = -0.5 * a * a - 0.5 * np.log(2 * np.pi) - log_ndtr(a)
        return float((np.exp(log_hazard - margin) * a).sum())

    return float(np.exp(brentq(slope_at, -3, 3, xtol=1e-12)))
