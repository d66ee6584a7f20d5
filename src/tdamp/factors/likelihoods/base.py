"""What a likelihood is: one object that knows everything about one kind of target.

Its messages (`score`, `log_partition`), how training starts, the statistics and the update of its noise, the check of
y, the predictive distribution and its log score. The engine asks the network's likelihood and branches on nothing.
A new one is a subclass in a file of its own, and a line in `catalog.py`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ...numerics.beliefs import Moments, Score
from ...numerics.distribution import Distribution
from ...numerics.finite import check_finite

Task = Literal["regression", "classification"]
NoiseRule = Literal["em", "numerical", "fixed"]
ExportForm = Literal["mean", "mean_and_log_noise", "log_rate", "class_scores"]
"""What the outputs are to a file that predicts without tdamp: means of targets under constant noise; means, then
logs of noise variances relative to noise_var; logs of Poisson rates; or scores, the largest of which is the class."""

NUMBERS = "fiub"
"""Kinds of dtype that count as numbers."""
SCORED_VAR = 1e-6
"""Floor of the variance of outputs that are scored: the posterior-mean network has none, and float32 cannot integrate
over less."""


class NoiseStats(NamedTuple):
    """Sums over rows: their weight, and what the update of the noise needs, (k, outputs) or (k,)."""

    weight: Array
    sums: Array

    def mean(self) -> Array:
        """The sums per unit of weight."""
        return self.sums / jnp.maximum(self.weight, jnp.finfo(self.sums.dtype).tiny)


class OutputStart(NamedTuple):
    """Where the output layer starts: its scale, its biases, and how many outputs start from random weights."""

    var: float
    bias_mean: np.ndarray
    bias_var: float
    n_random: int


class Likelihood:
    """The density of y given the outputs z, p(y | z, noise_var). Subclasses are stateless.

    `log_concave`: every score_prec lies in [0, 1 / var], so that none has to be clipped.
    `is_calibrated`: predictions are densities whose width is fitted to held-out rows; otherwise the log score alone
    judges. `has_classes`: y are labels and predictions are probabilities. `scales_targets`: y may be standardised.
    `learns_noise`: `noise_var` is a part of the density. `export_form`: how exported files predict, or None.
    """

    name: ClassVar[str]
    task: ClassVar[Task]
    noise: ClassVar[str] = "constant"
    log_concave: ClassVar[bool] = True
    is_calibrated: ClassVar[bool] = False
    has_classes: ClassVar[bool] = False
    scales_targets: ClassVar[bool] = True
    outputs_per_target: ClassVar[int] = 1
    learns_noise: ClassVar[bool] = False
    export_form: ClassVar[ExportForm | None] = None

    def __init_subclass__(cls, **more: Any) -> None:
        """A class that predicts in its own way does not inherit the export form: its files would predict otherwise."""
        super().__init_subclass__(**more)
        own = vars(cls)
        if "export_form" not in own and ("predictive" in own or "log_probs" in own):
            cls.export_form = None

    # messages

    def score(self, z_fwd: Moments, y: Array, noise_var: Array) -> Score:
        """First and minus second derivative of `log_partition` in the mean of z_fwd."""
        raise NotImplementedError

    def log_partition(self, z_fwd: Moments, y: Array, noise_var: Array) -> Array:
        """log of the integral of N(z; z_fwd) p(y | z, noise_var), (rows,) or (rows, targets)."""
        raise NotImplementedError

    # shapes and data

    def check_outputs(self, n_outputs: int) -> None:
        """Raise ValueError if a network cannot have so many outputs."""
        if n_outputs % self.outputs_per_target:
            raise ValueError(f"likelihood={self.name!r} needs {self.outputs_per_target} outputs for each target")

    def check_y(self, y: np.ndarray, n_targets: int, dtype: Any) -> np.ndarray:
        """y as the engine wants it, or ValueError."""
        raise NotImplementedError

    def example_y(self, n_targets: int) -> np.ndarray:
        """One row of targets that passes `check_y`."""
        return np.zeros((1, n_targets))

    def target_var(self, y: np.ndarray, y_mean: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Variance of the targets, the unit of the noise variance: (targets,) or ()."""
        return share @ np.square(y - y_mean)

    def check_scales(self, y_var: np.ndarray) -> None:
        """Raise ValueError if targets of this variance cannot be learned."""

    # start

    def output_start(self, y_mean: np.ndarray, y_var: np.ndarray, n_outputs: int) -> OutputStart:
        """Where the output layer starts, given the scales of the targets."""
        return OutputStart(1.0, np.zeros(n_outputs), 1.0, n_outputs)

    # M-step of the noise

    def empty_noise_stats(self, rule: NoiseRule, n_targets: int, dtype: Any) -> NoiseStats:
        """`noise_stats` of no rows."""
        return NoiseStats(jnp.zeros((), dtype), jnp.zeros(1, dtype))

    def noise_stats(
        self, rule: NoiseRule, z_post: Moments, y: Array, row_weight: Array, noise_var: Array
    ) -> NoiseStats:
        """Sufficient statistics of a minibatch for `noise_target`; they add up over minibatches and clients."""
        return NoiseStats(row_weight.sum(), jnp.zeros(1, z_post.mean.dtype))

    def noise_target(self, rule: NoiseRule, stats: NoiseStats, noise_var: Array) -> Array:
        """The noise variance that maximises the expected log-likelihood under `stats`."""
        return noise_var

    def noise_log_bias(self, rule: NoiseRule, z_post: Moments, y: Array, row_weight: Array) -> Array:
        """By how much the mean of log(noise_target) of small minibatches falls short of the log of its mean."""
        return jnp.zeros((), z_post.mean.dtype)

    def are_noise_stats(self, rule: NoiseRule, weight: float, sums: np.ndarray) -> bool:
        """Whether rows of any kind could have these `noise_stats`, but for rounding."""
        return True

    def noise_unit(self, noise_var: np.ndarray) -> np.ndarray:
        """The unit of the sums of `noise_stats`, on the host; in it they are near one, be targets large or small."""
        return noise_var

    def damped_noise(self, noise_var: Array, target: Array) -> Array:
        """The update once an epoch: the whole way to the target, or a part of it."""
        return target

    # prediction

    def predictive(self, z: Moments, noise_var: Array) -> Distribution:
        """Predictive distribution of new targets, from the moments of all outputs; on the host if those are."""
        raise NotImplementedError

    def log_probs(self, z: Moments, noise_var: Array) -> Array:
        """Log probabilities of the classes, (rows, classes), where y are labels."""
        raise NotImplementedError

    def log_scores(self, z: Moments, y: Array, noise_var: Array) -> Array:
        """Log predictive density or probability of each row of y, (rows,)."""
        scores = self.log_partition(Moments(z.mean, jnp.maximum(z.var, SCORED_VAR)), y, noise_var)
        return scores if scores.ndim == 1 else scores.sum(-1)

    def mean_log_likelihood(self, z: np.ndarray, var: np.ndarray, y: np.ndarray, noise_var: np.ndarray) -> float:
        """Log-likelihood of rows whose outputs have means z and variances `var`, up to a constant, on the host."""
        outputs = Moments(jnp.asarray(z), jnp.asarray(var))
        return float(np.sum(np.asarray(self.log_scores(outputs, jnp.asarray(y), jnp.asarray(noise_var)), np.float64)))


