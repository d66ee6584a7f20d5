"""Sheets of numbers out of an .xlsx file, with the standard library alone: it is a zip file of XML.

Only what tables of numbers need: text and numbers as stored. Dates, styles and formulas are not interpreted.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np

Cell = str | float | None
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def read_sheet(raw: bytes, sheet: str) -> tuple[tuple[str, ...], np.ndarray]:
    """Column names (first row) and values (all other rows, float64) of the sheet of that name."""
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        rows = list(_rows(book.read(_sheet_path(book, sheet)), _shared_strings(book)))
    if not rows:
        raise ValueError(f"The sheet {sheet!r} is empty; a row of column names and rows of numbers were expected.")
    columns = tuple(str(cell) for cell in rows[0])
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(columns) or not all(isinstance(cell, float) for cell in row):
            raise ValueError(f"Row {number} of the sheet {sheet!r} must hold {len(columns)} numbers, but it is {row}.")
    return columns, np.array(rows[1:], np.float64).reshape(-1, len(columns))


def _sheet_path(book: zipfile.ZipFile, sheet: str) -> str:
    """Names lead to relations, relations to files: sheet5.xml need not be Sheet5."""
    workbook = ElementTree.fromstring(book.read("xl/workbook.xml"))
    names = {node.get("name"): node.get(_RELATION) for node in workbook.iter(f"{_MAIN}sheet")}
    if sheet not in names:
        raise ValueError(f"The workbook has no sheet {sheet!r}; it has {', '.join(map(str, names))}.")
    relations = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    targets = {node.get("Id"): str(node.get("Target")) for node in relations}
    target = targets[names[sheet]]
    return target[1:] if target.startswith("/") else f"xl/{target}"


def _shared_strings(book: zipfile.ZipFile) -> list[str]:
    """Texts are stored once and cells hold their number; a workbook without text has no such file."""
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    root = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
    return [_text(item) for item in root.iter(f"{_MAIN}si")]


def _text(node: ElementTree.Element) -> str:
    """Formatted text comes in runs; phonetic hints (rPh) stand beside it and are not part of it."""
    own = node.findall(f"{_MAIN}t") + node.findall(f"{_MAIN}r/{_MAIN}t")
    return "".join(part.text or "" for part in own)


def _rows(xml: bytes, strings: list[str]) -> Iterator[list[Cell]]:
    for row in ElementTree.fromstring(xml).iter(f"{_MAIN}row"):
        cells: list[Cell] = []
        for node in row.iter(f"{_MAIN}c"):
            reference = node.get("r")
            # empty cells are left out of the file: the reference says where this one stands
            column = _column(reference) if reference else len(cells)
            cells += [None] * (column - len(cells))
            cells.append(_value(node, strings))
        if any(cell is not None for cell in cells):
            yield cells


def _column(reference: str) -> int:
    """Index of the column of a cell: 0 for A1, 26 for AA7."""
    index = 0
    for letter in reference.rstrip("0123456789"):
        index = 26 * index + ord(letter) - ord("A") + 1
    return index - 1


def _value(node: ElementTree.Element, strings: list[str]) -> Cell:
    kind, value = node.get("t", "n"), node.findtext(f"{_MAIN}v")
    if kind == "inlineStr":
        inline = node.find(f"{_MAIN}is")
        return _text(inline) if inline is not None else None
    if value is None:
        return None
    if kind == "s":
        return strings[int(value)]
    return float(value) if kind == "n" else value
