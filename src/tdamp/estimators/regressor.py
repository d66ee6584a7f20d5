"""TDAMPRegressor: regression with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ..numerics.scaling import identity_scales, scaled, scales_of
from ..prediction import batched
from ..sources.spill import Known, Scale
from . import validation
from .base import BaseTDAMP
from .fitting import fit_prepared, preparing, unchanged_on_error
from .parameters import likelihood_of
from .streaming import prepare_batch, warn_of_known_rows
from .validation import check_predicted


class TDAMPRegressor(RegressorMixin, BaseTDAMP):
    """A Bayesian neural network for regression, trained by message passing (EM-TDAMP).

    A fit gives the weights' posterior, predictions with their uncertainty, the noise level, and with `keep` a network
    of exactly the size asked for. Predictions are Student's t, as wide as rows that were not trained on ask for (see
    `early_stopping`). `noise` is "constant", or "varying": then the noise level depends on the inputs and is learned,
    too. `likelihood` names what the targets are ("gaussian", "heteroscedastic", "poisson", ...: factors/likelihoods);
    None is the one that `noise` stands for. Targets that are not real numbers, such as counts, are not standardised.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from tdamp import TDAMPRegressor
    >>> X, y = make_friedman1(300, noise=0.5, random_state=0)
    >>> model = TDAMPRegressor((32,), random_state=0).fit(X, y)
    >>> mean, std = model.predict(X, return_std=True)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    _task = "regression"

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (64, 64),
        *,
        layers: Any = None,
        input_shape: Sequence[int] | None = None,
        activation: str = "relu",
        noise: str = "constant",
        likelihood: str | None = None,
        preset: str | None = None,
        prior: str = "auto",
        keep: float | int | str | Sequence[float] | None = None,
        max_params: int | None = None,
        max_multiply_adds: int | None = None,
        prune_inputs: bool = True,
        pruning: str = "auto",
        active_threshold: Any = "auto",
        init_active_prob: Any = "auto",
        groups: Any = None,
        pasp: str = "auto",
        data_weight: Any = "auto",
        noise_update: str = "auto",
        noise_every: str = "auto",
        noise_rate: Any = "auto",
        trust: Any = "auto",
        centre_rate: Any = "auto",
        input_dropout: Any = "auto",
        sweeps: Any = "auto",
        batch_size: Any = "auto",
        max_epochs: Any = "auto",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        patience: int = 15,
        prediction: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        devices: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
        checkpoint_dir: Any = None,
    ) -> None:
        super().__init__(
            hidden_layer_sizes, layers=layers, input_shape=input_shape, activation=activation,
            preset=preset, prior=prior, keep=keep, max_params=max_params,
            max_multiply_adds=max_multiply_adds, prune_inputs=prune_inputs, pruning=pruning,
            active_threshold=active_threshold, init_active_prob=init_active_prob, groups=groups, pasp=pasp,
            data_weight=data_weight, noise_update=noise_update, noise_every=noise_every,
            noise_rate=noise_rate, trust=trust, centre_rate=centre_rate, input_dropout=input_dropout,
            sweeps=sweeps, batch_size=batch_size, max_epochs=max_epochs, early_stopping=early_stopping,
            validation_fraction=validation_fraction, patience=patience, prediction=prediction,
            standardize=standardize, random_state=random_state, warm_start=warm_start, devices=devices,
            verbose=verbose, callbacks=callbacks, checkpoint_dir=checkpoint_dir,
        )  # fmt: skip
        self.noise = noise
        self.likelihood = likelihood

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TDAMPRegressor:
        """Train on rows of X with targets y, (rows,) or (rows, outputs); or on a source (`tdamp.sources`) alone.

        A `sample_weight` counts as so many copies of its row: give weights of mean one if every row is an observation.
        """
        with unchanged_on_error(self), preparing(self, X, y, sample_weight) as prepared:
            fit_prepared(self, prepared)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> TDAMPRegressor:
        """Learn from more rows, each counted once: the posterior is the prior of the next call (streaming Bayes).

        Scales are those of the first call. Rows are predicted before they are learned from, and say how wide
        predictions must be from then on.
        """
        with unchanged_on_error(self):
            prepared = prepare_batch(self, X, y, sample_weight)
            fit_prepared(self, prepared)
            warn_of_known_rows(self, prepared)
        return self

    @property
    def noise_var_(self) -> np.ndarray:
        """Noise variance of each output, in the units of y squared; where it varies, its level."""
        fitted = self._need_fitted()
        stretch = 1.0 if fitted.calibration is None else fitted.calibration.noise
        return np.asarray(fitted.state.noise_var, np.float64) * stretch * self.y_scale_**2

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictive mean; with `return_std` also the standard deviation of a new observation."""
        predicted = self.predict_distribution(X)
        return (predicted.mean, predicted.std) if return_std else predicted.mean

    def predict_distribution(self, X: Any, as_frame: bool = False) -> Any:
        """`Distribution` (mean, epistemic std, aleatoric std), as arrays or as a frame; of counts a
        `CountDistribution`."""
        in_units = batched.predicted(self._need_fitted(), self._new_rows(X)).on_host()
        predicted = in_units.rescaled(self.y_mean_, self.y_scale_)
        check_predicted(predicted.mean, np.isfinite(predicted.std) & (predicted.std > 0))
        if self.single_output_:
            predicted = predicted.take(np.s_[:, 0])
        names = ("",) if self.single_output_ else [f"y{i}" for i in range(predicted.mean.shape[1])]
        return predicted.to_frame(names) if as_frame else predicted

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of a new observation, (rows, quantiles) or (rows, outputs, quantiles)."""
        levels = quantiles if isinstance(quantiles, list | tuple | np.ndarray) else ()
        if not len(levels) or not all(isinstance(level, Real) and 0 < float(level) < 1 for level in levels):
            raise ValueError(f"quantiles={quantiles!r}: expected numbers between 0 and 1, such as (0.05, 0.5, 0.95)")
        predicted = self.predict_distribution(X)
        return np.stack([predicted.quantile(level) for level in levels], -1)

    def predict_interval(self, X: Any, coverage: float = 0.95) -> np.ndarray:
        """The central interval that holds a new observation with this probability, (rows, 2) or (rows, outputs, 2)."""
        if not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
            raise ValueError(f"coverage={coverage!r}: expected a number between 0 and 1, such as 0.95")
        return self.predict_quantiles(X, (0.5 - coverage / 2, 0.5 + coverage / 2))

    def log_score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean log density of new observations (of all outputs together), in the units of y; higher is better."""
        scores = self._log_scores(X, y)
        return float(np.average(scores, weights=validation.weights(sample_weight, scores)))

    def _log_scores(self, X: Any, y: Any) -> np.ndarray:
        """The log density of each row's targets together."""
        predicted = self.predict_distribution(X)
        y = validation.observed(y, predicted.mean.shape)
        if self.fitted_.network.output.is_calibrated:
            scores = predicted.log_density(y)
        else:
            scores = batched.log_scores(self.fitted_, self._new_rows(X), self._engine_targets(y))
        return scores if scores.ndim == 1 else scores.sum(1)

    def _learn_targets(self, y: np.ndarray, weight: np.ndarray, classes: Any = None) -> None:
        self.single_output_ = y.ndim == 1
        y = y.astype(np.float64).reshape(len(y), -1)
        self.y_mean_, self.y_scale_ = scales_of(y, weight) if self._standardizes_y else identity_scales(y.shape[1])

    def _engine_targets(self, y: np.ndarray) -> np.ndarray:
        y = y.astype(np.float64).reshape(len(y), -1)
        if y.shape[1] != len(self.y_mean_):
            raise ValueError(
                f"y has {y.shape[1]} outputs, but the first fit had {len(self.y_mean_)}: give as many, or fit anew"
            )
        output, y = likelihood_of(self), scaled("y", y, self.y_mean_, self.y_scale_)
        return y if output.scales_targets else output.check_y(y, y.shape[1], y.dtype)

    def _learn_source_targets(self, known: Known) -> None:
        self.single_output_ = known.shape.single
        scales = known.y.scales() if self._standardizes_y else identity_scales(known.shape.n_outputs)
        self.y_mean_, self.y_scale_ = scales

    def _source_targets(self, known: Known) -> Scale:
        return self._engine_targets

    @property
    def _standardizes_y(self) -> bool:
        """Whether targets are brought to mean zero and variance one: not counts, for one."""
        return bool(self.standardize) and likelihood_of(self).scales_targets

    def _n_targets(self) -> int:
        return len(self.y_mean_)

    def _y_scales(self) -> tuple[np.ndarray, np.ndarray]:
        return self.y_mean_, self.y_scale_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags


TDAMPRegressor.__doc__ = f"{TDAMPRegressor.__doc__}\n    {(BaseTDAMP.__doc__ or '').strip()}\n"
