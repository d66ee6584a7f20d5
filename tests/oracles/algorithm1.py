"""One epoch of Algorithm 1 for ReLU networks, written from the equations: loops over samples, units and outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace as Layer

import numpy as np
from scipy.special import expit, log_ndtr
from scipy.stats import norm

from oracles import loops

MIN_VAR = 1e-16


@dataclass
class Rules:
    """What the epoch is run with."""

    task: str
    prior: str
    pasp: str
    noise_every: str
    sweeps: int
    damping: float
    trust: float
    noise_rate: float
    centre_rate: float
    pasp_power: float
    data_weight: float
    memory: float
    n_rows: float
    learn_base_var: bool
    best_noise_var: Callable[[float], float]  # the special function F, tested by itself


def relu(p: float, var: float, eta: float, tau: float) -> tuple[float, float, float, float]:
    """Mean and variance of u, s and v_s of z, for z ~ N(p, var), u = max(z, 0), message exp(eta u - tau u^2 / 2)."""
    on_mean, on_var = (p + var * eta) / (1 + var * tau), var / (1 + var * tau)
    gain = -0.5 * np.log1p(var * tau) + (var * eta**2 + 2 * p * eta - tau * p**2) / (2 * (1 + var * tau))
    a, c = on_mean / np.sqrt(on_var), -p / np.sqrt(var)
    prob = expit(gain + log_ndtr(a) - log_ndtr(c))
    h_on, h_off = (np.exp(norm.logpdf(t) - log_ndtr(t)) for t in (a, c))
    on = on_mean + np.sqrt(on_var) * h_on, on_var * (1 - h_on * (a + h_on))
    off = p - np.sqrt(var) * h_off, var * (1 - h_off * (c + h_off))
    u_mean = prob * on[0]
    u_var = prob * (on[1] + on[0] ** 2) - u_mean**2
    z_mean = prob * on[0] + (1 - prob) * off[0]
    z_var = prob * (on[1] + (on[0] - z_mean) ** 2) + (1 - prob) * (off[1] + (off[0] - z_mean) ** 2)
    return u_mean, u_var, (z_mean - p) / var, (1 - z_var / var) / var


def relus(p: np.ndarray, var: np.ndarray, eta: np.ndarray, tau: np.ndarray) -> list[np.ndarray]:
    """`relu` of every sample and unit."""
    out = np.array([[relu(*(a[i, m] for a in (p, var, eta, tau))) for m in range(p.shape[1])] for i in range(len(p))])
    return [out[..., k] for k in range(4)]


def slab_evidence(shift: np.ndarray, prec: np.ndarray, base_var: float) -> np.ndarray:
    """Savage-Dickey: log N(0; 0, base_var) - log N(0; mean, var)."""
    return norm.logpdf(0, 0, np.sqrt(base_var)) - norm.logpdf(0, shift / prec, np.sqrt(1 / prec))


def group_prob(layer: Layer, shift: np.ndarray, prec: np.ndarray, group_of: np.ndarray | None) -> np.ndarray:
    """Posterior probability of every unit's group."""
    per_unit = [slab_evidence(shift[n], prec[n], layer.base_var).sum() for n in range(len(shift))]
    names = np.arange(len(shift)) if group_of is None else group_of
    total = [sum(per_unit[j] for j in range(len(shift)) if names[j] == names[n]) for n in range(len(shift))]
    return expit(layer.offset + np.array(total))


