"""Attributes and methods of a fitted estimator: history, probabilities of the units, samples, a smaller network."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state

from ..engine import compact
from ..engine.network import Network
from ..engine.prune import n_groups
from ..engine.settings import Settings
from ..engine.state import remove
from ..export.plain import Plain, plain_of
from ..prediction.relevance import occam
from ..prediction.samples import Sample, draw
from ..training.data import check_groups
from ..training.fitted import Fitted, active_units
from ..training.pruning_loss import PruningLoss
from .images import of_columns
from .parameters import group_ids_of


class FittedAttributes(SelectorMixin):
    """All that a fitted estimator has but predictions."""

    fitted_: Fitted
    network_: Network
    settings_: Settings
    lost_log_likelihood_: np.ndarray  # (inputs,), in nats, without each input: see `prediction.relevance`
    x_mean_: np.ndarray
    x_scale_: np.ndarray

    @property
    def history_(self) -> pd.DataFrame:
        """A row for each epoch: log-evidence, held-out log score, noise, active units, clip counts, seconds."""
        return pd.DataFrame(list(self._need_fitted().history) or {"epoch": []}).set_index("epoch")

    @property
    def n_iter_(self) -> int:
        """Epochs trained."""
        return len(self._need_fitted().history)

    @property
    def n_units_(self) -> int:
        """Inputs and hidden units that remain."""
        return self._need_fitted().n_units

    @property
    def n_groups_(self) -> tuple[int, int]:
        """Groups that remain and groups that could go, those of the inputs and hidden units: what `keep` counts."""
        fitted, ids = (
            self._need_fitted(),
            check_groups(group_ids_of(self, self.network_.widths[0]), self.network_.widths[0]),
        )
        inputs = self.settings_.prune_inputs
        left = [int(mask.sum()) for mask in active_units(fitted.state)]
        if ids is not None:
            left[0] = len(np.unique(ids[fitted.inputs]))
        return sum(left if inputs else left[1:]), sum(n_groups(self.network_, ids, inputs))

    @property
    def pruning_loss_(self) -> PruningLoss | None:
        """Log score, and accuracy or R2, before and after pruning, by rows that were not trained on.

        None if nothing was pruned, no rows were held out, or no epoch had all units to compare with.
        """
        return self._need_fitted().pruning

    @property
    def active_prob_(self) -> tuple[np.ndarray, ...]:
        """P(needed) of every unit of every layer asked for, inputs first; removed ones have 0. Channels are units.

        An input's odds are the log-likelihood of the training data that is lost without it, against what its weights
        cost (`prediction/relevance.py`), at even prior odds and with each datum counted once; inputs of one group share
        theirs. A hidden unit's probability is that of its prior in training: one under a Gaussian prior, which
        questions none.
        """
        fitted = self._need_fitted()
        probs = []
        for width, kept, layer in zip(self.network_.widths, fitted.kept, fitted.state.layers, strict=False):
            prob = np.zeros(width)
            prob[kept] = np.asarray(layer.active_prob)
            probs.append(prob)
        counted = fitted.history[fitted.epoch - 1]["counted"] if fitted.history else 1.0
        ids = group_ids_of(self, self.network_.widths[0])
        inputs, there = fitted.kept[0], active_units(fitted.state)[0]
        cost = occam(fitted.state, counted, None if ids is None else ids[inputs])
        probs[0][inputs] = np.where(there, expit(self.lost_log_likelihood_[inputs] - cost), 0)
        return tuple(probs)

    @property
    def feature_active_prob_(self) -> np.ndarray:
        """P(the input is needed), (n_features_in_,); of images that of the channel, at each of its places."""
        return of_columns(self.network_, self.active_prob_[0])

    def _get_support_mask(self) -> np.ndarray:
        """Inputs that are more likely needed than not; if none is, the likeliest. Channels are inputs of images."""
        prob = self.active_prob_[0]
        mask = prob > 0.5
        mask[np.argmax(prob)] = True
        return of_columns(self.network_, mask)

    def sample_posterior(self, n: int = 1, random_state: Any = None) -> list[Sample]:
        """`n` networks drawn from the posterior; each is callable on rows of X and holds its weights and biases.

        Of counts they give logs of rates.
        """
        fitted = self._need_fitted()
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n={n!r}: expected a whole number of at least 1")
        y_mean, y_scale = self._y_scales()
        return draw(
            fitted,
            n,
            check_random_state(random_state),
            self.x_mean_,
            self.x_scale_,
            0.0 if y_mean is None else y_mean,
            1.0 if y_scale is None else y_scale,
        )

    def _y_scales(self) -> tuple[Any, Any]:
        return None, None

    def compact(self, min_active_prob: float = 0.5) -> Any:
        """Take out what the prior in training found unneeded (priors "group" and "burst"); returns the estimator.

        Arrays, files and exports shrink. With `keep` training has done this already, and a Gaussian prior questions no
        unit. Each layer keeps its likeliest unit at least.
        """
        fitted = self._need_fitted()
        masks = []
        for layer in fitted.state.layers:
            prob = np.asarray(layer.active_prob)
            masks.append((prob >= min_active_prob) | (np.arange(len(prob)) == prob.argmax()))
        state = remove(fitted.state, masks, fitted.network.layout.rigid)
        state, network, index = compact.take(state, fitted.network, masks, bucket=1)
        kept_units = tuple(kept[i] for kept, i in zip(fitted.kept, index, strict=True))
        self.fitted_ = replace(fitted, state=state, network=network, kept=kept_units)
        return self

    def to_plain(self) -> Plain:
        """The network as plain NumPy arrays with all scales: what the exports (`tdamp.export`) start from."""
        y_mean, y_scale = self._y_scales()
        return plain_of(
            self._need_fitted(),
            n_features=self.network_.n_columns,
            x_mean=self.x_mean_,
            x_scale=self.x_scale_,
            y_mean=y_mean,
            y_scale=y_scale,
            classes=getattr(self, "classes_", None),
            feature_names=getattr(self, "feature_names_in_", None),
        )

    def report(self, path: str | Path, X: Any = None, y: Any = None, **options: Any) -> None:
        """Write one HTML page about the model (extra `report`). X and y, rows not trained on, show its calibration.

        Options: title, image_shape=(height, width), sparsity_path, notes, where (what X and y are, in words).
        """
        from ..report import report_of

        self._need_fitted()
        report_of(self, path, X, y, **options)

    def save(self, folder: str | Path) -> None:
        """Write the fitted estimator into a folder; `tdamp.load` reads it. A crash in between leaves the old model."""
        from ..persistence.save import save  # which knows the estimators

        save(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> Any:
        """Read an estimator of this class from a folder."""
        from ..persistence.save import load

        estimator = load(folder)
        if not isinstance(estimator, cls):
            raise TypeError(f"{folder} holds a {type(estimator).__name__}, not a {cls.__name__}: use tdamp.load")
        return estimator

    def _need_fitted(self) -> Fitted:
        if not hasattr(self, "fitted_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit first.")
        return self.fitted_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")
