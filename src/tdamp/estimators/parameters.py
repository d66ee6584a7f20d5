"""From an estimator's parameters to its likelihood, network, groups and settings, checked in `fit`.

The estimators and the federation both begin here; the size of the data decides what is "auto" (`defaults`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..engine.network import Network, name_of
from ..engine.prune import n_groups
from ..engine.settings import PAPER, PRUNING_MEMORY, Settings
from ..factors.likelihoods.base import Likelihood
from ..factors.likelihoods.catalog import LIKELIHOODS
from ..factors.priors.catalog import PRIORS
from ..training.data import check_groups
from . import defaults
from .images import hidden_layers, network_of_layers
from .stages import LONG_MEMORY, staged

TUNABLE = (
    "prior", "pruning", "active_threshold", "init_active_prob", "pasp", "data_weight", "noise_every", "noise_rate",
    "trust", "centre_rate", "input_dropout", "sweeps", "batch_size", "max_epochs", "prediction", "noise_update",
)  # fmt: skip
"""Parameters that are settings of the engine; where one is "auto" the preset decides, or the size of the data."""

NOISES = ("constant", "varying")
"""What the parameter `noise` of a regression may be."""


def is_auto(value: Any) -> bool:
    """Whether the size of the data decides."""
    return isinstance(value, str) and value == "auto"


def all_needed(prior: Any) -> bool:
    """Whether every unit is needed under an estimator's `prior`, or under the default if that is "auto".

    False for a prior that there is not: `Settings` refuses it.
    """
    name = Settings.prior if is_auto(prior) else prior
    return isinstance(name, str) and name in PRIORS and not PRIORS[name].in_question


def likelihood_of(estimator: Any) -> Likelihood:
    """The likelihood of an estimator's targets, by its parameters `likelihood` and (of a regression) `noise`."""
    noise, name = getattr(estimator, "noise", "constant"), estimator.likelihood
    if not isinstance(noise, str) or noise not in NOISES:
        raise ValueError(f'noise={noise!r}: expected "constant" or "varying"')
    default = str(name_of(estimator._task, noise))
    if name is None:
        return LIKELIHOODS[default]
    choices = [known for known, member in LIKELIHOODS.items() if member.task == estimator._task]
    if not isinstance(name, str) or name not in choices:
        raise ValueError(f"likelihood={name!r}: expected None or one of {', '.join(map(repr, choices))}")
    if noise == "varying" and name != default:
        raise ValueError(f'noise="varying" is likelihood={default!r}, not {name!r}: leave one of them out')
    return LIKELIHOODS[name]


def network_of(estimator: Any, n_inputs: int | None = None, n_targets: int | None = None) -> Network:
    """The network that an estimator asks for, once it knows its columns and targets, or with so many."""
    output = likelihood_of(estimator)
    n_outputs = (n_targets or estimator._n_targets()) * output.outputs_per_target
    named = None if name_of(output.task, output.noise) == output.name else output.name
    layers = None if estimator.layers is None else hidden_layers(estimator)
    if layers is not None:
        rest = {"task": output.task, "activation": estimator.activation, "noise": output.noise, "likelihood": named}
        return network_of_layers(estimator, layers, n_outputs, **rest)
    widths = (n_inputs or estimator.n_features_in_, *hidden_widths(estimator.hidden_layer_sizes), n_outputs)
    return Network(widths, output.task, estimator.activation, output.noise, named)  # type: ignore[arg-type]


def group_ids_of(estimator: Any, n_inputs: int) -> np.ndarray | None:
    """The estimator's `groups` as an id for each input, or None."""
    return group_ids(estimator.groups, getattr(estimator, "feature_names_in_", ()), n_inputs)


