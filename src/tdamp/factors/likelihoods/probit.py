"""Classes: the label's score beats every other under Gaussian noise.

Density: prod_(m != y) Phi((z_y - z_m) / sqrt(noise_var)). Paper: eq. (classification_likelihood);
errata E3 (the last message), E12 (not normalised over the classes). One EP sweep: first the sites on z_y
from every rival, then each rival's message from z_y's cavity. Exact for two classes, approximate for more, always
proper (0 < score_prec < 1/var). Oracle: quadrature for each site, autodiff for two classes.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.special import log_ndtr

from ...numerics import gaussian_argmax, gumbel, truncated_normal
from ...numerics.beliefs import Moments, Score
from ...numerics.distribution import Distribution
from .base import Likelihood, NoiseRule, NoiseStats

NOISE_DAMPING = 0.5
_GRID = np.linspace(-4.0, 4.0, 41)  # log candidates around the present noise variance, for `numerical`
_HERMITE = np.polynomial.hermite_e.hermegauss(9)
MIN_VAR = 1e-16
"""Floor of the variance of a noisy score, as in engine.damp."""

ROUNDING = 1e-3
"""Sums of the same numbers may differ by this much: float32, in another order."""


class Probit(Likelihood):
    """The product over the rivals m of Phi((z_y - z_m) / sqrt(noise_var)); y are labels 0, 1, ..."""

    name = "probit"
    task = "classification"
    has_classes = True
    learns_noise = True
    export_form = "class_scores"

    def check_outputs(self, n_outputs: int) -> None:
        """Raise ValueError for less than two outputs, one for each class."""
        if n_outputs < 2:
            raise ValueError("a classifier needs at least two outputs, one for each class")

    def check_y(self, y: np.ndarray, n_targets: int, dtype: Any) -> np.ndarray:
        """(rows,) of labels, int32."""
        if y.ndim != 1 or y.dtype.kind not in "iu":
            raise ValueError(f"y has shape {y.shape} and dtype {y.dtype}: expected one integer label for each row")
        if y.min() < 0 or y.max() >= n_targets:
            raise ValueError(f"labels run from {y.min()} to {y.max()}: expected 0 to {n_targets - 1}")
        return y.astype(np.int32)

    def example_y(self, n_targets: int) -> np.ndarray:
        """One row of labels, the first class."""
        return np.zeros(1, int)

    def target_var(self, y: np.ndarray, y_mean: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Scores have no unit."""
        return np.ones(())

    def score(self, z_fwd: Moments, y: Array, noise_var: Array) -> Score:
        """Score and score_prec of every class score z."""
        mean, var = z_fwd
        is_label, (y_mean, y_var) = _of_label(z_fwd, y)
        rival = 1 - is_label
        total = noise_var + var + y_var
        std = jnp.sqrt(total)
        cut = _cut(mean - y_mean, total)
        spread = noise_var + var + y_var * cut.var  # = total (1 - y_var * curvature), without the cancellation
        site_prec = rival * cut.shrink / spread
        site_shift = rival * (cut.mean * std + y_mean * cut.shrink) / spread

        prec = site_prec.sum(-1, keepdims=True)
        shift = site_shift.sum(-1, keepdims=True)
        y_score = (shift - y_mean * prec) / (1 + y_var * prec)
        y_prec = prec / (1 + y_var * prec)

        shrink = 1 + y_var * (prec - site_prec)
        cavity_var = y_var / shrink
        cavity_mean = (y_mean + y_var * (shift - site_shift)) / shrink
        total = noise_var + var + cavity_var
        std = jnp.sqrt(total)
        cut = truncated_normal.above((mean - cavity_mean) / std)
        rival_score = -cut.mean / std
        rival_prec = cut.shrink / total
        return Score(
            is_label * y_score + rival * rival_score,
            is_label * y_prec + rival * rival_prec,
        )

    def log_partition(self, z_fwd: Moments, y: Array, noise_var: Array) -> Array:
        """Sum over the rivals of log Phi of the margin: a proxy of the log-evidence, exact for two classes."""
        mean, var = z_fwd
        is_label, (y_mean, y_var) = _of_label(z_fwd, y)
        cut = _cut(mean - y_mean, noise_var + var + y_var)
        return ((1 - is_label) * cut.log_mass).sum(-1)

    def empty_noise_stats(self, rule: NoiseRule, n_targets: int, dtype: Any) -> NoiseStats:
        """A sum for each candidate, or two moments of the margins."""
        return NoiseStats(jnp.zeros((), dtype), jnp.zeros(len(_GRID) if rule == "numerical" else 2, dtype))

    def noise_stats(
        self, rule: NoiseRule, z_post: Moments, y: Array, row_weight: Array, noise_var: Array
    ) -> NoiseStats:
        """Moments of the margins z_m - z_y, or the objective at each candidate. Paper: eq. (cls_v); erratum E4."""
        weight = row_weight.sum()
        margin, rival = margins(z_post, y)
        w = row_weight[:, None] * rival / (margin.mean.shape[-1] - 1)
        if rule == "numerical":
            nodes, weights = _HERMITE
            points = margin.mean[..., None] + jnp.sqrt(margin.var)[..., None] * jnp.asarray(nodes, w.dtype)
            share = w[..., None] * jnp.asarray(weights / weights.sum(), w.dtype)
            scales = jnp.exp(-0.5 * jnp.asarray(_GRID, w.dtype)) / jnp.sqrt(noise_var)
            objective = [(share * truncated_normal.log_ndtr(-points * s)).sum() for s in scales]
            return NoiseStats(weight, jnp.stack(objective))
        return NoiseStats(weight, jnp.stack([(w * margin.mean).sum(), (w * (margin.mean**2 + margin.var)).sum()]))

    def are_noise_stats(self, rule: NoiseRule, weight: float, sums: np.ndarray) -> bool:
        """Log probabilities are not positive; the mean of the margins' squares is no less than their mean's square."""
        if rule == "numerical":
            return bool((sums <= 0).all())
        return bool(sums[1] * weight >= np.square(sums[0]) * (1 - ROUNDING))

    def noise_target(self, rule: NoiseRule, stats: NoiseStats, noise_var: Array) -> Array:
        """The noise variance of the minimum-Gumbel fit of the margins, or the best candidate."""
        if rule == "fixed":
            return noise_var
        mean = stats.mean()
        if rule == "numerical":
            return noise_var * jnp.exp(_peak(mean))
        loc, scale = gumbel.fit(mean[0], mean[1])
        scale = jnp.maximum(scale, jnp.finfo(scale.dtype).tiny)
        return scale**2 * gumbel.best_noise_var(loc / scale)

    def noise_unit(self, noise_var: np.ndarray) -> np.ndarray:
        """The unit of the margins, and that of their squares."""
        return np.stack([np.sqrt(noise_var), noise_var])

    def damped_noise(self, noise_var: Array, target: Array) -> Array:
        """Half old, half new. Paper: eq. (cls_v_update)."""
        return noise_var + NOISE_DAMPING * (target - noise_var)

    def predictive(self, z: Moments, noise_var: Array) -> Distribution:
        """Moments of the noisy class scores."""
        return Distribution.from_vars(z.mean, z.var, noise_var)

    def log_probs(self, z: Moments, noise_var: Array) -> Array:
        """log P(y) = log P(the noisy score of y is the largest), (rows, classes): scores N(z_y, V_y + noise / 2)."""
        return gaussian_argmax.log_probs(z.mean, jnp.sqrt(jnp.maximum(z.var + 0.5 * noise_var, MIN_VAR)))

    def log_scores(self, z: Moments, y: Array, noise_var: Array) -> Array:
        """Log probabilities of the labels: `log_partition` is not normalised over the classes (erratum E12)."""
        return jnp.take_along_axis(self.log_probs(z, noise_var), jnp.asarray(y)[:, None], axis=-1)[:, 0]

    def mean_log_likelihood(self, z: np.ndarray, var: np.ndarray, y: np.ndarray, noise_var: np.ndarray) -> float:
        """The product over the rivals, with the variances of both scores."""
        own = np.arange(len(y)), y
        margin = (z[own][:, None] - z) / np.sqrt(noise_var + var + var[own][:, None])
        score: Any = log_ndtr(margin)
        score[own] = 0.0
        return float(score.sum())


