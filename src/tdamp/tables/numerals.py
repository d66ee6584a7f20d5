"""Numbers written as text: 1234.5, 1e-3, 1,234.50, 1.234,50, 1 234.

A comma or a point can part thousands or decimals. What it does is decided once for a column, from cells that can be
read in one way only; a column with none of those is ambiguous. It then stays decided for new data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_SPACES = " '\u2019\u00a0\u2009\u202f"
_GROUPS = r"[+-]?[1-9][0-9]{{0,2}}(?P<mark>[{marks}])[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*(?:{decimal}[0-9]+)?"
_COMMA = re.compile(r"[+-]?(?:[0-9]+(?:,[0-9]*)?|,[0-9]+)(?:[eE][+-]?[0-9]+)?")
_UNGROUPED = {".": PLAIN, ",": _COMMA}
_SPACED = {mark: re.compile(_GROUPS.format(marks=_SPACES, decimal=re.escape(mark))) for mark in ".,"}
_GROUPED = {
    ".": re.compile(_GROUPS.format(marks=",", decimal=r"\.")),
    ",": re.compile(_GROUPS.format(marks=".", decimal=",")),
}


class Notation(NamedTuple):
    """How a column writes numbers: its decimal mark, and whether the other mark parts thousands."""

    decimal: str = "."
    grouped: bool = False

    def read(self, text: str) -> float | None:
        """The number, infinite for one too large, or None when it is not a number in this notation."""
        text = text.replace("\u2212", "-")
        if _UNGROUPED[self.decimal].fullmatch(text):
            return float(text.replace(",", "."))
        if _SPACED[self.decimal].fullmatch(text) or (self.grouped and _GROUPED[self.decimal].fullmatch(text)):
            other = "," if self.decimal == "." else "."
            digits = text.replace(other, "").translate({ord(space): None for space in _SPACES})
            return float(digits.replace(",", "."))
        return float(text) if _INFINITE.fullmatch(text) else None


USUAL = Notation()


class Guess(NamedTuple):
    """The notation that reads most cells, and a cell that could be read in two ways, if that matters."""

    notation: Notation
    ambiguous: str | None = None


def all_plain(texts: Iterable[str]) -> bool:
    """Whether every text is a number as programs write it."""
    return all(map(PLAIN.fullmatch, texts))


def guess(texts: Sequence[str]) -> Guess:
    """The notation of a column with these different texts."""
    if all_plain(texts):
        return Guess(USUAL)
    point = [Notation(".", True).read(text) for text in texts]
    comma = [Notation(",", True).read(text) for text in texts]
    excess = sum(value is not None for value in comma) - sum(value is not None for value in point)
    ambiguous = None
    if excess == 0:
        # 1.234 alone is how programs write a decimal; 1,234 alone might be either
        both = zip(texts, point, comma, strict=True)
        ambiguous = next(
            (text for text, a, b in both if a is not None and b is not None and a != b and "," in text), None
        )
    decimal = "," if excess > 0 else "."
    whole, bare = Notation(decimal, True), Notation(decimal, False)
    grouped = any(bare.read(text) is None and whole.read(text) is not None for text in texts)
    return Guess(Notation(decimal, grouped), ambiguous)