def spike_slab(shift: np.ndarray, prec: np.ndarray, prob: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a slab that is there with this probability."""
    mean, var = shift / prec, 1 / prec
    return prob * mean, prob * (var + mean**2) - (prob * mean) ** 2


def held(shift: np.ndarray, prec: np.ndarray, ext: tuple, trust: float) -> tuple[np.ndarray, np.ndarray]:
    """The trust region: the step of the mean, not the precision, is scaled down as a whole."""
    if np.isinf(trust):
        return ext
    found = expected = 0.0
    for index in np.ndindex(shift.shape):
        score = ext[0][index] - ext[1][index] * shift[index] / prec[index]
        found += score**2 / prec[index]
        expected += trust * ext[1][index] / prec[index]
    scale = min(1.0, np.sqrt(expected / found)) if found > 0 else 1.0
    start = shift / prec
    full = (shift + ext[0]) / (prec + ext[1])
    return (start + scale * (full - start)) * (prec + ext[1]) - shift, ext[1]


def sweep(rules: Rules, layers: list[Layer], group_of: np.ndarray | None, x, y, weight, noise_var, last, damping):
    """One forward and one backward pass; `last` is None on a minibatch's only sweep."""
    depth, rows = len(layers), len(x)
    u_mean, u_var = x, np.zeros_like(x)
    inputs, weights, biases, forward = [], [], [], []
    for l, layer in enumerate(layers):
        w_shift, w_prec, b_shift, b_prec = layer.w_shift, layer.w_prec, layer.b_shift, layer.b_prec
        if last:
            w_shift, w_prec = w_shift + last.w_ext[l][0], w_prec + last.w_ext[l][1]
            b_shift, b_prec = b_shift + last.b_ext[l][0], b_prec + last.b_ext[l][1]
        prob = layer.active_prob
        if rules.prior == "group" and not layer.sure:
            prob = group_prob(layer, w_shift, w_prec, group_of if l == 0 else None)
        weights.append(spike_slab(w_shift, w_prec, prob[:, None]))
        b_prob = expit(layer.bias_offset + slab_evidence(b_shift, b_prec, layer.bias_base_var))
        biases.append(spike_slab(b_shift, b_prec, b_prob))
        inputs.append((u_mean - layer.centre, u_var))
        old = last.score[l][0] if last else np.zeros((rows, len(b_shift)))
        p, v_p = loops.linear_forward(*inputs[l], *weights[l], *biases[l], old)
        forward.append((p, np.maximum(v_p, MIN_VAR)))
        if l < depth - 1:
            message = last.u_bwd[l] if last else (np.zeros_like(p), np.zeros_like(p))
            u_mean, u_var, _, _ = relus(*forward[l], *message)

    p, v_p = forward[-1]
    if rules.task == "regression":
        s, v_s = (y - p) / (v_p + noise_var), 1 / (v_p + noise_var)
    else:
        pairs = [loops.probit_score(p[i], v_p[i], y[i], noise_var) for i in range(rows)]
        s, v_s = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    found = Layer(w_ext=[None] * depth, b_ext=[None] * depth, u_bwd=[None] * depth, score=[None] * depth)
    found.z_fwd, found.z_post = (p, v_p), (p + v_p * s, v_p * np.maximum(1 - v_p * v_s, 0))
    for l in reversed(range(depth)):
        layer = layers[l]
        if l < depth - 1:
            _, _, s, v_s = relus(*forward[l], *found.u_bwd[l])
            v_s = np.clip(v_s, 0, 1 / forward[l][1])
        if last:
            s, v_s = (new + damping * (old - new) for new, old in zip((s, v_s), last.score[l], strict=True))
        w_s, w_v_s = weight[:, None] * s, weight[:, None] * v_s
        data_var = np.zeros_like(inputs[l][1]) if last is None else inputs[l][1]
        coupling_var = np.zeros_like(weights[l][1]) if last is None else weights[l][1]
        w_ext = loops.linear_to_weight(inputs[l][0], data_var, weights[l][0], w_s, w_v_s)
        found.w_ext[l] = held(layer.w_shift, layer.w_prec, w_ext, rules.trust)
        b_ext = loops.linear_to_bias(biases[l][0], w_s, w_v_s)
        found.b_ext[l] = held(layer.b_shift, layer.b_prec, b_ext, rules.trust)
        found.score[l] = (s, v_s)
        if l > 0:
            shift, prec = loops.linear_to_input(inputs[l][0], weights[l][0], coupling_var, s, v_s)
            found.u_bwd[l - 1] = (shift + prec * layer.centre, prec)
    total = max(weight.sum(), 1)
    found.drift = [sum(weight[i] * inputs[l][0][i] for i in range(rows)) / total for l in range(1, depth)]
    return found


def blank(layers: list[Layer], rows: int) -> Layer:
    """Messages that say nothing, before the first of several sweeps."""
    zeros = lambda *shape: (np.zeros(shape), np.zeros(shape))  # noqa: E731
    return Layer(
        w_ext=[zeros(*layer.w_shift.shape) for layer in layers],
        b_ext=[zeros(*layer.b_shift.shape) for layer in layers],
        u_bwd=[zeros(rows, len(layer.b_shift)) for layer in layers],
        score=[zeros(rows, len(layer.b_shift)) for layer in layers],
    )
