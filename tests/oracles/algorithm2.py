"""Algorithm 2 as the paper prints it, written from the equations: every group's and bias's log-odds are carried along.

The sweep is that of `algorithm1`; here are the odds (Module B by the evidence of each message), PasP with power 1, the
weighted geometric average with its normaliser (erratum E8), the server's noise and the paper's rule of sparsity.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from oracles.algorithm1 import Layer, Rules, slab_evidence, sweep
from oracles.algorithm1_epoch import NOISE_HIGH, NOISE_LOW, noise_sums, noise_target

Batches = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass
class Sparsity:
    """The paper's rule: how many groups are to remain, and its two numbers."""

    target: float
    threshold: float
    first: float


@dataclass
class Server:
    """psi and v. A layer has `logit` and `bias_logit`, natural slabs and a centre; `kept` are the inputs left."""

    layers: list[Layer]
    noise_var: np.ndarray
    noise_scale: np.ndarray
    kept: np.ndarray


def gain(shift: float, prec: float, eta: float, tau: float) -> float:
    """log of the integral of N(x; shift / prec, 1 / prec) exp(eta x - tau x^2 / 2)."""
    mean, var = shift / prec, 1 / prec
    return -0.5 * np.log1p(var * tau) + (var * eta**2 + 2 * mean * eta - tau * mean**2) / (2 * (1 + var * tau))


def learn(layer: Layer, w_ext: tuple, b_ext: tuple) -> None:
    """Module B's posterior, and PasP: it is the next prior, odds included."""
    for n, m in np.ndindex(layer.w_shift.shape):
        layer.logit[n] += gain(layer.w_shift[n, m], layer.w_prec[n, m], w_ext[0][n, m], w_ext[1][n, m])
    for m in range(len(layer.b_shift)):
        layer.bias_logit[m] += gain(layer.b_shift[m], layer.b_prec[m], b_ext[0][m], b_ext[1][m])
    layer.w_shift, layer.w_prec = layer.w_shift + w_ext[0], layer.w_prec + w_ext[1]
    layer.b_shift, layer.b_prec = layer.b_shift + b_ext[0], layer.b_prec + b_ext[1]


def local_training(rules: Rules, server: Server, epochs: list[Batches]) -> tuple[list[Layer], np.ndarray]:
    """Step 2: phi^k after the local epochs with fixed noise, and the sums of the last one that sigma^k is made of."""
    layers = deepcopy(server.layers)
    for batches in epochs:
        sums = 0.0
        for x, y, weight in batches:
            for layer in layers:
                layer.sure, layer.active_prob = True, expit(layer.logit)
                own = slab_evidence(layer.b_shift, layer.b_prec, layer.bias_base_var)
                layer.bias_offset = layer.bias_logit - own
            found = sweep(rules, layers, None, x[:, server.kept], y, weight, server.noise_var, None, 0.0)
            for layer, w_ext, b_ext in zip(layers, found.w_ext, found.b_ext, strict=True):
                learn(layer, w_ext, b_ext)
            sums = sums + noise_sums(rules, found.z_post, y, weight)
    return layers, sums


def geometric(parts: list[tuple[np.ndarray, np.ndarray]], shares: list[float]) -> tuple:
    """prod_k N(x; shift_k / prec_k, 1 / prec_k)^share_k: natural parameters, and the log of its integral."""
    shift = sum(share * part[0] for part, share in zip(parts, shares, strict=True))
    prec = sum(share * part[1] for part, share in zip(parts, shares, strict=True))
    log_norm = sum(
        share * (0.5 * np.log(part[1] / (2 * np.pi)) - 0.5 * part[0] ** 2 / part[1])
        for part, share in zip(parts, shares, strict=True)
    )
    return shift, prec, log_norm + 0.5 * np.log(2 * np.pi / prec) + 0.5 * shift**2 / prec


def aggregate(layers: list[list[Layer]], shares: list[float]) -> list[Layer]:
    """Step 3, eq. (ga)."""
    found = []
    for each in zip(*layers, strict=True):
        new = deepcopy(each[0])
        new.w_shift, new.w_prec, log_c = geometric([(layer.w_shift, layer.w_prec) for layer in each], shares)
        new.logit = sum(s * layer.logit for layer, s in zip(each, shares, strict=True)) + log_c.sum(1)
        new.b_shift, new.b_prec, log_c = geometric([(layer.b_shift, layer.b_prec) for layer in each], shares)
        new.bias_logit = sum(s * layer.bias_logit for layer, s in zip(each, shares, strict=True)) + log_c
        found.append(new)
    return found


def round_of(rules: Rules, rule: Sparsity, server: Server, clients: list[list[Batches]]) -> bool:
    """One round in place; tells whether the rule of sparsity acted."""
    rows = [sum(weight.sum() for _, _, weight in epochs[0]) for epochs in clients]
    found = [local_training(rules, server, epochs) for epochs in clients]
    server.layers = aggregate([layers for layers, _ in found], [n / sum(rows) for n in rows])
    target = noise_target(rules, sum(sums for _, sums in found), sum(rows))
    new = target if rules.task == "regression" else 0.5 * (target + server.noise_var)
    server.noise_var = np.clip(new, NOISE_LOW * server.noise_scale, NOISE_HIGH * server.noise_scale)
    for layer in server.layers:
        layer.active_prob = expit(layer.logit)
    sure = [layer.active_prob >= rule.threshold for layer in server.layers]
    count = sum(int((layer.active_prob > rule.threshold).sum()) for layer in server.layers)
    if count <= rule.target or not all(s.any() for s in sure):  # a layer is not to be emptied
        return False
    server.kept = server.kept[sure[0]]
    for l, layer in enumerate(server.layers):
        to = sure[l + 1] if l + 1 < len(sure) else np.ones(len(layer.b_shift), bool)
        layer.w_shift, layer.w_prec = layer.w_shift[sure[l]][:, to], layer.w_prec[sure[l]][:, to]
        for name in ("b_shift", "b_prec", "bias_logit"):
            setattr(layer, name, getattr(layer, name)[to])
        layer.centre, layer.active_prob = layer.centre[sure[l]], layer.active_prob[sure[l]]
        layer.logit = np.full(int(sure[l].sum()), logit(rule.first))
    return True
