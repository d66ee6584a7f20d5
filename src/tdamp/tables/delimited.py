"""Text tables: cells between commas, semicolons or tabs."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
import zlib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from .cells import LINE
from .errors import TableError, TableWarning
from .table import check_names, tidy

if TYPE_CHECKING:
    import pandas as pd

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
_SAMPLE = 100  # records looked at to find the delimiter
_MAX_CELL = 10_000_000  # characters; an unclosed quote would swallow the file
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or spreadsheet: save the sheet as CSV",
    b"PAR1": "a Parquet file: give it the ending .parquet",
    b"\x93NUMPY": "a NumPy array: save it with numpy.savez under the ending .npz",
    b"%PDF": "a PDF file",
    b"<": "a page of HTML or XML: perhaps an error page was downloaded instead of the table",
    b"{": "JSON: save the table as CSV",
}


def read_delimited(path: Path) -> pd.DataFrame:
    """Every cell as text; the index has the line numbers."""
    import pandas as pd

    text, encoding = decode(_bytes(path), path)
    delimiter = find_delimiter(text)
    records, lines = _records(text, delimiter)
    if not records:
        raise TableError("the file is empty")
    header = [tidy(name) or f"column {position}" for position, name in enumerate(records[0], 1)]
    check_names(header)
    if len(records) == 1:
        raise TableError(f"the file has a header of {len(header)} columns but no rows")
    _check_ragged(records, lines, delimiter)
    columns = zip(*records[1:], strict=True)
    index = pd.Index(lines[1:], name=LINE)
    frame = pd.DataFrame(
        {name: list(cells) for name, cells in zip(header, columns, strict=True)}, index=index, dtype=str
    )
    frame.attrs.update(encoding=encoding, delimiter=delimiter)
    return frame


def decode(data: bytes, path: Path) -> tuple[str, str]:
    """The text and its encoding: UTF-8, UTF-16 where marked so, else latin-1 with a warning."""
    for start, what in _FOREIGN.items():
        if data.lstrip()[: len(start)] == start:
            raise TableError(f"not a table but {what}")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16"), "utf-16"
        except UnicodeDecodeError as error:
            raise TableError("not a text file, though it starts like one in UTF-16") from error
    if b"\0" in data:
        raise TableError("not a text file: it has zero bytes")
    try:
        return data.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        warnings.warn(
            f"{path} is not UTF-8 (line {line}). It is read as latin-1, so letters beyond ASCII may be other ones. "
            "Check the names and texts, and save the file as UTF-8 if they look wrong.",
            TableWarning,
            stacklevel=4,
        )
        return data.decode("latin-1"), "latin-1"


def find_delimiter(text: str) -> str:
    """The one that parts the header and parts the first records alike."""

    def merit(delimiter: str) -> tuple[bool, float, int]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            widths = [len(record) for record in islice(reader, _SAMPLE) if record]
        except csv.Error:
            return (False, 0.0, 0)
        if not widths:
            return (False, 0.0, 0)
        return (widths[0] > 1, sum(width == widths[0] for width in widths) / len(widths), widths[0])

    return max(_DELIMITERS, key=merit)


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"the compressed file is damaged or cut short: {error}") from error


def _records(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Records that are not blank, and the line each begins on."""
    records: list[list[str]] = []
    lines: list[int] = []
    before = csv.field_size_limit(_MAX_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        start = 1
        for record in reader:
            if record and not (len(record) == 1 and not record[0].strip()):
                records.append(record)
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"line {start}: {error}. Look for a quotation mark that is not closed") from error
    finally:
        csv.field_size_limit(before)
    return records, lines


def _check_ragged(records: list[list[str]], lines: list[int], delimiter: str) -> None:
    width = len(records[0])
    for record, line in zip(records, lines, strict=True):
        if len(record) != width:
            kind = f"{_DELIMITERS[delimiter]}-separated"
            raise TableError(
                f"line {line} has {len(record)} cells, but the header has {width} ({kind}): "
                "put cells that contain the delimiter into quotation marks, or fill the row up"
            )