def settings_of(
    estimator: Any, network: Network, n_rows: int, streams: bool = False, n_all: float | None = None
) -> tuple[Settings, bool]:
    """The settings of a fit with all units, and whether rows are held out to stop by.

    `n_rows` may be a client's of `n_all`.
    """
    check_switches(estimator)
    printed = estimator.preset == "paper"
    explicit = {name: value for name in TUNABLE if not is_auto(value := getattr(estimator, name))}
    early = estimator.early_stopping
    chosen = defaults.choose(n_rows, (False if printed else None) if is_auto(early) else bool(early))
    needed = all_needed(estimator.prior) and not printed
    shallow = network.output.is_calibrated and network.n_layers <= 2 and needed and network.is_flat
    if chosen.hold_out and not streams and shallow and n_rows < defaults.HUGE_ROWS:
        chosen = defaults.choose_shallow(chosen, n_rows)
    if not streams and anneals(estimator, network, n_rows):
        if not network.is_flat:
            chosen = defaults.choose_images(chosen)
        elif chosen.hold_out:
            chosen = defaults.choose_classes(chosen)
    if "data_weight" in explicit:
        explicit["data_weight"] = by_epoch("data_weight", explicit["data_weight"])
    rest = {name: getattr(chosen, name) for name in chosen._fields if name in Settings.__dataclass_fields__}
    rest.pop("memory", None)
    rest["noise_rate"] = defaults.noise_rate(n_all or n_rows, chosen.batch_size)
    values = {**rest, **(PAPER if printed else {}), **explicit}
    further: dict[str, Any] = {}
    if chosen.memory is not None and is_auto(estimator.data_weight):
        further["memory"] = tuple(np.geomspace(*chosen.memory, values["max_epochs"]).tolist())
    else:
        further = defaults.deep(network.n_layers, values["data_weight"], values["max_epochs"])
    return Settings(**{**values, **further, "patience": estimator.patience}), chosen.hold_out


LEAST_SHARE = 0.05
"""Share of the units in the smallest network that keep="auto" tries."""


def with_goal(estimator: Any, network: Network, settings: Settings) -> list[Settings]:
    """The settings with the estimator's goal of what remains, in stages if the exact rule is to meet it: several, if
    rows held out are to choose how fast a regression forgets while units go."""
    goal: dict[str, Any] = {
        "keep": kept(estimator.keep),
        "prune_inputs": bool(estimator.prune_inputs),
        "ranking": "loss",
    }
    goal |= {name: getattr(estimator, name) for name in ("max_params", "max_multiply_adds")}
    if is_auto(goal["keep"]):
        ids = check_groups(group_ids_of(estimator, network.widths[0]), network.widths[0])
        counts = n_groups(network, ids, goal["prune_inputs"])
        goal["keep"] = max(round(LEAST_SHARE * sum(counts)), sum(count > 0 for count in counts))
    aimed = replace(settings, **goal)
    if not aimed.prunes or settings.pruning == "paper":
        return [aimed]
    epochs = None if is_auto(estimator.max_epochs) else settings.max_epochs
    memories = (PRUNING_MEMORY,) if network.output.has_classes else (PRUNING_MEMORY, LONG_MEMORY)
    return [replace(staged(settings, epochs, memory), **goal) for memory in memories]


def of_whole(estimator: Any, plain: Sequence[Settings]) -> list[Settings]:
    """The settings of the network with all units that keep="auto" is compared with, of which rows held out choose as
    they do without a goal; none for another goal."""
    same: dict[str, Any] = {"prune_inputs": bool(estimator.prune_inputs), "ranking": "loss"}
    return [replace(settings, **same) for settings in plain] if is_auto(estimator.keep) else []


def anneals(estimator: Any, network: Network, n_rows: int) -> bool:
    """Whether this is a classification for `defaults.choose_classes`, or of images for `defaults.choose_images`."""
    plain = estimator.preset is None and all_needed(estimator.prior)
    many = network.n_layers - 1 < defaults.DEEP_HIDDEN and n_rows >= defaults.MANY_STEPS
    return network.output.has_classes and plain and (many or not network.is_flat) and n_rows < defaults.HUGE_ROWS


