"""Algorithm 1 as printed, from the first epoch to the last: PasP with lambda = 1 and the rule of Section III-C.

Each group's active probability rho is carried itself, as its log-odds, and multiplied by the ratios 1 / eta of eq.
(Wlnpost); nothing is known here of base priors or of evidence against them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from oracles.algorithm1 import Layer, Rules, slab_evidence, sweep
from oracles.algorithm1_epoch import NOISE_HIGH, NOISE_LOW, noise_sums, noise_target

Batch = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass
class Printed:
    """What is learned. A layer has w_shift, w_prec, b_shift, b_prec (slabs), and the log-odds rho and rho_b."""

    rules: Rules
    layers: list[Layer]
    noise_var: np.ndarray
    noise_scale: np.ndarray
    target: float  # rho Q_W
    rho_th: float
    rho_0: float
    restarts: list[int] = field(default_factory=list)  # the epochs after which the rule acted
    left: list[list[int]] = field(default_factory=list)  # units of each layer after every epoch

    def epoch(self, batches: list[Batch]) -> None:
        """E-step over the minibatches, M-step, and the modified rule for rho."""
        sums, seen = 0.0, 0.0
        for x, y, weight in batches:
            found = self._sweep(x, y, weight)
            for layer, w_ext, b_ext in zip(self.layers, found.w_ext, found.b_ext, strict=True):
                layer.rho = layer.rho + log_ratio(layer.w_shift, layer.w_prec, w_ext).sum(1)
                layer.rho_b = layer.rho_b + log_ratio(layer.b_shift, layer.b_prec, b_ext)
                layer.w_shift, layer.w_prec = layer.w_shift + w_ext[0], layer.w_prec + w_ext[1]
                layer.b_shift, layer.b_prec = layer.b_shift + b_ext[0], layer.b_prec + b_ext[1]
            sums, seen = sums + noise_sums(self.rules, found.z_post, y, weight), seen + weight.sum()
        best = noise_target(self.rules, sums, seen)
        new = best if self.rules.task == "regression" else 0.5 * best + 0.5 * self.noise_var
        self.noise_var = np.clip(new, NOISE_LOW * self.noise_scale, NOISE_HIGH * self.noise_scale)
        self._control_sparsity()

    def _sweep(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Layer:
        """Modules B and A; a fresh minibatch has no messages yet, so that B passes the prior on."""
        for layer in self.layers:
            layer.active_prob, layer.sure = expit(layer.rho), True
            layer.bias_offset = layer.rho_b - slab_evidence(layer.b_shift, layer.b_prec, layer.bias_base_var)
        return sweep(self.rules, self.layers, None, x, y, weight, self.noise_var, None, 0.0)

    def _control_sparsity(self) -> None:
        """S > rho Q_W: rho_0 for the groups at rho_th and above, 0 for the others. Biases have no such rule."""
        probs = [expit(layer.rho) for layer in self.layers]
        n_sure = sum(1 for prob in probs for p in prob if p > self.rho_th)
        if n_sure > self.target:
            self.restarts.append(len(self.left) + 1)
            for layer, prob in zip(self.layers, probs, strict=True):
                layer.rho = np.array([logit(self.rho_0) if p >= self.rho_th else -np.inf for p in prob])
        self.left.append([int((layer.rho > -np.inf).sum()) for layer in self.layers])


def log_ratio(shift: np.ndarray, prec: np.ndarray, ext: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """-log eta, eta = N(0; mean_AB, var_AB) / N(0; mean_AB - mean, var_AB + var), or its limit where var_AB = inf.

    That is the log of the mean of exp(shift_AB w - prec_AB w^2 / 2) over the slab N(w; mean, var).
    """
    found = np.zeros_like(shift)
    for index in np.ndindex(shift.shape):
        mean, var = shift[index] / prec[index], 1 / prec[index]
        shift_ab, prec_ab = ext[0][index], ext[1][index]
        if prec_ab * var > 1e-6:
            mean_ab, var_ab = shift_ab / prec_ab, 1 / prec_ab
            on, off = norm.logpdf(0, mean_ab - mean, np.sqrt(var_ab + var)), norm.logpdf(0, mean_ab, np.sqrt(var_ab))
            found[index] = on - off
        else:  # the Gaussian integral by completing the square: the difference above would lose its digits
            exponent = mean * shift_ab + var * shift_ab**2 / 2 - prec_ab * mean**2 / 2
            found[index] = exponent / (1 + prec_ab * var) - np.log1p(prec_ab * var) / 2
    return found