def margins(z_post: Moments, label: Array) -> tuple[Moments, Array]:
    """Moments of margin = z_m - z_y for every class m, and a mask of the rivals m != y."""
    is_label, (y_mean, y_var) = _of_label(z_post, label)
    return Moments(z_post.mean - y_mean, z_post.var + y_var), 1 - is_label


def _of_label(z: Moments, label: Array) -> tuple[Array, Moments]:
    """Which class is the label, one-hot, and the moments of its score, (rows, 1)."""
    is_label = jax.nn.one_hot(label, z.mean.shape[-1], dtype=z.mean.dtype)
    return is_label, Moments(*((moment * is_label).sum(-1, keepdims=True) for moment in z))


def _cut(gap: Array, total: Array) -> truncated_normal.Truncated:
    """The margin's noise where the label wins, compiled once for `score` and `log_partition`.

    XLA turns gap / sqrt(total) into a product with rsqrt only where the root has no other use, which would make two.
    """
    return truncated_normal.above(gap * jax.lax.rsqrt(total))


def _peak(objective: Array) -> Array:
    """Where a smooth function sampled on _GRID peaks: its best node, moved by a parabola through three."""
    i = jnp.clip(jnp.argmax(objective), 1, len(_GRID) - 2)
    left, here, right = objective[i - 1], objective[i], objective[i + 1]
    bend = left - 2 * here + right
    shift = jnp.where(bend < 0, 0.5 * (left - right) / jnp.where(bend < 0, bend, -1), 0)
    return jnp.asarray(_GRID, objective.dtype)[i] + jnp.clip(shift, -1, 1) * float(_GRID[1] - _GRID[0])