def check_switches(estimator: Any) -> None:
    """Raise ValueError for a switch that is neither on nor off: the text "no" would count as on."""
    for name in ("early_stopping", "standardize", "warm_start", "prune_inputs"):
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_) and not (name == "early_stopping" and is_auto(value)):
            choices = 'True, False or "auto"' if name == "early_stopping" else "True or False"
            raise ValueError(f"{name}={value!r}: expected {choices}")
    fraction = estimator.validation_fraction
    if not isinstance(fraction, Real) or not 0 < float(fraction) < 1:
        raise ValueError(f"validation_fraction={fraction!r}: expected a number in (0, 1)")
    if not isinstance(estimator.verbose, Real):
        raise ValueError(f"verbose={estimator.verbose!r}: expected 0, 1 or 2")
    if not isinstance(estimator.preset, str | None) or estimator.preset not in (None, "paper"):
        raise ValueError(f'preset={estimator.preset!r}: expected "paper" or None')
    calls = estimator.callbacks
    if calls is not None and not (isinstance(calls, list | tuple) and all(map(callable, calls))):
        raise ValueError(f"callbacks={calls!r}: expected a list of functions of (epoch, fitted, record), or None")


def hidden_widths(sizes: Any) -> tuple[int, ...]:
    """Widths of the hidden layers, in their order."""
    each: Any = (sizes,) if isinstance(sizes, Integral) else sizes
    ordered = isinstance(each, Sequence | np.ndarray) and np.ndim(each) == 1
    if not ordered or any(isinstance(n, bool) or not isinstance(n, Integral) or n < 1 for n in each):
        raise ValueError(f"hidden_layer_sizes={sizes!r}: expected positive whole numbers, such as (64, 64)")
    return tuple(map(int, each))


def kept(keep: Any) -> float | int | str | tuple[float, ...] | None:
    """What is to remain of the units, as `Settings` takes it, or "auto"."""
    if keep is None or is_auto(keep):
        return keep
    if isinstance(keep, Real) and not isinstance(keep, bool | np.bool_):
        return int(keep) if isinstance(keep, Integral) else float(keep)
    if isinstance(keep, list | tuple | np.ndarray) and np.ndim(keep) == 1 and all(isinstance(k, Real) for k in keep):
        return tuple(float(k) for k in keep)
    raise ValueError(
        f'keep={keep!r}: expected a fraction in (0, 1], a number of units, a fraction for each layer, "auto" or None'
    )


def by_epoch(name: str, value: Any) -> float | tuple[float, ...]:
    """A number, or one for each epoch."""
    if isinstance(value, Real):
        return value  # type: ignore[return-value]
    if not isinstance(value, list | tuple | np.ndarray) or not all(isinstance(k, Real) for k in value):
        raise ValueError(f'{name}={value!r}: expected a positive number, a sequence of them, or "auto"')
    return tuple(value)


def seed_of(random_state: Any) -> int:
    """A seed for the engine, from what scikit-learn takes as random_state."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"random_state={random_state!r}: expected a whole number from 0 to 2**32 - 1, a numpy.random.RandomState, "
            "or None"
        ) from error


def group_ids(groups: Any, names: Iterable[str], n_inputs: int) -> np.ndarray | None:
    """`groups` as an id for each input; they may be lists of columns, by position or name."""
    if groups is None:
        return None
    if not isinstance(groups, list | tuple | np.ndarray):
        raise ValueError(f"groups={groups!r}: expected an id for each input, or lists of columns")
    if not all(isinstance(group, list | tuple | np.ndarray) for group in groups):
        if any(group is None for group in groups):
            raise ValueError(f"groups={groups!r}: None is no id; give each input a number or a text")
        return np.asarray(groups)
    places: dict[Any, int] = {name: place for place, name in enumerate(names)}
    places |= {place: place % n_inputs for place in range(-n_inputs, n_inputs)}
    ids = np.arange(n_inputs)
    taken: set[int] = set()
    for group in groups:
        unknown = [c for c in group if not isinstance(c, str | Integral) or isinstance(c, bool) or c not in places]
        if unknown or not len(group):
            what = f"the column {unknown[0]!r}, which X does not have" if unknown else "no column in one of its lists"
            raise ValueError(f"groups names {what}: expected lists of positions from 0 to {n_inputs - 1}, or of names")
        columns = {places[c] for c in group}
        if columns & taken:
            raise ValueError(f"groups has column {min(columns & taken)} in two lists: put each into one group at most")
        taken |= columns
        ids[list(columns)] = n_inputs + min(columns)
    return ids
