"""What both estimators share: the parameters with their documentation, and rows to predict."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..engine.network import Task
from ..numerics.scaling import ScaledRows, scaled
from ..sources.spill import Known, Scale
from ..training.data import Data
from . import validation
from .fitted_attributes import FittedAttributes


class BaseTDAMP(FittedAttributes, BaseEstimator):
    """The parameters of both estimators.

    Parameters
    ----------
    hidden_layer_sizes : widths of the hidden layers.
    layers : the hidden layers, in the place of `hidden_layer_sizes`, for images and sequences: a sequence of
        `tdamp.Conv`, `Dense`, `AvgPool`, `Residual` and `FixedFilter`, or their fields as dictionaries; the output is
        added. "image" is a small network that goes by the shape of the images (`estimators/defaults.py`). None (the
        default): dense layers of `hidden_layer_sizes`. Channels of all layers are units to `keep`, which the budgets
        count as well; scales are one a channel.
    input_shape : (height, width, channels) of images, or (length, channels) of sequences: X may then have these axes
        after its rows, or flat rows, place by place and channel by channel. None (the default): with layers it is taken
        from X of three axes (one channel) or four, and without them X is a table.
    activation : "relu", "leaky_relu", "abs", "hard_tanh" or "identity".
    preset : "paper" trains by Algorithm 1 as printed (`Settings.paper`) and predicts by its posterior mean, without
        early stopping or calibration; a parameter that is not "auto" wins. None: as this library recommends.
    prior : "gaussian" (every unit is needed), "group" (each unit is needed or not, with a probability) or "burst"
        (neighbours are needed together). `keep` works with each.
    keep : what remains of the inputs and hidden units: a fraction of all, a number of units, or a fraction for each
        layer's units; None removes none; "auto" finds the smallest network whose log score on rows not trained on is
        within a standard error of the best, that of all units included. `pruning_loss_` says what it cost, and a loss
        beyond chance is warned of.
    max_params, max_multiply_adds : budgets to meet instead.
    prune_inputs : whether inputs may go; if not, `keep` counts the hidden units alone.
    pruning : "exact" ends with exactly the number asked for, "paper" is the published rule.
    active_threshold, init_active_prob : the published rule's rho_th, from which on a unit is surely needed, and rho_0,
        the probability at which units are put in question (with a group prior); 0.9 and 0.5.
    groups : inputs that stay or go together: an id for each input, or lists of columns by position or name. A group
        counts as one unit towards `keep`.
    pasp : "anchored" or "paper", how the posterior is carried from batch to batch.
    data_weight : how often each datum counts, a number or one for each epoch.
    noise_update : "em", "numerical" or "fixed"; "auto" holds it where a classification has convolutions.
    noise_every : "minibatch" or "epoch", how often the noise is learned; `partial_fit` does with every minibatch.
    noise_rate : how fast the noise is learned with every minibatch (`Settings.noise_rate`). It counts rows, so that it
        is as fast with any `batch_size`.
    trust : how far a minibatch may move a layer beyond what is expected of it (`Settings.trust`); None: as far as it
        wants.
    centre_rate : how fast hidden layers follow the mean of their inputs; 0 leaves them uncentred.
    input_dropout : the share of the inputs that each row does without, at random and anew in every epoch of training
        (with `standardize` they are at their mean then). "auto" is 0; 0.1 suits images.
    sweeps, batch_size, max_epochs, data_weight, trust, noise_every, noise_rate : "auto" chooses them from the size of
        the data (`estimators/defaults.py`). The other defaults of "auto" are the first ones named, or those of
        `Settings`.
    early_stopping : judge epochs by the log score of rows that are not trained on; "auto" does so when there are rows
        enough. They also say how wide a regression predicts. `validation_fraction` of the rows is held out, and
        training stops after `patience` epochs without a better score. A network with a Gaussian prior, pruned to an
        exact size or not, is then trained on all rows; up to 3,000 rows are judged by five-fold cross-validation.
    prediction : "posterior" carries the weights' uncertainty through the network; "mean" predicts by the network of the
        posterior means, with the noise as its only uncertainty. Exports do the same.
    standardize : bring the inputs (and a regression's targets) to mean zero and variance one. Inputs that are zero in
        more than three quarters of the rows (pixels, counts, rare categories) keep a variance below one: as if a
        quarter of their rows were not zero.
    random_state : seed of the start, the order of the data, and the rows held out.
    warm_start : a second `fit` goes on from the first one's posterior. Rows that the first one held out are held out
        again. If it learned from all, or from other rows, none can say when to stop: then all of `max_epochs` are
        trained, predictions stay as wide as they were, and a warning says so. With a smaller `keep` units go on the
        schedule of the new fit.
    devices : "all", or how many devices share every minibatch, with the same result but for rounding; None: one. The
        five folds of `early_stopping`, and predictions, use one.
    verbose : 0 silent, 1 a progress bar, 2 a line for each epoch; of several processes the first one shows it.
    callbacks : functions of (epoch, fitted, record), called after every epoch of the training whose posterior is kept;
        one that returns True ends it. Objects may also have `on_start(info)` and `on_end(fitted)`
        (`tdamp.TrainingCallback`; `tdamp.ScalarLogger` for TensorBoard and MLflow).
    checkpoint_dir : a folder where `fit` keeps its state. After a crash the same fit goes on from there, to
        the same bits; one that had ended is there at once. Callbacks are not called again for epochs that are done. It
        belongs to one fit: with other data or parameters choose another folder, or delete it. A `random_state` of None
        is drawn once and kept there. `partial_fit` keeps nothing: save the model instead.

    Attributes
    ----------
    noise_var_ : learned noise variance, in the units of y squared (one for each output).
    active_prob_, feature_active_prob_ : P(a unit is needed), layer by layer, and of the inputs.
    n_units_, n_iter_ : units that remain, epochs trained.
    n_groups_ : groups that remain and groups that there were, of the inputs and hidden units that `keep` counts.
    pruning_loss_ : what pruning cost by rows that were not trained on: log score, and R2 or accuracy, before and after,
        with the standard errors of the differences; None where nothing was pruned, or nothing judged it.
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
        layers: Any = None,
        input_shape: Sequence[int] | None = None,
        activation: str = "relu",
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
        callbacks: Sequence[Callable[..., Any]] | None = None,
        checkpoint_dir: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.layers = layers
        self.input_shape = input_shape
        self.activation = activation
        self.preset = preset
        self.prior = prior
        self.keep = keep
        self.max_params = max_params
        self.max_multiply_adds = max_multiply_adds
        self.prune_inputs = prune_inputs
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

    def _learn_targets(self, y: np.ndarray, weight: np.ndarray, classes: Any = None) -> None:
        """Learn the scales or the classes of checked targets."""
        raise NotImplementedError

    def _engine_targets(self, y: np.ndarray) -> np.ndarray:
        """Checked targets as the engine takes them, by scales or classes that are known."""
        raise NotImplementedError

    def _learn_source_targets(self, known: Known) -> None:
        """Learn the scales or the classes of a source."""
        raise NotImplementedError

    def _source_targets(self, known: Known) -> Scale:
        """The function that makes `_engine_targets` of targets, or of labels by their place among those of a source."""
        raise NotImplementedError

    def _n_targets(self) -> int:
        """Columns of y, or classes, once they are known."""
        raise NotImplementedError

    def _weigh_classes(self, data: Data) -> Data:
        """A batch of `partial_fit`, its rows as heavy as their classes make them."""
        return data

    # rows in the engine's units

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return scaled("X", X, self.x_mean_, self.x_scale_)

    def _new_rows(self, X: Any) -> ScaledRows:
        check_is_fitted(self, "fitted_")
        return ScaledRows(validation.new_rows(self, X), self.x_mean_, self.x_scale_)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Parameters that an older version did not have get their defaults."""
        parameters = inspect.signature(type(self)).parameters.items()
        super().__setstate__({name: one.default for name, one in parameters} | state)
