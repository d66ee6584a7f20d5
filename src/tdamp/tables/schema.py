"""Strict reading of stored JSON: exactly the fields expected, each of its type."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .errors import TableError

Check = Callable[[Any], bool]


def text(value: Any) -> bool:
    """Whether the value is a string."""
    return isinstance(value, str)


def flag(value: Any) -> bool:
    """Whether the value is true or false."""
    return isinstance(value, bool)


def number(value: Any) -> bool:
    """Whether the value is a finite number and no truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def one_of(*choices: Any) -> Check:
    """A check for one of the values listed."""
    return lambda value: isinstance(value, str) and value in choices


def many(check: Check, at_least: int = 0) -> Check:
    """A check for a list whose items all pass `check`."""
    return lambda value: isinstance(value, list) and len(value) >= at_least and all(map(check, value))


def different(check: Check, at_least: int = 0) -> Check:
    """A check for a list of different items that all pass `check`."""
    return lambda value: many(check, at_least)(value) and len(set(value)) == len(value)


def anything(value: Any) -> bool:
    """True: the value has a reader of its own that checks it."""
    return True


def fields(data: Any, what: str, **checks: Check) -> dict[str, Any]:
    """The fields of a JSON object, or TableError naming the first one that is wrong."""
    if not isinstance(data, dict):
        raise TableError(f"{what}: expected a JSON object, got {type(data).__name__}")
    if set(data) != set(checks):
        lacking, extra = sorted(set(checks) - set(data)), sorted(map(str, set(data) - set(checks)))
        raise TableError(
            f"{what}: fields missing: {lacking}, fields not known: {extra}. The file was changed or damaged"
        )
    for name, check in checks.items():
        if not check(data[name]):
            raise TableError(f"{what}: the field {name!r} has a value that cannot be: {str(data[name])[:80]!r}")
    return data