class GaussianNoise(Likelihood):
    """What the likelihoods of real numbers with Gaussian noise share. The first n outputs are the targets' means."""

    task = "regression"
    is_calibrated = True
    learns_noise = True

    def check_y(self, y: np.ndarray, n_targets: int, dtype: Any) -> np.ndarray:
        """(rows, targets) of finite numbers."""
        return check_numbers(y, n_targets).astype(dtype)

    def output_start(self, y_mean: np.ndarray, y_var: np.ndarray, n_outputs: int) -> OutputStart:
        """Outputs of the targets' variance, biases at their means."""
        bias_var = float(np.square(y_mean).mean() + y_var.mean())
        return OutputStart(float(y_var.mean()), y_mean, bias_var, n_outputs)

    def empty_noise_stats(self, rule: NoiseRule, n_targets: int, dtype: Any) -> NoiseStats:
        """One sum of squares for each target."""
        return NoiseStats(jnp.zeros((), dtype), jnp.zeros(n_targets, dtype))

    def noise_stats(
        self, rule: NoiseRule, z_post: Moments, y: Array, row_weight: Array, noise_var: Array
    ) -> NoiseStats:
        """Sums of (y - z)^2 + var z. Paper: eq. (reg_v_update)."""
        n, w = y.shape[-1], row_weight[:, None]
        return NoiseStats(row_weight.sum(), (w * ((y - z_post.mean[:, :n]) ** 2 + z_post.var[:, :n])).sum(0))

    def noise_target(self, rule: NoiseRule, stats: NoiseStats, noise_var: Array) -> Array:
        """The mean squared error, the variance of z included."""
        return noise_var if rule == "fixed" else stats.mean()

    def are_noise_stats(self, rule: NoiseRule, weight: float, sums: np.ndarray) -> bool:
        """Squares are not negative."""
        return bool((sums >= 0).all())

    def noise_log_bias(self, rule: NoiseRule, z_post: Moments, y: Array, row_weight: Array) -> Array:
        """The bias of the log of a mean of squares.

        The target is a mean of squared residuals and of variances. With Gaussian residuals k rows make the log of the
        former log(k / 2) - digamma(k / 2) too small, and that of the sum less, by the square of its share. Exact where
        the variances are small.
        """
        if rule == "fixed":
            return jnp.zeros((), z_post.mean.dtype)
        n, w = y.shape[-1], row_weight[:, None]
        squares, variances = (w * (y - z_post.mean[:, :n]) ** 2).sum(0), (w * z_post.var[:, :n]).sum(0)
        share = squares / jnp.maximum(squares + variances, jnp.finfo(squares.dtype).tiny)
        half = 0.5 * jnp.maximum(row_weight.sum(), 1.0)  # a weight is copies, as everywhere in a training
        return share**2 * (jnp.log(half) - jax.scipy.special.digamma(half))

    def mean_log_likelihood(self, z: np.ndarray, var: np.ndarray, y: np.ndarray, noise_var: np.ndarray) -> float:
        """Squared errors in units of `var`, which holds the noise."""
        return float(-0.5 * ((y - z) ** 2 / var).sum())


def check_numbers(y: np.ndarray, n_targets: int) -> np.ndarray:
    """Finite numbers, (rows, targets), or ValueError."""
    if y.ndim == 1 and n_targets == 1:
        y = y[:, None]
    if y.ndim != 2 or y.shape[1] != n_targets:
        raise ValueError(f"y has shape {y.shape}: expected (rows, {n_targets})")
    if y.dtype.kind not in NUMBERS:
        raise ValueError(f"y has dtype {y.dtype}: expected numbers")
    check_finite("y", y)
    return y
