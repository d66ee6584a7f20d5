"""What a column holds: numbers, dates, or categories."""

from __future__ import annotations

import re
from collections import Counter

from . import dates
from .cells import Cells
from .errors import TableError
from .numerals import Notation, all_plain, guess
from .readers import TRUTH, DateReader, NumberReader

NEARLY_ALL = 0.9  # share of numbers or dates in a text column above which the other cells are taken for mistakes
_MARKED = re.compile(r"(?:[$€£¥]\s?)?[+-]?[0-9][0-9.,' ]*(?:\s?[%$€£¥]|\s[A-Za-z]{1,3})?")
_OTHER_DATE = re.compile(r"[0-9]{1,4}([/.])[0-9]{1,2}\1[0-9]{1,4}.*")


def reader_of(cells: Cells) -> NumberReader | DateReader | None:
    """How to read the cells as numbers or dates; None for a column of categories.

    A text column whose cells are nearly all numbers (or dates) is one of numbers with mistakes: TableError shows the
    first. Below that share it is one of categories.
    """
    if cells.form == "category":
        return None
    if cells.form == "date":
        return DateReader(True in cells.zones)
    if cells.form != "text":
        return NumberReader(boolean=cells.form == "bool")
    counts = Counter(cells.values[~cells.missing].tolist())
    if all_plain(counts):
        return NumberReader()
    total = sum(counts.values())
    if all(text.lower() in TRUTH for text in counts):
        return NumberReader(boolean=True)
    times = {text: dates.parse(text) for text in counts}
    if _share(cells, counts, {text for text, time in times.items() if time}, total, "a date such as 2020-12-31"):
        return DateReader(any(time.zoned for time in times.values() if time))
    notation, ambiguous = guess(list(counts))
    if _share(cells, counts, {text for text in counts if notation.read(text) is not None}, total, "a number"):
        if ambiguous is not None:
            row = list(cells.values).index(ambiguous)
            plain = Notation(".", True).read(ambiguous), Notation(",", True).read(ambiguous)
            raise TableError(
                f"{cells.place(row)}: {ambiguous!r} may mean {plain[0]:g} or {plain[1]:g}, and no other cell of the "
                "column decides it: write the numbers without thousands separators and with a decimal point"
            )
        return NumberReader(notation)
    return None


def _share(cells: Cells, counts: Counter[str], good: set[str], total: int, what: str) -> bool:
    """Whether all cells are good; TableError when nearly all are."""
    n_good = sum(counts[text] for text in good)
    if n_good == total or n_good < NEARLY_ALL * total:
        return n_good == total
    row = next(row for row, text in enumerate(cells.values) if text is not None and text not in good)
    raise TableError(
        f"{cells.place(row)}: {cells.values[row]!r} is not {what}, but {n_good} of {total} cells of the column are: "
        "correct the cell or leave it empty; or drop the column, or name it among the categories"
    )


def likeness(texts: list[str]) -> str:
    """What texts that are no categories look like, as advice, or nothing."""
    for pattern, advice in (
        (_OTHER_DATE, " They look like dates: written as 2020-12-31 they can be used."),
        (_MARKED, " They look like numbers with a unit or mark: without it they can be used."),
    ):
        if sum(pattern.fullmatch(text) is not None for text in texts) >= NEARLY_ALL * len(texts):
            return advice
    return ""
