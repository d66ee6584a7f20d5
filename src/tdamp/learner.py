"""What both estimators share: from parameters to settings, scales, training with early stop, streaming."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import blocks, given
from .auto import choose, choose_shallow, pruning
from .checks import Data
from .compilation import keep_compiled
from .findings import Findings
from .fitting import fit_table
from .network import Network, Task
from .outcome import Outcome, TrainingWarning
from .parameters import by_epoch, check_switches, group_ids, hidden_widths, is_auto, kept, seed_of
from .progress import watching
from .rows import counted_rows, identity_scales, scaled, scales_of, sorted_rows
from .settings import Settings
from .training import Fitted

ONE_ROW = (
    "X has one row: neither scales nor noise can be learned from it, and predictions are hardly more than the prior. "
    "Give more rows; scales stay those of the first call, in partial_fit too."
)


class Learner(Findings, BaseEstimator):
    """The parameters of both estimators.

    Parameters
    ----------
    hidden_layer_sizes : widths of the hidden layers.
    activation : "relu", "leaky_relu", "abs", "hard_tanh" or "identity".
    prior : "gaussian" (every unit is needed), "group" (each unit is needed or not, with a probability) or "burst"
        (neighbours are needed together). `keep` works with each.
    keep : what remains of the inputs and hidden units: a fraction of all, a number of units, or a fraction for each
        layer's units; None removes none.
    pruning : "exact" ends with exactly the number asked for, "paper" is the published rule.
    groups : inputs that stay or go together: an id for each input, or lists of columns by position or name. A group
        counts as one unit towards `keep`.
    pasp : "anchored" or "paper", how the posterior is carried from batch to batch.
    data_weight : how often each datum counts, a number or one for each epoch.
    noise_update : "em", "numerical" or "fixed".
    sweeps, batch_size, max_epochs, data_weight : "auto" chooses them from the size of the data (`tdamp.auto`).
    early_stopping : judge epochs by the log score of rows that are not trained on; "auto" does so when there are rows
        enough. They tell a regression also how wide to predict. `validation_fraction` of the rows is held out, and
        training stops after `patience` epochs without a better score. A regression with a Gaussian prior and all its
        units is then trained on all rows; up to 3,000 rows are judged in five folds instead (`tdamp.twins`).
    standardize : bring the inputs (and a regression's targets) to mean zero and variance one.
    random_state : seed of the start, the order of the data, and the rows held out.
    warm_start : a second `fit` goes on from the first one's posterior.
    verbose : 0 silent, 1 a progress bar, 2 a line for each epoch.
    callbacks : functions of (epoch, fitted, record), called after every epoch of the training whose posterior is kept;
        one that gives back True ends it.

    Attributes
    ----------
    noise_var_ : learned noise variance, in the units of y squared (one for each output).
    active_prob_, feature_active_prob_ : P(a unit is needed), layer by layer, and of the inputs.
    n_units_, n_iter_ : units that remain, epochs trained.
    history_ : a frame with a row for each epoch.
    fitted_ : the engine's result (`tdamp.Fitted`).
    x_mean_, x_scale_ : the inputs' scales.

    Notes
    -----
    The posterior is an approximation: moments stand in for densities, layers are taken to be wide, and weights
    independent. With a data weight above one it is sharper than Bayes' rule makes it. Check calibration on rows of
    your own (`tdamp.metrics`, the report).
    """

    _task: Task

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (64, 64),
        *,
        activation: str = "relu",
        prior: str = "gaussian",
        keep: float | int | Sequence[float] | None = None,
        pruning: str = "exact",
        groups: Any = None,
        pasp: str = "anchored",
        data_weight: Any = "auto",
        noise_update: str = "em",
        sweeps: Any = "auto",
        batch_size: Any = "auto",
        max_epochs: Any = "auto",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        patience: int = 15,
        standardize: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callbacks: Sequence[Callable[..., Any]] | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.prior = prior
        self.keep = keep
        self.pruning = pruning
        self.groups = groups
        self.pasp = pasp
        self.data_weight = data_weight
        self.noise_update = noise_update
        self.sweeps = sweeps
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.standardize = standardize
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callbacks = callbacks

    # what the two tasks do differently

    def _prepare_target(self, y: np.ndarray, weight: np.ndarray, first: bool, classes: Any = None) -> np.ndarray:
        """y as the engine wants it; on the `first` fit it also learns classes or scales."""
        raise NotImplementedError

    def _n_outputs(self) -> int:
        raise NotImplementedError

    # training

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        again = bool(self.warm_start) and hasattr(self, "fitted_")
        with self._whole_or_not_at_all():
            network, data = self._prepared(X, y, sample_weight, first=not again)
            settings, hold_out = self._settings(network, len(data.x))
            fraction = self.validation_fraction if hold_out else None
            self._train(network, data, settings, fraction, self.fitted_ if again else None)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> None:
        with self._whole_or_not_at_all():
            self._learn_more(X, y, sample_weight, classes)

    @contextmanager
    def _whole_or_not_at_all(self) -> Iterator[None]:
        """Scales, classes and names of a training that fails do not stay behind beside the posterior of another."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _prepared(self, X: Any, y: Any, sample_weight: Any, first: bool, classes: Any = None) -> tuple[Network, Data]:
        """The network, and rows in the engine's units; on the `first` fit their scales are learned."""
        X, y, weight = self._checked(X, y, sample_weight, reset=first)
        if first:
            self._learn_scales(X, weight)
            if len(X) == 1:
                warnings.warn(ONE_ROW, TrainingWarning, stacklevel=5)
        y = self._prepare_target(y, weight, first=first, classes=classes)
        network = self._network()
        if not first and network != self.network_:
            raise ValueError(
                f"the parameters now ask for {network}, but the last fit was of {self.network_}: to go on with it keep "
                "its layers, activation and noise, or begin anew (fit with warm_start=False)"
            )
        return network, Data(self._scaled(X), y, weight)

    def _learn_more(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> None:
        first = not hasattr(self, "fitted_")
        network, data = self._prepared(X, y, sample_weight, first, classes)
        chosen, _ = self._settings(network, len(data.x), streams=True)
        in_question = not first and bool(np.isfinite(self.fitted_.state.layers[0].offset).any())
        settings = replace(
            chosen,
            max_epochs=1,
            pasp="paper",
            pasp_power=1.0,
            keep=None,
            pruning="exact",
            prior=chosen.prior if in_question else "gaussian",
            noise_every="minibatch",
        )
        self._train(network, data, settings, None, None if first else self.fitted_)

    def _train(
        self, network: Network, data: Data, settings: Settings, fraction: float | None, start: Fitted | None
    ) -> None:
        keep_compiled()
        ids = self._group_ids(network.widths[0])
        with watching(self.verbose, settings.max_epochs, len(start.history) if start else 0) as show:
            calls = [*([show] if show else []), *(self.callbacks or ())]

            def callback(epoch: int, fitted: Fitted, record: dict[str, Any]) -> bool:
                return any([call(epoch, fitted, record) is True for call in calls])

            self.fitted_ = fit_table(
                network,
                data,
                settings,
                fraction=fraction,
                seed=seed_of(self.random_state),
                groups=ids,
                start=start,
                callback=callback if calls else None,
                show=show,
            )
        lost = blocks.lost_without_inputs(self.fitted_, data.x, data.y, ids)
        streams = start is not None and settings.pasp == "paper"  # then `start` has learned from other rows
        self.lost_log_likelihood_ = lost + self.lost_log_likelihood_ if streams else lost
        self.network_ = network
        self.n_rows_ = len(data.x)
        self.settings_ = settings
        if self.fitted_.outcome is not Outcome.OK:
            TrainingWarning.tell(self.fitted_.outcome)

    def _settings(self, network: Network, n_rows: int, streams: bool = False) -> tuple[Settings, bool]:
        """The settings of a fit, and whether rows are held out to stop by."""
        check_switches(self)
        wish = None if is_auto(self.early_stopping) else bool(self.early_stopping)
        chosen = choose(network.task, n_rows, network.widths[0], network.n_layers, hold_out=wish)
        shallow = network.task == "regression" and network.n_layers <= 2
        if shallow and chosen.hold_out and self.keep is None and self.prior == "gaussian" and not streams:
            chosen = choose_shallow(chosen, n_rows)
        given = {name: getattr(self, name) for name in ("data_weight", "sweeps", "batch_size", "max_epochs")}
        values = {name: getattr(chosen, name) if is_auto(value) else value for name, value in given.items()}
        rest = {name: getattr(chosen, name) for name in chosen._fields if name in Settings.__dataclass_fields__}
        values["data_weight"] = by_epoch("data_weight", values["data_weight"])
        keep = kept(self.keep)
        named = dict(
            prior=self.prior,
            pasp=self.pasp,
            noise_update=self.noise_update,
            pruning=self.pruning,
            keep=keep,
            patience=self.patience,
        )
        rest.pop("memory", None)
        if keep is not None:
            rest |= pruning(n_rows, values["data_weight"])
        if chosen.memory is not None and is_auto(self.data_weight):
            rest["memory"] = tuple(np.geomspace(*chosen.memory, values["max_epochs"]).tolist())
        return Settings(**{**rest, **values, **named}), chosen.hold_out

    def _network(self) -> Network:
        widths = (self.n_features_in_, *hidden_widths(self.hidden_layer_sizes), self._n_outputs())
        return Network(widths, self._task, self.activation, getattr(self, "noise", "constant"))

    def _group_ids(self, n_inputs: int) -> np.ndarray | None:
        """`groups` as an id for each input; also given as lists of columns, by position or name."""
        return group_ids(self.groups, getattr(self, "feature_names_in_", ()), n_inputs)

    # data

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X, y, weight = given.checked(self, X, y, sample_weight, reset)
        return sorted_rows(*counted_rows(X, y, weight))

    def _learn_scales(self, X: np.ndarray, weight: np.ndarray) -> None:
        self.x_mean_, self.x_scale_ = scales_of(X, weight) if self.standardize else identity_scales(X.shape[1])

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return scaled("X", X, self.x_mean_, self.x_scale_)

    def _new_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "fitted_")
        return self._scaled(given.new_rows(self, X))
