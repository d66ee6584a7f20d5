"""The predictive distribution of targets: the one type of every prediction.

Density: Student's t by its mean and standard deviation, std^2 = epistemic_std^2 + aleatoric_std^2, with `dof` degrees
of freedom; infinite ones make it a Gaussian. That of counts is determined by the same numbers, and of a likelihood that
gives no more than moments nothing else is known. Its arrays are NumPy's, in float64, or JAX's. Oracle: scipy.stats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from . import counts, student_t

if TYPE_CHECKING:
    import pandas as pd


class Stretch(Protocol):
    """Factors of the two variances, and degrees of freedom, one for each target: `training.calibration.Calibration`."""

    @property
    def epistemic(self) -> np.ndarray:
        """Factor of the epistemic variance."""

    @property
    def noise(self) -> np.ndarray:
        """Factor of the aleatoric variance."""

    @property
    def dof(self) -> np.ndarray:
        """Degrees of freedom."""


LEAST_LOG_VAR = 1e-6
"""Floor of the variance of a log rate, where the probability of a count is an integral in float32."""


class Level(NamedTuple):
    """Means over rows of the two variances, (targets,) each."""

    epistemic_var: np.ndarray
    aleatoric_var: np.ndarray


class Distribution(NamedTuple):
    """A predictive distribution: `mean`, the two parts of its standard deviation, and the degrees of freedom `dof`.

    It is a Student's t; infinite degrees of freedom, the default, make it a Gaussian. Estimators predict in the units
    of y.
    """

    mean: Any
    epistemic_std: Any  # from not knowing the weights: shrinks with data
    aleatoric_std: Any  # from the noise: does not
    dof: Any = np.inf

    @classmethod
    def from_vars(cls, mean: Any, epistemic_var: Any, aleatoric_var: Any, dof: Any = np.inf) -> Distribution:
        """The distribution with these two parts of the variance; the aleatoric one may be the same for all rows.

        With a mean on the host all arrays are on the host and in float64; with a JAX array they are JAX's.
        """
        if isinstance(mean, jax.Array):
            aleatoric = jnp.broadcast_to(jnp.sqrt(aleatoric_var), jnp.shape(epistemic_var))
            return cls(mean, jnp.sqrt(epistemic_var), aleatoric, dof)
        mean, epistemic_var, aleatoric_var = (np.asarray(a, np.float64) for a in (mean, epistemic_var, aleatoric_var))
        return cls(mean, np.sqrt(epistemic_var), np.broadcast_to(np.sqrt(aleatoric_var), epistemic_var.shape), dof)

    @property
    def std(self) -> Any:
        """Standard deviation of a new observation."""
        hypot = jnp.hypot if isinstance(self.mean, jax.Array) else np.hypot
        return hypot(self.epistemic_std, self.aleatoric_std)

    @property
    def var(self) -> Any:
        """Variance of a new observation."""
        return self.epistemic_var + self.aleatoric_var

    @property
    def epistemic_var(self) -> Any:
        """Variance of the mean, from not knowing the weights."""
        return self.epistemic_std**2

    @property
    def aleatoric_var(self) -> Any:
        """Variance of the noise."""
        return self.aleatoric_std**2

    def log_density(self, y: Any) -> np.ndarray:
        """Log density of new observations y, entry by entry."""
        return student_t.log_density(y, self.mean, self.std, self.dof)

    def cdf(self, y: Any) -> np.ndarray:
        """Probability that a new observation is at most y, entry by entry."""
        return student_t.cdf((y - self.mean) / self.std, self.dof)

    def quantile(self, level: float) -> np.ndarray:
        """Quantile of a new observation."""
        return self.mean + self.std * student_t.quantile(level, self.dof)

    def interval(self, coverage: float) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the central interval that holds a new observation with this probability."""
        return self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)

    def covered(self, y: Any, coverage: float) -> float:
        """Share of the entries of y that lie in their central intervals of probability `coverage`, ends included."""
        low, high = self.interval(coverage)
        return float(np.mean((low <= y) & (y <= high)))

    def pit_share(self, y: Any, level: float) -> np.ndarray:
        """Probability that the probability integral transform of y is at most `level`: 0 or 1, entry by entry."""
        return (self.cdf(y) <= level).astype(np.float64)

    def take(self, rows: Any) -> Distribution:
        """Some of the rows, or all of them in another order."""
        dof = self.dof[rows] if np.shape(self.dof) == np.shape(self.mean) else self.dof
        return type(self)(self.mean[rows], self.epistemic_std[rows], self.aleatoric_std[rows], dof)

    def level(self, weight: np.ndarray) -> Level:
        """Weighted means over the rows of the two variances."""
        return Level(*(np.average(a, axis=0, weights=weight) for a in (self.epistemic_var, self.aleatoric_var)))

    def stretched(self, by: Stretch | None) -> Distribution:
        """The same mean with both variances multiplied, and other tails; None leaves it as it is."""
        if by is None:
            return self
        epistemic, noise = np.sqrt(by.epistemic), np.sqrt(by.noise)
        return type(self)(self.mean, self.epistemic_std * epistemic, self.aleatoric_std * noise, by.dof)

    def rescaled(self, shift: Any, scale: Any) -> Distribution:
        """The distribution of shift + scale y."""
        return type(self)(self.mean * scale + shift, self.epistemic_std * scale, self.aleatoric_std * scale, self.dof)

    def on_host(self) -> Distribution:
        """The same distribution with NumPy arrays in float64, and degrees of freedom for every entry."""
        mean, epistemic, aleatoric, dof = (np.asarray(a, np.float64) for a in self)
        return type(self)(mean, epistemic, aleatoric, np.broadcast_to(dof, mean.shape))

    def to_frame(self, outputs: Sequence[str] = ("",)) -> pd.DataFrame:
        """A pandas frame with a column for each part (and each output, if there are several), none for the tails of a
        Gaussian."""
        import pandas as pd

        columns = {}
        parts = self.on_host()._asdict()
        if np.isinf(self.dof).all():
            del parts["dof"]
        for name, values in parts.items():
            for i, output in enumerate(outputs):
                columns[f"{output}_{name}" if output else name] = values[:, i] if values.ndim == 2 else values
        return pd.DataFrame(columns)


