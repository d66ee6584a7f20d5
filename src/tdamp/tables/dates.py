"""Dates and times as days since 1970-01-01 UTC; a time without a zone counts as UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1)
_DAY = timedelta(days=1)
_ZONE = r"\s?(?:Z|[+-][0-9]{2}:?[0-9]{2}(?::[0-9]{2})?)"
_TIME = rf"[T ][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?(?:{_ZONE})?"
_ISO = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:{_TIME})?")


class Instant(NamedTuple):
    """A point in time, and whether it came with a time zone."""

    days: float
    zoned: bool


def instant(when: date) -> Instant:
    """The instant of a date or datetime; OverflowError at the ends of the calendar."""
    if not isinstance(when, datetime):
        return Instant(float((when - _EPOCH.date()).days), False)
    zoned = when.tzinfo is not None
    if zoned:
        when = when.astimezone(UTC).replace(tzinfo=None)
    return Instant((when - _EPOCH) / _DAY, zoned)


def parse(text: str) -> Instant | None:
    """The instant of an ISO date such as 2020-12-31 or 2020-12-31T23:59:00+01:00, or None."""
    if not _ISO.fullmatch(text):
        return None
    try:
        return instant(datetime.fromisoformat("".join(text.rsplit(" ", 1)) if text.count(" ") == 2 else text))
    except (ValueError, OverflowError):
        return None


def format_date(days: float) -> str:
    """2020-12-31 for people."""
    try:
        return (_EPOCH + timedelta(days=days)).date().isoformat()
    except OverflowError:
        return f"day {days:.6g} counted from 1970-01-01"
