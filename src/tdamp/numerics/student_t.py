"""Student's t by its mean and standard deviation; infinite degrees of freedom make it the Gaussian. On the host.

Density: t_dof((y - mean) / scale) / scale, scale^2 = std^2 (dof - 2) / dof, dof > 2. Oracle: scipy.stats, quadrature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaln, gammaln, ndtr, ndtri, stdtr, stdtrit

STAND_IN = 3.0
"""Degrees of freedom put in where there are none: what comes of them is not used."""


def log_density(y: Any, mean: Any, std: Any, dof: Any) -> np.ndarray:
    """Log density of new observations y, entry by entry."""
    y, mean, std, dof = (np.asarray(a, np.float64) for a in (y, mean, std, dof))
    heavy, nu = _heavy(dof)
    square = ((y - mean) / std) ** 2
    height = gammaln(0.5 * nu + 0.5) - gammaln(0.5 * nu) - 0.5 * np.log(np.pi * (nu - 2))
    tails = height - 0.5 * (nu + 1) * np.log1p(square / (nu - 2))
    return np.where(heavy, tails, -0.5 * (square + np.log(2 * np.pi))) - np.log(std)


def quantile(level: Any, dof: Any) -> np.ndarray:
    """Quantile of the t with mean zero and standard deviation one."""
    heavy, nu = _heavy(dof)
    return np.where(heavy, stdtrit(nu, level) * _scale(nu), ndtri(level))


def cdf(z: Any, dof: Any) -> np.ndarray:
    """P(below z) of the t with mean zero and standard deviation one."""
    heavy, nu = _heavy(dof)
    return np.where(heavy, stdtr(nu, np.asarray(z) / _scale(nu)), ndtr(z))


def crps(z: Any, dof: Any) -> np.ndarray:
    """Integral of (F(t) - [t >= z])^2 dt, F that of the t with mean zero and standard deviation one.

    Of a plain t at w: w (2 F(w) - 1) + 2 f(w) (nu + w^2) / (nu - 1) - 2 sqrt(nu) B(1/2, nu - 1/2) / ((nu - 1)
    B(1/2, nu/2)^2); of a Gaussian z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi).
    """
    z = np.asarray(z, np.float64)
    heavy, nu = _heavy(dof)
    scale = _scale(nu)
    w = z / scale
    density = np.exp(log_density(z, 0.0, 1.0, nu)) * scale
    least = 2 * np.sqrt(nu) / (nu - 1) * np.exp(betaln(0.5, nu - 0.5) - 2 * betaln(0.5, 0.5 * nu))
    student = scale * (w * (2 * stdtr(nu, w) - 1) + 2 * density * (nu + w**2) / (nu - 1) - least)
    normal = z * (2 * ndtr(z) - 1) + 2 * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) - 1 / np.sqrt(np.pi)
    return np.where(heavy, student, normal)


def _heavy(dof: Any) -> tuple[np.ndarray, np.ndarray]:
    dof = np.asarray(dof, np.float64)
    heavy = np.isfinite(dof)
    return heavy, np.where(heavy, dof, STAND_IN)


def _scale(nu: np.ndarray) -> np.ndarray:
    return np.sqrt((nu - 2) / nu)
