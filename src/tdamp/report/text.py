"""Numbers and foreign strings as text that is safe to show."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

DASH = "\u2013"
MINUS = "\u2212"
NO_BREAK = "\u00a0"
"""A space that keeps a number and its unit on one line."""


def plain(text: object) -> str:
    """One line of printable characters: neither XML nor a reader can do anything with the others."""
    return "".join(c if c.isprintable() or c == NO_BREAK else " " if c.isspace() else "�" for c in str(text))


def safe(text: object) -> str:
    """`plain`, escaped for HTML text and attributes."""
    return html.escape(plain(text))


def short(text: object, length: int) -> str:
    """`plain`, with the middle left out if it is too long: names that differ often do so at an end."""
    line = plain(text)
    if len(line) <= length:
        return line
    head = (length - 1) // 2
    return f"{line[:head]}…{line[len(line) - (length - 1 - head) :]}"


def number(value: Any, digits: int = 4) -> str:
    """A number to `digits` digits with a true minus sign; anything that is not finite is a dash."""
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    value = float(value)
    if not np.isfinite(value):
        return DASH
    size = abs(value)
    text = f"{value:,.0f}" if 10**digits <= size < 1e9 else f"{value:.{digits}g}"
    return text.replace("-", MINUS)


def percent(share: float) -> str:
    """0.0235 is 2.35 %, 0.235 is 23.5 %, and 1 is 100 %; not a number is a dash."""
    if not np.isfinite(share):
        return DASH
    value = 100 * share
    text = f"{value:.2f}" if 0 < abs(value) < 10 else f"{value:.1f}"
    return f"{text.rstrip('0').rstrip('.')}{NO_BREAK}%"


def cell(value: Any) -> str:
    """A data cell of unknown type, escaped."""
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return "missing"
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return number(value)
    return html.escape(short(value, 24))


def duration(seconds: float) -> str:
    """0.42 s, 12.3 s, 3 min 20 s, 2 h 05 min."""
    if seconds < 100:
        return f"{number(seconds, 3)} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
    minutes = int(seconds // 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"
