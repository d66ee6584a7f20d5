"""Errors of tables, with messages that say how to mend the table."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from .. import _optional
from .._optional import MissingExtra

_SHOWN = 8  # names listed before "and so on"


class TableError(ValueError):
    """A file or a column that cannot be used; the message says where, why and what to do."""


class TableWarning(UserWarning):
    """A file was read, but on a guess that a person should know of."""


class MissingLibrary(TableError, MissingExtra):
    """A library of the extra `tables` is not installed."""


def need(module: str) -> Any:
    """Import `module`; the error for a missing one names the extra to install."""
    try:
        return _optional.need(module, "tables")
    except MissingExtra as error:
        raise MissingLibrary(str(error)) from error


def listing(names: Iterable[object]) -> str:
    """Names as a list in a sentence: 'a', 'b' and 3 more."""
    shown = [repr(name) for name in names]
    more = len(shown) - _SHOWN
    return ", ".join(shown) if more <= 0 else f"{', '.join(shown[:_SHOWN])} and {more} more"


def close(name: str, known: Iterable[str]) -> str:
    """A sentence with the known names nearest to `name`, whatever their case, or nothing."""
    folded: dict[str, list[str]] = {}
    for other in known:
        folded.setdefault(other.casefold(), []).append(other)
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    names = [other for key in near for other in folded[key]]
    return f" Did you mean {' or '.join(repr(other) for other in names)}?" if names else ""


def absent(names: Iterable[str], known: Iterable[str]) -> str:
    """Which columns are not there, what they may be called, and which ones are there."""
    names, known = list(names), list(known)
    which = "column " if len(names) == 1 else "columns "
    hints = "".join(close(name, known) for name in names[:3])
    return f"The table has no {which}{listing(names)}.{hints} It has {listing(known)}."
