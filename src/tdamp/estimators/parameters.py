"""The estimators' parameters: checked in `fit`, and brought to the form that the engine takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def is_auto(value: Any) -> bool:
    """Whether the size of the data decides."""
    return isinstance(value, str) and value == "auto"


def check_switches(estimator: Any) -> None:
    """Raise ValueError for a switch that is neither on nor off: the text "no" would count as on."""
    for name in ("early_stopping", "standardize", "warm_start"):
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


def kept(keep: Any) -> float | int | tuple[float, ...] | None:
    """What is to remain of the units, as `Settings` takes it."""
    if keep is None:
        return None
    if isinstance(keep, Real) and not isinstance(keep, bool | np.bool_):
        return int(keep) if isinstance(keep, Integral) else float(keep)
    if isinstance(keep, list | tuple | np.ndarray) and np.ndim(keep) == 1 and all(isinstance(k, Real) for k in keep):
        return tuple(float(k) for k in keep)
    raise ValueError(
        f"keep={keep!r}: expected a fraction in (0, 1], a number of units, a fraction for each layer, or None"
    )


def by_epoch(name: str, value: Any) -> float | tuple[float, ...]:
    """A number, or one for each epoch."""
    if isinstance(value, Real):
        return value  # type: ignore[return-value]
    if not isinstance(value, list | tuple | np.ndarray) or not all(isinstance(k, Real) for k in value):
        raise ValueError(f'{name}={value!r}: expected a positive number, a sequence of them, or "auto"')
    return tuple(value)


def seed_of(random_state: Any) -> int:
    """A seed for the engine."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"random_state={random_state!r}: expected a whole number from 0 to 2**32 - 1, a numpy.random.RandomState, "
            "or None"
        ) from error


def group_ids(groups: Any, names: Iterable[str], n_inputs: int) -> np.ndarray | None:
    """`groups` as an id for each input; also given as lists of columns, by position or name."""
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
