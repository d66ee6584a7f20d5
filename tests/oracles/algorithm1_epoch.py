"""The outer loop of Algorithm 1 around `algorithm1.sweep`: PasP, the centre, the noise, the M-step."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, log_ndtr

from oracles.algorithm1 import Layer, Rules, blank, group_prob, spike_slab, sweep

NOISE_LOW, NOISE_HIGH = 1e-6, 1e6


def margin_sums(z_post: tuple, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted sums of the first and second moment of z_m - z_y, each sample counted once over its rivals."""
    sums = np.zeros(2)
    n_classes = z_post[0].shape[1]
    for i, label in enumerate(y):
        for m in range(n_classes):
            if m != label:
                mean = z_post[0][i, m] - z_post[0][i, label]
                var = z_post[1][i, m] + z_post[1][i, label]
                sums += weight[i] / (n_classes - 1) * np.array([mean, mean**2 + var])
    return sums


def noise_sums(rules: Rules, z_post: tuple, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Sums over rows that the noise update needs."""
    if rules.task == "regression":
        return sum(weight[i] * ((y[i] - z_post[0][i]) ** 2 + z_post[1][i]) for i in range(len(y)))
    return margin_sums(z_post, y, weight)


def noise_target(rules: Rules, sums: np.ndarray, weight: float) -> np.ndarray | float:
    """Closed form for regression, minimum-Gumbel fit for classification."""
    if rules.task == "regression":
        return sums / weight
    mean, second = sums / weight
    scale = np.sqrt(6) / np.pi * np.sqrt(second - mean**2)
    return scale**2 * rules.best_noise_var((mean + np.euler_gamma * scale) / scale)


def log_evidence(rules: Rules, z_fwd: tuple, y: np.ndarray, weight: np.ndarray, noise_var: np.ndarray) -> float:
    """Log score of every row before it was learned from."""
    p, v_p = z_fwd
    total = 0.0
    for i in range(len(p)):
        if rules.task == "regression":
            var = v_p[i] + noise_var
            total += weight[i] * (-0.5 * ((y[i] - p[i]) ** 2 / var + np.log(2 * np.pi * var))).sum()
        else:
            for m in range(p.shape[1]):
                if m != y[i]:
                    spread = np.sqrt(noise_var + v_p[i, m] + v_p[i, y[i]])
                    total += weight[i] * log_ndtr((p[i, y[i]] - p[i, m]) / spread)
    return total


def carry_over(rules: Rules, layer: Layer, w_ext: tuple, b_ext: tuple, batch_weight: float) -> None:
    """The posterior becomes the next prior."""
    power = rules.pasp_power
    if rules.pasp == "anchored":
        batches = rules.n_rows / batch_weight
        power = batches * rules.memory / (batches * rules.memory + 1)
    rest = 1 - power if rules.pasp == "anchored" else 0.0
    layer.w_shift = power * (layer.w_shift + w_ext[0])
    layer.w_prec = power * (layer.w_prec + w_ext[1]) + rest / layer.base_var
    layer.b_shift = power * (layer.b_shift + b_ext[0])
    layer.b_prec = power * (layer.b_prec + b_ext[1]) + rest / layer.bias_base_var


def recentre(rules: Rules, layer: Layer, drift: np.ndarray, batch_weight: float) -> None:
    """The centre follows the mean input of 50 rows at least; the bias's mean takes over what that takes away."""
    move = min(rules.centre_rate, batch_weight / 50) * drift * layer.active_prob
    for m in range(len(layer.b_shift)):
        taken = sum(move[n] * layer.w_shift[n, m] / layer.w_prec[n, m] for n in range(len(move)))
        layer.b_shift[m] = (layer.b_shift[m] / layer.b_prec[m] + taken) * layer.b_prec[m]
    layer.centre = layer.centre + move


def epoch(
    rules: Rules,
    layers: list[Layer],
    noise_var: np.ndarray,
    noise_scale: np.ndarray,
    group_of: np.ndarray | None,
    batches: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, float]:
    """Run over (x, y, weight) batches; `layers` change in place. Gives the noise variance and the log-evidence."""
    sums, seen, evidence = 0.0, 0.0, 0.0
    low, high = NOISE_LOW * noise_scale, NOISE_HIGH * noise_scale
    times = rules.data_weight / rules.memory if rules.pasp == "anchored" else 1.0  # each row counts, in this epoch
    for x, y, weight in batches:
        last = None if rules.sweeps == 1 else blank(layers, len(x))
        for t in range(rules.sweeps):
            damping = 0.0 if t == 0 else rules.damping
            last = sweep(rules, layers, group_of, x, y, times * weight, noise_var, last, damping)
        for layer, w_ext, b_ext in zip(layers, last.w_ext, last.b_ext, strict=True):
            carry_over(rules, layer, w_ext, b_ext, weight.sum())
        for layer, drift in zip(layers[1:], last.drift, strict=True):
            recentre(rules, layer, drift, weight.sum())
        batch_sums = noise_sums(rules, last.z_post, y, weight)
        evidence += log_evidence(rules, last.z_fwd, y, weight, noise_var)
        sums, seen = sums + batch_sums, seen + weight.sum()
        if rules.noise_every == "minibatch":
            target = noise_target(rules, batch_sums, weight.sum())
            rows = weight.sum() ** 2 / (weight**2).sum()
            if rules.task == "regression":
                squares = weight @ (y - last.z_post[0]) ** 2
                share = squares / (squares + weight @ last.z_post[1])
                target = target * np.exp(share**2 * (np.log(weight.sum() / 2) - digamma(weight.sum() / 2)))
            target = np.clip(target, low, high)
            rate = 1 - (1 - rules.noise_rate) ** max(rows / 100, 20 * weight.sum() / rules.n_rows)
            noise_var = np.exp((1 - rate) * np.log(noise_var) + rate * np.log(target))
    if rules.noise_every == "epoch":
        target = noise_target(rules, sums, seen)
        noise_var = np.clip(target if rules.task == "regression" else 0.5 * (target + noise_var), low, high)
    for l, layer in enumerate(layers):
        m_step(rules, layer, group_of if l == 0 else None)
    return noise_var, evidence


def m_step(rules: Rules, layer: Layer, group_of: np.ndarray | None) -> None:
    """Base variance by EM, damped by half in log; then a new look at the groups."""
    if rules.learn_base_var:
        mean, var = spike_slab(layer.w_shift, layer.w_prec, layer.active_prob[:, None])
        count = max(layer.active_prob.sum() * mean.shape[1], 1.0)
        target = np.clip((mean**2 + var).sum() / count, 0.01 * layer.base_var_start, 100 * layer.base_var_start)
        layer.base_var = np.sqrt(layer.base_var * target)
    if rules.prior == "group":
        layer.active_prob = group_prob(layer, layer.w_shift, layer.w_prec, group_of)
