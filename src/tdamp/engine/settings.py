"""Settings of Algorithm 1, checked when they are made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from ..factors.activations.catalog import ACTIVATIONS
from ..factors.layers.catalog import LAYERS
from ..factors.likelihoods.base import NoiseRule, Task
from ..factors.likelihoods.catalog import LIKELIHOODS
from ..factors.priors.catalog import PRIORS
from .network import Network, Noise, name_of

Pasp = Literal["anchored", "paper"]
Pruning = Literal["exact", "paper"]
NoiseEvery = Literal["minibatch", "epoch"]
Ranking = Literal["loss", "evidence"]
Prediction = Literal["posterior", "mean"]

PAPER: dict[str, Any] = {
    "prior": "group",
    "pasp": "paper",
    "pasp_power": 1.0,
    "noise_update": "em",
    "noise_every": "epoch",
    "pruning": "paper",
    "sweeps": 1,
    "trust": math.inf,
    "centre_rate": 0.0,
    "centre_inputs": False,
    "learn_base_var": False,
    "prediction": "mean",
}
"""Algorithm 1 as printed: every setting that the paper fixes. What it leaves open has its usual default."""

LEAST_WEIGHT, MOST_WEIGHT = 1e-30, 1e30
"""Bounds of data_weight and memory, which are float32 in training."""
PRUNING_DATA_WEIGHT = 2.0
PRUNING_MEMORY = 1.0
"""Bounds of data_weight and memory while units are being removed, unless memory is given."""


@dataclass(frozen=True)
class Settings:
    """How to run Algorithm 1. Every field has a default that works untuned on a sane problem.

    data_weight: how often each datum counts at the fixed point (anchored PasP); a sequence gives it epoch by
        epoch and its last value holds on.
    memory: how many epochs the posterior remembers (anchored PasP), 1 / memory being the pace of learning; a
        sequence goes epoch by epoch; None makes it equal to data_weight. (While units are being removed None holds both
        low, so that those that remain can take over, and data_weight begins anew after that.)
    keep: what remains of the units, inputs included: a fraction, a number of units, or a fraction for each
        layer's units; None keeps all. `max_params` and `max_multiply_adds` are budgets to meet instead.
    prune_inputs: whether inputs may go. If not, they do not count towards `keep` either.
    ranking: by what the exact rule removes groups: "loss", the log-likelihood expected to be lost without each, as the
        estimators do (`engine.ranking`); or "evidence", Savage-Dickey, which takes the weights of a group one by one
        and lets wide groups go first. On MNIST that keeps more hidden units, and is better; on tables it fails.
        Convolutions rank by "loss" whatever is set: a channel has far more weights than a unit.
    trust: a minibatch's scores for a layer's weights, or its biases, may have at most this many times the squares
        that are expected of a calibrated message; beyond it the step is scaled down (damp.restrain). Infinity, or
        None, leaves every step as it is.
    centre_rate, centre_inputs: how fast a hidden layer's centre, which is taken off its inputs, follows their mean (0:
        they stay as they are), and whether the mean of the data is taken off theirs.
    input_dropout: the share of the inputs that each row does without, at random and anew in every epoch. Predictions
        have all inputs. It keeps networks with many redundant inputs, such as pixels, from relying on single ones.
    noise_rate: how much 100 rows, or a twentieth of the rows if those are fewer, tell the running noise variance
        (noise_every="minibatch"): the weight of theirs in an exponential average of its logarithm.
    patience: how many epochs may bring no better score of the `monitor`, if one is given to `fit`.
    init_scale, init_noise: random means of init_scale times He's, and a variance that makes the noise-to-signal
        ratio of the untrained outputs init_noise, whatever the depth.
    active_threshold, init_active_prob: the paper's rho_th, above which a group is surely active, and its rho_0, at
        which groups start and, under pruning="paper", start again.
    prediction: "posterior" carries the posterior's moments through the network; "mean" is the network of the posterior
        means, whose outputs have no variance but the noise.
    """

    max_epochs: int = 25
    batch_size: int = 100
    sweeps: int = 1
    damping: float = 0.5
    trust: float = 4.0
    centre_rate: float = 0.02
    centre_inputs: bool = True
    input_dropout: float = 0.0
    prior: str = "gaussian"
    pasp: Pasp = "anchored"
    pasp_power: float = 1.0
    data_weight: float | tuple[float, ...] = tuple(float(k) for k in range(1, 21))
    memory: float | tuple[float, ...] | None = None
    noise_update: NoiseRule = "em"
    noise_every: NoiseEvery = "minibatch"
    noise_rate: float = 0.02
    noise_init: float = 1.0
    learn_base_var: bool = False
    keep: float | int | tuple[float, ...] | None = None
    max_params: int | None = None
    max_multiply_adds: int | None = None
    prune_inputs: bool = True
    ranking: Ranking = "evidence"
    pruning: Pruning = "exact"
    prune_start: float = 0.1
    prune_end: float = 0.5
    warm_up: int = 2
    init_active_prob: float = 0.5
    active_threshold: float = 0.9
    init_scale: float = 0.7
    init_noise: float = 0.5
    chunk_rows: int | None = None
    patience: int = 10
    prediction: Prediction = "posterior"

    @classmethod
    def paper(cls, keep: float | None = None, **explicit: Any) -> Settings:
        """Algorithm 1 as printed (`PAPER`), with a share `keep` of the units as the target; `explicit` fields win."""
        return cls(**{**PAPER, "keep": keep, **explicit})

    def __post_init__(self) -> None:
        """Raise ValueError for a setting that cannot work."""
        for name, choices in (
            ("prior", tuple(PRIORS)),
            ("pasp", get_args(Pasp)),
            ("noise_update", get_args(NoiseRule)),
            ("noise_every", get_args(NoiseEvery)),
            ("pruning", get_args(Pruning)),
            ("ranking", get_args(Ranking)),
            ("prediction", get_args(Prediction)),
        ):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(map(repr, choices))}")
        for name in ("max_epochs", "batch_size", "sweeps", "patience"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name}={value!r}: expected a whole number of at least 1")
        if self.trust is None:  # JSON has no infinity
            object.__setattr__(self, "trust", math.inf)
        for name in ("noise_init", "init_scale", "init_noise"):
            self._check_number(name, "a positive number", lambda value: 0 < value < math.inf)
        self._check_number("trust", "a positive number, or None for no limit", lambda value: value > 0)
        for name in ("init_active_prob", "active_threshold", "noise_rate", "pasp_power"):
            self._check_number(name, "a number in (0, 1]", lambda value: 0 < value <= 1)
        for name in ("centre_inputs", "prune_inputs"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name}={getattr(self, name)!r}: expected True or False")
        for name in ("damping", "centre_rate", "input_dropout"):
            self._check_number(name, "a number in [0, 1)", lambda value: 0 <= value < 1)
        if not 0 <= self.prune_start <= self.prune_end <= 1:
            raise ValueError("prune_start and prune_end are fractions of the epochs with 0 <= start <= end <= 1")
        for name in ("data_weight", "memory"):
            value = getattr(self, name)
            if value is not None and not all(LEAST_WEIGHT <= k <= MOST_WEIGHT for k in _sequence(value) or (math.nan,)):
                raise ValueError(f"{name}={value!r}: expected a positive number, or a sequence of them (1e-30 to 1e30)")
        if sum(goal is not None for goal in (self.keep, self.max_params, self.max_multiply_adds)) > 1:
            raise ValueError("give one of keep, max_params and max_multiply_adds, not several")
        fits = PRIORS[self.prior].has_paper_rule and isinstance(self.keep, float)
        if self.pruning == "paper" and self.prunes and not fits:
            raise ValueError('pruning="paper" needs prior="group" and keep as a fraction of all units')
        if self.pruning == "paper" and self.prunes and not self.prune_inputs:
            raise ValueError('pruning="paper" counts inputs as units that may go: leave prune_inputs=True')
        if self.pruning == "paper" and self.prunes and self.init_active_prob == 1:
            raise ValueError("init_active_prob=1: units that are surely active are never removed; expected less than 1")
        if isinstance(self.keep, float) and not 0 < self.keep <= 1:
            raise ValueError(f"keep={self.keep!r}: expected a fraction in (0, 1], a number of units, or None")

    def _check_number(self, name: str, expected: str, holds: Callable[[float], bool]) -> None:
        """Raise ValueError unless it holds; the number becomes a float of Python's, whatever it was."""
        value = getattr(self, name)
        if not isinstance(value, Real) or isinstance(value, bool) or not holds(float(value)):
            raise ValueError(f"{name}={value!r}: expected {expected}")
        object.__setattr__(self, name, float(value))

    @property
    def prunes(self) -> bool:
        """Whether units are to be removed."""
        return not (self.keep is None and self.max_params is None and self.max_multiply_adds is None)

    def data_weight_at(self, epoch: int) -> float:
        """data_weight in the given epoch, counted from 0."""
        if not self.adapts:
            return _at(self.data_weight, epoch)
        rest = epoch - math.ceil(self.prune_end * self.max_epochs)
        return _at(self.data_weight, rest) if rest >= 0 else min(_at(self.data_weight, epoch), PRUNING_DATA_WEIGHT)

    def memory_at(self, epoch: int) -> float:
        """memory in the given epoch, counted from 0."""
        if self.memory is not None:
            return _at(self.memory, epoch)
        weight = self.data_weight_at(epoch)
        pruning = self.adapts and epoch < self.prune_end * self.max_epochs
        return min(weight, PRUNING_MEMORY) if pruning else weight

    @property
    def adapts(self) -> bool:
        """Whether data weight and memory are held low while units go: unless memory is given."""
        return self.prunes and self.pruning == "exact" and self.memory is None


