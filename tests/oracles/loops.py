"""Index loops written from the equations: the linear factor, the probit sites, ridge regression."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

Arrays = tuple[np.ndarray, ...]


def linear_forward(
    u_mean: np.ndarray,
    u_var: np.ndarray,
    w_mean: np.ndarray,
    w_var: np.ndarray,
    b_mean: np.ndarray,
    b_var: np.ndarray,
    s_prev: np.ndarray,
) -> Arrays:
    """Mean and variance of z from below, with the Onsager term."""
    n_rows, n_in, n_out = len(u_mean), *w_mean.shape
    p, v_p = np.zeros((n_rows, n_out)), np.zeros((n_rows, n_out))
    for i in range(n_rows):
        for m in range(n_out):
            v_bar = sum(u_var[i, n] * w_mean[n, m] ** 2 + u_mean[i, n] ** 2 * w_var[n, m] for n in range(n_in))
            plain = sum(u_mean[i, n] * w_mean[n, m] for n in range(n_in))
            p[i, m] = plain + b_mean[m] - s_prev[i, m] * (v_bar + b_var[m])
            v_p[i, m] = v_bar + sum(u_var[i, n] * w_var[n, m] for n in range(n_in)) + b_var[m]
    return p, v_p


def linear_to_weight(
    u_mean: np.ndarray, u_var: np.ndarray, w_mean: np.ndarray, s: np.ndarray, v_s: np.ndarray
) -> Arrays:
    """shift and prec to every weight; the self-coupling is floored at zero."""
    n_rows, n_in, n_out = len(u_mean), *w_mean.shape
    shift, prec = np.zeros((n_in, n_out)), np.zeros((n_in, n_out))
    for n in range(n_in):
        for m in range(n_out):
            prec[n, m] = sum(u_mean[i, n] ** 2 * v_s[i, m] for i in range(n_rows))
            coupling = prec[n, m] - sum(u_var[i, n] * v_s[i, m] for i in range(n_rows))
            data = sum(u_mean[i, n] * s[i, m] for i in range(n_rows))
            shift[n, m] = data + w_mean[n, m] * max(coupling, 0.0)
    return shift, prec


def linear_to_bias(b_mean: np.ndarray, s: np.ndarray, v_s: np.ndarray) -> Arrays:
    """shift and prec to every bias."""
    prec = np.array([sum(v_s[i, m] for i in range(len(s))) for m in range(len(b_mean))])
    shift = np.array([sum(s[i, m] for i in range(len(s))) + b_mean[m] * prec[m] for m in range(len(b_mean))])
    return shift, prec


def linear_to_input(
    u_mean: np.ndarray, w_mean: np.ndarray, w_var: np.ndarray, s: np.ndarray, v_s: np.ndarray
) -> Arrays:
    """shift and prec to every input; the self-coupling is floored at zero."""
    n_rows, n_in, n_out = len(u_mean), *w_mean.shape
    shift, prec = np.zeros((n_rows, n_in)), np.zeros((n_rows, n_in))
    for i in range(n_rows):
        for n in range(n_in):
            prec[i, n] = sum(v_s[i, m] * w_mean[n, m] ** 2 for m in range(n_out))
            coupling = prec[i, n] - sum(v_s[i, m] * w_var[n, m] for m in range(n_out))
            shift[i, n] = sum(s[i, m] * w_mean[n, m] for m in range(n_out)) + u_mean[i, n] * max(coupling, 0.0)
    return shift, prec


def ridge(x: np.ndarray, y: np.ndarray, prior_var: np.ndarray, noise_var: float) -> Arrays:
    """Posterior mean and marginal variances of y = x w + noise, w ~ N(0, diag(prior_var))."""
    cov = np.linalg.inv(np.diag(1 / prior_var) + x.T @ x / noise_var)
    return cov @ x.T @ y / noise_var, np.diag(cov)


def _h(a: float) -> float:
    return float(np.exp(norm.logpdf(a) - norm.logcdf(a)))


def probit_score(p: np.ndarray, v_p: np.ndarray, y: int, v: float) -> Arrays:
    """s and v_s of one sample by the site formulas, class by class."""
    n = len(p)
    s, v_s, tau, eta = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for m in range(n):
        if m != y:
            total = v + v_p[m] + v_p[y]
            a = (p[y] - p[m]) / np.sqrt(total)
            r = _h(a)
            q = r * (a + r) / total
            tau[m] = q / (1 - v_p[y] * q)
            eta[m] = (r / np.sqrt(total) + p[y] * q) / (1 - v_p[y] * q)
    big_t, big_h = tau.sum(), eta.sum()
    s[y] = (big_h - p[y] * big_t) / (1 + v_p[y] * big_t)
    v_s[y] = big_t / (1 + v_p[y] * big_t)
    for m in range(n):
        if m != y:
            v_c = v_p[y] / (1 + v_p[y] * (big_t - tau[m]))
            mu_c = (p[y] + v_p[y] * (big_h - eta[m])) / (1 + v_p[y] * (big_t - tau[m]))
            total = v + v_c + v_p[m]
            a = (mu_c - p[m]) / np.sqrt(total)
            s[m] = -_h(a) / np.sqrt(total)
            v_s[m] = _h(a) * (a + _h(a)) / total
    return s, v_s


def probit_exact(p: np.ndarray, v_p: np.ndarray, y: int, v: float) -> Arrays:
    """log-evidence, s and v_s of one sample by quadrature over z_y: given z_y the rivals are independent."""
    t = np.linspace(-14.0, 14.0, 8001)
    z_y = p[y] + np.sqrt(v_p[y]) * t
    rivals = [m for m in range(len(p)) if m != y]
    std = {m: np.sqrt(v + v_p[m]) for m in rivals}
    arg = {m: (z_y - p[m]) / std[m] for m in rivals}
    density = norm.pdf(t) * np.prod([norm.cdf(arg[m]) for m in rivals], axis=0)
    step = t[1] - t[0]
    mass = density.sum() * step
    share = density / density.sum()
    s, v_s = np.zeros(len(p)), np.zeros(len(p))
    moved = (share * (z_y - p[y])).sum()
    spread = (share * (z_y - p[y] - moved) ** 2).sum()
    s[y], v_s[y] = moved / v_p[y], (1 - spread / v_p[y]) / v_p[y]
    for m in rivals:
        h = np.exp(norm.logpdf(arg[m]) - norm.logcdf(arg[m]))
        first = -(share * h).sum() / std[m]  # d log Z / d p_m
        second = -(share * h * arg[m]).sum() / std[m] ** 2  # (d2 Z / d p_m2) / Z
        s[m], v_s[m] = first, first**2 - second
    return np.log(mass), s, v_s
