"""What both estimators share: from parameters to settings, scales, training with early stop, streaming."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..engine.network import Network, Task
from ..engine.settings import PAPER, Settings, check_network
from ..numerics.scaling import ScaledRows, counted_rows, identity_scales, input_scales, scaled, sorted_rows
from ..prediction import batched
from ..selection.refit import AGAIN_ROWS, fit_table
from ..selection.streamed import CHUNK_NUMBERS, fit_streamed, n_held
from ..sources.source import Source
from ..sources.spill import Known, Scale, Streamed, read, spilling, store
from ..training.callbacks import Callbacks
from ..training.checkpoint import Checkpoint
from ..training.compilation import keep_compiled
from ..training.data import Data
from ..training.equal_rows import learned
from ..training.events import outline
from ..training.fingerprint import problem_of
from ..training.fitted import Fitted
from ..training.outcome import Outcome, TrainingWarning
from ..training.progress import Show, reading, watching
from ..training.repeats import warn_of_copies
from . import validation
from .defaults import (
    DEEP_HIDDEN,
    HUGE_ROWS,
    MANY_STEPS,
    choose,
    choose_classes,
    choose_shallow,
    counted_once,
    deep,
    noise_rate,
    pruning,
)
from .fitted_attributes import Findings
from .parameters import by_epoch, check_switches, group_ids, hidden_widths, is_auto, kept, seed_of

SOURCES = 2**31
"""Keeps the order of a source's rows apart from a training's own random numbers, whose seeds are smaller."""


TUNABLE = (
    "prior", "pruning", "active_threshold", "init_active_prob", "pasp", "data_weight", "noise_every", "noise_rate",
    "trust", "centre_rate", "input_dropout", "sweeps", "batch_size", "max_epochs", "prediction",
)  # fmt: skip
"""Parameters that are settings of the engine; where one is "auto" the preset decides, or the size of the data."""


class Learner(Findings, BaseEstimator):
    """The parameters of both estimators.

    Parameters
    ----------
    hidden_layer_sizes : widths of the hidden layers.
    activation : "relu", "leaky_relu", "abs", "hard_tanh" or "identity".
    preset : "paper" trains by Algorithm 1 as printed (`Settings.paper`) and predicts by its posterior mean, without
        early stopping or calibration; a parameter that is not "auto" wins. None: as this library recommends.
    prior : "gaussian" (every unit is needed), "group" (each unit is needed or not, with a probability) or "burst"
        (neighbours are needed together). `keep` works with each.
    keep : what remains of the inputs and hidden units: a fraction of all, a number of units, or a fraction for each
        layer's units; None removes none.
    pruning : "exact" ends with exactly the number asked for, "paper" is the published rule.
    active_threshold, init_active_prob : the published rule's rho_th, from which on a unit is surely needed, and rho_0,
        the probability at which units are put in question (with a group prior); 0.9 and 0.5.
    groups : inputs that stay or go together: an id for each input, or lists of columns by position or name. A group
        counts as one unit towards `keep`.
    pasp : "anchored" or "paper", how the posterior is carried from batch to batch.
    data_weight : how often each datum counts, a number or one for each epoch.
    noise_update : "em", "numerical" or "fixed".
    noise_every : "minibatch" or "epoch", how often the noise is learned; `partial_fit` does with every minibatch.
    noise_rate : how fast the noise is learned with every minibatch (`Settings.noise_rate`). It counts rows, so that it
        is as fast with any `batch_size`.
    trust : how far a minibatch may move a layer beyond what is expected of it (`Settings.trust`); None: as far as it
        wants.
    centre_rate : how fast hidden layers follow the mean of their inputs; 0 leaves them uncentred.
    input_dropout : the share of the inputs that each row does without, at random and anew in every epoch of training
        (with `standardize` they are at their mean then). "auto" is 0; 0.1 suits images.
    sweeps, batch_size, max_epochs, data_weight, trust, noise_every, noise_rate : "auto" chooses them from the size of
        the data (`tdamp.auto`). The other defaults of "auto" are the first ones named, or those of `Settings`.
    early_stopping : judge epochs by the log score of rows that are not trained on; "auto" does so when there are rows
        enough. They tell a regression also how wide to predict. `validation_fraction` of the rows is held out, and
        training stops after `patience` epochs without a better score. A network with a Gaussian prior and all its units
        is then trained on all rows; up to 3,000 rows are judged in five folds instead (`tdamp.twins`).
    prediction : "posterior" carries the weights' uncertainty through the network; "mean" predicts by the network of the
        posterior means, with the noise as its only uncertainty. Exports do the same.
    standardize : bring the inputs (and a regression's targets) to mean zero and variance one. Inputs that are zero in
        more than three quarters of the rows (pixels, counts, rare categories) keep a variance below one: as if a
        quarter of their rows were not zero.
    random_state : seed of the start, the order of the data, and the rows held out.
    warm_start : a second `fit` goes on from the first one's posterior. Rows that the first one held out are held out
        again. If it learned from all, or from other rows, none can say when to stop: then all of `max_epochs` are
        trained, predictions stay as wide as they were, and a warning says so.
    devices : "all", or how many devices share every minibatch, with the same result but for rounding; None: one. The
        five folds of `early_stopping`, and predictions, use one.
    verbose : 0 silent, 1 a progress bar, 2 a line for each epoch; of several processes the first one tells.
    callbacks : functions of (epoch, fitted, record), called after every epoch of the training whose posterior is kept;
        one that gives back True ends it. Objects may also have `on_start(info)` and `on_end(fitted)`
        (`tdamp.TrainingCallback`; `tdamp.ScalarLogger` for TensorBoard and MLflow).
    checkpoint_dir : a folder where `fit` keeps what it has come to. After a crash the same fit goes on from there, to
        the same bits; one that had ended is there at once. Callbacks are not called again for epochs that are done. It
        belongs to one fit: with other data or parameters choose another folder, or delete it. A `random_state` of None
        is drawn once and kept there. `partial_fit` keeps nothing: save the model instead.

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
        preset: str | None = None,
        prior: str = "auto",
        keep: float | int | Sequence[float] | None = None,
        pruning: str = "auto",
        active_threshold: Any = "auto",
        init_active_prob: Any = "auto",
        groups: Any = None,
        pasp: str = "auto",
        data_weight: Any = "auto",
        noise_update: str = "em",
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
        callbacks: Sequence[Callable[..., Any]] | None = None,
        checkpoint_dir: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.preset = preset
        self.prior = prior
        self.keep = keep
        self.pruning = pruning
        self.active_threshold = active_threshold
        self.init_active_prob = init_active_prob
        self.groups = groups
        self.pasp = pasp
        self.data_weight = data_weight
        self.noise_update = noise_update
        self.noise_every = noise_every
        self.noise_rate = noise_rate
        self.trust = trust
        self.centre_rate = centre_rate
        self.input_dropout = input_dropout
        self.sweeps = sweeps
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.prediction = prediction
        self.standardize = standardize
        self.random_state = random_state
        self.warm_start = warm_start
        self.devices = devices
        self.verbose = verbose
        self.callbacks = callbacks
        self.checkpoint_dir = checkpoint_dir

    # what the two tasks do differently

    def _prepare_target(self, y: np.ndarray, weight: np.ndarray, first: bool, classes: Any = None) -> np.ndarray:
        """y as the engine wants it; on the `first` fit it also learns classes or scales."""
        raise NotImplementedError

    def _n_outputs(self) -> int:
        raise NotImplementedError

    def _weighed(self, data: Data) -> Data:
        """A batch of `partial_fit`, its rows as heavy as their classes make them."""
        return data

    def _learn_target(self, known: Known, first: bool) -> Scale:
        """`_prepare_target` for a source: from targets, or from labels by their place among those known."""
        raise NotImplementedError

    # training

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        again = bool(self.warm_start) and hasattr(self, "fitted_")
        with self._whole_or_not_at_all():
            if isinstance(X, Source):
                if y is not None or sample_weight is not None:
                    raise ValueError("y and sample_weight come from the source: call fit(source) without them")
                hold_out = self._fit_source(X, again)
            else:
                network, data = self._prepared(X, y, sample_weight, first=not again)
                settings, hold_out = self._settings(network, len(data.x))
                fraction = self.validation_fraction if hold_out else None
                if hold_out:
                    warn_of_copies(data.x, data.y, stacklevel=3)
                start = self.fitted_ if again else None
                others = (
                    [counted_once(settings)]
                    if is_auto(self.data_weight) and self._anneals(network, data.n_rows)
                    else []
                )
                self._train(network, data, settings, fraction, start, self.checkpoint_dir, others=others)
            if again and hold_out and self.fitted_.unseen is None:
                warnings.warn(
                    "this fit goes on from one that may have learned from any of these rows, so none can tell when to "
                    "stop or how wide to predict: it trained for all of max_epochs, and predictions are as wide as "
                    "before. Use early_stopping=False and a max_epochs of your own if that is meant, or fit anew.",
                    TrainingWarning,
                    stacklevel=3,
                )

    def _fit_source(self, source: Source, again: bool) -> bool:
        """Rows go from the source to files of their own, scaled and in random order, and training reads them there.
        Whether some should be held out."""
        trial = self._network(1, 2)  # what is wrong with the parameters is told before anything is read
        check_network(trial)
        self._settings(trial, AGAIN_ROWS)
        if self.checkpoint_dir is not None and self.random_state is None:
            raise ValueError("checkpoint_dir: give random_state a number, or a source's rows come in another order")
        rng = np.random.default_rng((SOURCES, seed_of(self.random_state)))
        with spilling(source.spill_dir) as folder:
            with reading(self.verbose, "reading", source.n_rows) as tick:
                known = read(source, self._task, folder, rng, tick)
            validation.check_weights(known.largest_weight, known.x.weight, known.n_rows, stacklevel=5)
            validate_data(self, known.shape.example(), reset=not again, skip_check_array=True)
            if not again:
                n_inputs = known.shape.n_inputs
                self.x_mean_, self.x_scale_ = known.x.input_scales() if self.standardize else identity_scales(n_inputs)
            to_y = self._learn_target(known, first=not again)
            network, start = self._network(), self.fitted_ if again else None
            self._check_goes_on(network, first=not again)
            settings, hold_out = self._settings(network, known.n_rows)
            fraction = self.validation_fraction if hold_out else None
            few = known.n_rows <= AGAIN_ROWS and known.n_rows * known.shape.n_inputs <= CHUNK_NUMBERS
            with reading(self.verbose, "shuffling", known.n_rows) as tick:
                held = 0 if few or again else n_held(known.n_rows, fraction)
                data = store(known, self._scaled, to_y, folder, held, rng, tick)
            self._train(network, data.in_memory() if few else data, settings, fraction, start, self.checkpoint_dir)
            return hold_out

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> None:
        with self._whole_or_not_at_all():
            first = not hasattr(self, "fitted_")
            network, data = self._prepared(X, y, sample_weight, first, classes)
            data = self._weighed(data)
            chosen, _ = self._settings(network, len(data.x), streams=True)
            known = None if first else self.fitted_.learned
            again = known is not None and not known.of_new(data.x, data.y).any()
            in_question = not first and bool(np.isfinite(self.fitted_.state.layers[0].offset).any())
            settings = replace(
                chosen,
                max_epochs=1,
                pasp="paper",
                pasp_power=1.0,
                keep=None,
                prior=chosen.prior if in_question else "gaussian",
                noise_every="minibatch",
            )
            self._train(network, data, settings, None, None if first else self.fitted_, streams=True)
            by = self.fitted_.calibration
            if again and by is not None and not by.stretches:
                warnings.warn(
                    "partial_fit has been given rows that it had learned from before, and none that could tell how "
                    "wide to predict: intervals grow narrower with every call. "
                    "Use fit to learn from the same rows for many epochs; give partial_fit each row once.",
                    TrainingWarning,
                    stacklevel=3,
                )

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
                warnings.warn(
                    "X has one row: neither scales nor noise can be learned from it, and predictions are hardly more "
                    "than the prior. Use more rows; scales stay those of the first call, in partial_fit too.",
                    TrainingWarning,
                    stacklevel=5,
                )
        y = self._prepare_target(y, weight, first=first, classes=classes)
        network = self._network()
        self._check_goes_on(network, first)
        return network, Data(self._scaled(X), y, weight)

    def _check_goes_on(self, network: Network, first: bool) -> None:
        if not first and network != self.network_:
            raise ValueError(
                f"the parameters now ask for {network}, but the last fit was of {self.network_}: to go on with it keep "
                "its layers, activation and noise, or begin anew (fit with warm_start=False)"
            )

    def _train(
        self,
        network: Network,
        data: Data | Streamed,
        settings: Settings,
        fraction: float | None,
        start: Fitted | None,
        folder: Any = None,
        streams: bool = False,
        others: Sequence[Settings] = (),
    ) -> None:
        """`others` are settings that rows held out may prefer."""
        keep_compiled()
        ids = self._group_ids(network.widths[0])
        seed = seed_of(self.random_state)
        trained = data.stored if isinstance(data, Streamed) else data
        checkpoint = None
        if folder is not None:
            more = {"validation_fraction": fraction, "devices": self.devices}
            problem = problem_of(network, trained, settings, seed, ids, start, **more)
            checkpoint = Checkpoint(folder, problem, any_seed=self.random_state is None)
            seed = checkpoint.problem["seed"]
        verbose = self.verbose if self.devices is None or jax.process_index() == 0 else 0
        with watching(verbose, settings.max_epochs, len(start.history) if start else 0) as show:
            calls = Callbacks([*([show] if show else []), *(self.callbacks or ())])
            calls.on_start(outline(network, settings, len(trained.x)))
            rest: dict[str, Any] = {"seed": seed, "groups": ids, "start": start, "callback": calls}
            rest |= {"devices": self.devices, "checkpoint": checkpoint}
            if isinstance(data, Streamed):
                fitted = fit_streamed(network, data, settings, tick=show and partial(_move, show), **rest)
            else:
                rest |= {"fraction": fraction, "show": show, "streams": streams, "others": others}
                fitted, settings = fit_table(network, data, settings, **rest)
            if not isinstance(data, Streamed):
                before = start.learned if start is not None else None
                fitted = replace(fitted, learned=learned(before, data.x, data.y))
            if self.preset is not None:  # as printed, nothing is calibrated
                fitted = replace(fitted, calibration=None)
            calls.on_end(fitted)
        self.fitted_ = fitted
        some = data.some if isinstance(data, Streamed) else data
        lost = batched.lost_without_inputs(self.fitted_, some.x, some.y, ids) * (data.n_rows / len(some.x))
        of_others = streams and start is not None  # then `start` has learned from other rows
        self.lost_log_likelihood_ = lost + self.lost_log_likelihood_ if of_others else lost
        self.network_ = network
        self.n_rows_ = data.n_rows
        self.settings_ = settings
        if self.fitted_.outcome is not Outcome.OK:
            TrainingWarning.tell(self.fitted_.outcome)

    def _settings(
        self, network: Network, n_rows: int, streams: bool = False, n_all: float | None = None
    ) -> tuple[Settings, bool]:
        """The settings of a fit, and whether rows are held out to stop by; `n_rows` may be a client's of `n_all`."""
        check_switches(self)
        printed = self.preset == "paper"
        explicit = {name: value for name in TUNABLE if not is_auto(value := getattr(self, name))}
        wish = (False if printed else None) if is_auto(self.early_stopping) else bool(self.early_stopping)
        chosen = choose(network.task, n_rows, network.widths[0], network.n_layers, hold_out=wish)
        gaussian = explicit.get("prior", "gaussian") == "gaussian" and not printed
        shallow = network.task == "regression" and network.n_layers <= 2 and gaussian
        if shallow and n_rows < HUGE_ROWS and chosen.hold_out and self.keep is None and not streams:
            chosen = choose_shallow(chosen, n_rows)
        if chosen.hold_out and not streams and self._anneals(network, n_rows):
            chosen = choose_classes(chosen)
        if "data_weight" in explicit:
            explicit["data_weight"] = by_epoch("data_weight", explicit["data_weight"])
        rest = {name: getattr(chosen, name) for name in chosen._fields if name in Settings.__dataclass_fields__}
        rest.pop("memory", None)
        rest["noise_rate"] = noise_rate(n_all or n_rows, chosen.batch_size)
        values = {**rest, **(PAPER if printed else {}), **explicit}
        keep = kept(self.keep)
        further: dict[str, Any] = {}
        if keep is not None:
            further = pruning(n_rows, values["data_weight"])
        elif chosen.memory is not None and is_auto(self.data_weight):
            further["memory"] = tuple(np.geomspace(*chosen.memory, values["max_epochs"]).tolist())
        else:
            further = deep(network.n_layers, values["data_weight"], values["max_epochs"])
        named = {"noise_update": self.noise_update, "keep": keep, "patience": self.patience}
        return Settings(**{**values, **further, **named}), chosen.hold_out

    def _anneals(self, network: Network, n_rows: int) -> bool:
        """Whether this is a classification for `auto.choose_classes`."""
        plain = self.keep is None and self.preset is None and self.prior in ("auto", "gaussian")
        shallow = network.n_layers - 1 < DEEP_HIDDEN
        return network.task == "classification" and plain and shallow and MANY_STEPS <= n_rows < HUGE_ROWS

    def _network(self, n_inputs: int | None = None, n_outputs: int | None = None) -> Network:
        hidden = hidden_widths(self.hidden_layer_sizes)
        widths = (n_inputs or self.n_features_in_, *hidden, n_outputs or self._n_outputs())
        return Network(widths, self._task, self.activation, getattr(self, "noise", "constant"))

    def _group_ids(self, n_inputs: int) -> np.ndarray | None:
        """`groups` as an id for each input; also given as lists of columns, by position or name."""
        return group_ids(self.groups, getattr(self, "feature_names_in_", ()), n_inputs)

    # data

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X, y, weight = validation.checked(self, X, y, sample_weight, reset)
        return sorted_rows(*counted_rows(X, y, weight))

    def _learn_scales(self, X: np.ndarray, weight: np.ndarray) -> None:
        self.x_mean_, self.x_scale_ = input_scales(X, weight) if self.standardize else identity_scales(X.shape[1])

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return scaled("X", X, self.x_mean_, self.x_scale_)

    def _new_rows(self, X: Any) -> ScaledRows:
        check_is_fitted(self, "fitted_")
        return ScaledRows(validation.new_rows(self, X), self.x_mean_, self.x_scale_)


def _move(show: Show, epochs: float) -> None:
    """Tell how far an epoch has come."""
    show(epochs, None, {})
