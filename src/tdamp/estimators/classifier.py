"""TDAMPClassifier: class probabilities with the uncertainty of the weights in them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..numerics.distribution import Distribution
from ..prediction import batched
from ..sources.source import Source
from ..sources.spill import Known, Scale
from ..training.data import Data, class_indices
from . import validation
from .base import BaseTDAMP
from .fitting import fit_prepared, preparing, unchanged_on_error
from .streaming import prepare_batch, warn_of_known_rows
from .validation import check_predicted, hints


class TDAMPClassifier(ClassifierMixin, BaseTDAMP):
    """A Bayesian neural network for classification, trained by message passing (EM-TDAMP).

    A fit gives the weights' posterior, class probabilities with the weights' uncertainty in them, the noise level, and
    with `keep` a network of exactly the size asked for. Far from the training data the probabilities may be far too
    sure of themselves (`tdamp bench classes`). `class_weight` says how much each class counts relative to the others: a
    dictionary, "balanced", or None for all alike. `likelihood` names what the class scores say of the labels; None is
    "probit", the only one of classes as yet (factors/likelihoods).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tdamp import TDAMPClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TDAMPClassifier((16,), random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _task = "classification"

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (64, 64),
        *,
        layers: Any = None,
        input_shape: Sequence[int] | None = None,
        activation: str = "relu",
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
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.likelihood = likelihood

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TDAMPClassifier:
        """Train on rows of X with labels y; `class_weight` says how much each class counts, relative to the others.

        Or on a source (`tdamp.sources`) alone. A `sample_weight` counts as so many copies of its row: give weights of
        mean one if every row is an observation.
        """
        if self.class_weight is not None and isinstance(X, Source):
            raise ValueError("class_weight is not for sources: give them weights of the rows instead")
        if self.class_weight is not None:
            relative = self._class_weights(y)
            sample_weight = validation.weights(sample_weight, relative) * relative / relative.mean()
        with unchanged_on_error(self), preparing(self, X, y, sample_weight) as prepared:
            fit_prepared(self, prepared)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> TDAMPClassifier:
        """Learn from more rows, each counted once: the posterior is the prior of the next call (streaming Bayes).

        `classes` lists every class there will be; it is needed on the first call unless y has them all. Of a
        `class_weight` the mean over the classes counts as one; "balanced", which no batch can tell, is refused.
        """
        with unchanged_on_error(self):
            prepared = prepare_batch(self, X, y, sample_weight, classes)
            fit_prepared(self, prepared)
            warn_of_known_rows(self, prepared)
        return self

    @property
    def noise_var_(self) -> float:
        """Noise variance of the class scores."""
        return float(self._need_fitted().state.noise_var)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log class probabilities, (rows, classes), in the order of `classes_`."""
        log_probs = batched.log_probs(self._need_fitted(), self._new_rows(X)).astype(np.float64)
        check_predicted(log_probs.max(1))
        return log_probs

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, the uncertainty about the weights included."""
        probs = np.exp(self.predict_log_proba(X))
        return probs / probs.sum(1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class."""
        log_probs = self.predict_log_proba(X)
        return self.classes_[log_probs.argmax(1)]

    def predict_distribution(self, X: Any, as_frame: bool = False) -> Any:
        """`Distribution` of the class scores, (rows, classes): how sure the network is of each, and the noise."""
        z = batched.moments(self._need_fitted(), self._new_rows(X))
        scores = Distribution.from_vars(z.mean, z.var, 0.5 * self.noise_var_).on_host()
        return scores.to_frame([str(c) for c in self.classes_]) if as_frame else scores

    def log_score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean log probability of the true classes; higher is better."""
        scores = self._log_scores(X, y)
        return float(np.average(scores, weights=validation.weights(sample_weight, scores)))

    def _log_scores(self, X: Any, y: Any) -> np.ndarray:
        """The log probability of each row's true class."""
        log_probs, codes = self.predict_log_proba(X), self._engine_targets(validation.labels(y))
        if len(codes) != len(log_probs):
            raise ValueError(f"y has {len(codes)} labels, but X has {len(log_probs)} rows: give one label for each row")
        return log_probs[np.arange(len(log_probs)), codes]

    def _engine_targets(self, y: Any) -> np.ndarray:
        with hints():
            y = column_or_1d(y)
        return class_indices(y, self.classes_)

    def _class_weights(self, y: Any) -> np.ndarray:
        with hints():
            y = column_or_1d(validation.labels(y))
            check_classification_targets(y)
        try:
            relative = np.asarray(compute_sample_weight(self.class_weight, y), np.float64)
        except (ValueError, TypeError):
            relative = np.array([np.nan])
        if not (np.isfinite(relative).all() and (relative >= 0).all() and relative.max() > 0):
            raise ValueError(
                f"class_weight={self.class_weight!r}: expected a dictionary that gives labels finite weights of at "
                'least 0, not all zero, or "balanced", or None'
            )
        return relative

    def _weigh_classes(self, data: Data) -> Data:
        if self.class_weight is None:
            return data
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs all labels, and partial_fit sees some of them: give a dictionary, such '
                "as dict(zip(classes, sklearn.utils.class_weight.compute_class_weight('balanced', classes=classes, "
                "y=labels_of_many_rows))), or weights of the rows (sample_weight)"
            )
        relative = self._class_weights(self.classes_)
        return data._replace(weight=data.weight * (relative / relative.mean())[data.y])

    def _learn_targets(self, y: np.ndarray, weight: np.ndarray, classes: Any = None) -> None:
        if isinstance(classes, Set):
            classes = list(classes)
        self.classes_ = np.unique(y if classes is None else validation.labels(classes, "classes"))
        if len(self.classes_) < 2:
            raise ValueError(
                f"{'y' if classes is None else 'classes'} has only one class, {self.classes_.tolist()}: "
                "a classifier needs at least two classes; in partial_fit list them all (classes=...)"
            )

    def _learn_source_targets(self, known: Known) -> None:
        self._learn_targets(known.labels, np.ones(len(known.labels)))

    def _source_targets(self, known: Known) -> Scale:
        codes = self._engine_targets(known.labels)
        return lambda places: codes[places[:, 0].astype(int)]

    def _n_targets(self) -> int:
        return len(self.classes_)


TDAMPClassifier.__doc__ = f"{TDAMPClassifier.__doc__}\n    {(BaseTDAMP.__doc__ or '').strip()}\n"