def _sequence(value: float | tuple[float, ...]) -> tuple[float, ...]:
    return (float(value),) if isinstance(value, int | float) else tuple(map(float, value))


def _at(value: float | tuple[float, ...], epoch: int) -> float:
    values = _sequence(value)
    return values[min(epoch, len(values) - 1)]


def _check_layers(network: Network) -> None:
    layers = network.layers
    if layers is None or network.input_shape is not None:  # those of an input shape have been placed
        return
    if not isinstance(layers, tuple) or len(layers) != network.n_layers:
        raise ValueError(f"layers={layers!r}: expected {network.n_layers}, one between each two of widths")
    for one in layers:
        if type(one) not in LAYERS.values():
            raise ValueError(f"layers has {one!r}: expected one of {', '.join(LAYERS)}")


def check_network(network: Network) -> None:
    """Raise ValueError for a network the engine cannot run."""
    if len(network.widths) < 2 or any(not isinstance(n, Integral) or n < 1 for n in network.widths):
        raise ValueError(f"widths={network.widths!r}: expected at least two positive whole numbers, inputs to outputs")
    _check_layers(network)
    if not isinstance(network.activation, str) or network.activation not in ACTIVATIONS:
        raise ValueError(f"activation={network.activation!r}: expected one of {', '.join(ACTIVATIONS)}")
    if network.task not in get_args(Task):
        raise ValueError(f'task={network.task!r}: expected "regression" or "classification"')
    if network.noise not in get_args(Noise):
        raise ValueError(f'noise={network.noise!r}: expected "constant" or "varying"')
    if network.likelihood is None and name_of(network.task, network.noise) is None:
        raise ValueError('noise="varying" belongs to a regression with two outputs for each target')
    if network.likelihood is not None and network.likelihood not in LIKELIHOODS:
        raise ValueError(f"likelihood={network.likelihood!r}: expected one of {', '.join(LIKELIHOODS)}")
    network.output.check_outputs(network.widths[-1])