class CountDistribution(Distribution):
    """Counts of a log-normal rate (`numerics.counts`): mean and epistemic std are the rate's, the rest is Poisson's.

    Quantiles are whole numbers of at least 0. It is in the units of y only, counts: `rescaled` must leave it alone.
    """

    __slots__ = ()

    @classmethod
    def from_log_rate(cls, mean: Any, var: Any) -> CountDistribution:
        """The distribution with these moments of the log rate; on the host if they are."""
        if isinstance(mean, jax.Array):
            xp: Any = jnp
        else:
            xp, mean, var = np, np.asarray(mean, np.float64), np.asarray(var, np.float64)
        rate = xp.exp(xp.minimum(mean + 0.5 * var, counts.MAX_LOG_RATE))
        spread = xp.sqrt(xp.expm1(xp.minimum(var, counts.MAX_LOG_RATE)))
        return cls(rate, rate * spread, xp.sqrt(rate))

    @property
    def log_rate(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the log rate, on the host."""
        mean = np.maximum(np.asarray(self.mean, np.float64), np.finfo(np.float64).tiny)
        var = np.log1p(np.square(np.asarray(self.epistemic_std, np.float64) / mean))
        return np.log(mean) - 0.5 * var, var

    def log_density(self, y: Any) -> np.ndarray:
        """Log probability of new counts y, entry by entry; minus infinity where y is no count."""
        mean, var = self.log_rate
        y = np.asarray(y, np.float64)
        count = (y >= 0) & (y == np.floor(y))
        log_prob = counts.log_prob(*map(jnp.asarray, (np.where(count, y, 0), mean, np.maximum(var, LEAST_LOG_VAR))))
        return np.where(count, np.asarray(log_prob, np.float64), -np.inf)

    def cdf(self, y: Any) -> np.ndarray:
        """Probability that a new count is at most y, entry by entry."""
        return counts.cdf(y, *self.log_rate)

    def pit_share(self, y: Any, level: float) -> np.ndarray:
        """The same, where a count's transform is uniform between the probabilities of fewer and of as many."""
        below, up_to = self.cdf(np.asarray(y) - 1), self.cdf(y)
        return np.clip((level - below) / np.maximum(up_to - below, np.finfo(np.float64).tiny), 0, 1)

    def quantile(self, level: float) -> np.ndarray:
        """The least count that a new one does not exceed with this probability."""
        return counts.quantile(level, *self.log_rate)


class MomentsOnly(Distribution):
    """A predictive distribution of which only mean and variance are known: that of a likelihood without quantiles."""

    __slots__ = ()

    def log_density(self, y: Any) -> np.ndarray:
        """Raise ValueError."""
        raise ValueError("only mean and standard deviation of these predictions are known, not their density")

    def cdf(self, y: Any) -> np.ndarray:
        """Raise ValueError."""
        return self.quantile(0.5)

    def quantile(self, level: float) -> np.ndarray:
        """Raise ValueError."""
        raise ValueError("only mean and standard deviation of these predictions are known: they have no quantiles")


KINDS: dict[str, type[Distribution]] = {kind.__name__: kind for kind in (Distribution, CountDistribution, MomentsOnly)}
"""The types of distributions by their names, by which stored predictions name theirs."""
