"""Files of every kind give the table written into them, and broken ones an error that helps.

covers: tables.delimited, tables.errors, tables.npz, tables.table
"""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tdamp import _optional
from tdamp.tables import MissingLibrary, TableError, TableWarning, read_table

ROWS = [["größe", "note"], ["1,5", 'he said "no"; twice'], ["", "two\nlines"], ["3", "tab\there, and more"]]


def write(path: Path, content: str | bytes) -> Path:
    """A file with this content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def quoted(delimiter: str) -> str:
    """ROWS as text, every cell in quotation marks."""
    return "".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n" for row in ROWS)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ending", [".csv", ".CSV.gz", ".txt"])
def test_csv_gives_back_its_cells(tmp_path: Path, delimiter: str, encoding: str, ending: str) -> None:
    """identity: quoted cells with delimiters, quotes and line breaks come back; the index has the lines."""
    data = quoted(delimiter).encode(encoding)
    frame = read_table(write(tmp_path / f"t{ending}", gzip.compress(data) if ending.endswith("gz") else data))
    assert [list(frame.columns), *frame.to_numpy().tolist()] == ROWS
    assert list(frame.index) == [2, 3, 5] and frame.index.name == "line"  # the record of line 3 ends on line 4
    assert frame.attrs == {"encoding": "utf-8" if "8" in encoding else "utf-16", "delimiter": delimiter}


def test_latin1_is_read_with_a_note(tmp_path: Path) -> None:
    """contract: bytes that are no UTF-8 are latin-1, with a warning that names the line."""
    path = write(tmp_path / "old.csv", "name,n\nabc,1\nMüller,2\n".encode("latin-1"))
    with pytest.warns(TableWarning, match=r"line 3.*latin-1"):
        frame = read_table(path)
    assert list(frame["name"]) == ["abc", "Müller"] and frame.attrs["encoding"] == "latin-1"


@pytest.mark.parametrize(
    ("text", "delimiter", "names"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";", ["a", "b"]),
        ("a,b\n1;2,3\n4;5,6\n", ",", ["a", "b"]),
        ("a\tb\n1,2\t3\n", "\t", ["a", "b"]),
        ("notes\nhello; world\nthis, that\nmore\n", "\t", ["notes"]),
        (" a , b \n1,2\n", ",", ["a", "b"]),
        (",b\n0,1\n1,5\n", ",", ["column 1", "b"]),
    ],
)
def test_delimiter_is_found(tmp_path: Path, text: str, delimiter: str, names: list[str]) -> None:
    """contract: decimal commas, texts with other marks, one column, spaces, a nameless index."""
    frame = read_table(write(tmp_path / "t.csv", text))
    assert (list(frame.columns), frame.attrs["delimiter"]) == (names, delimiter)


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    """contract: cells stand on lines 3 and 5."""
    frame = read_table(write(tmp_path / "t.csv", "a,b\n\n1,2\n\n3,4\n\n"))
    assert frame.to_numpy().tolist() == [["1", "2"], ["3", "4"]] and list(frame.index) == [3, 5]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "\n \n", "is empty"),
        ("t.csv", "a,b\n", "header of 2 columns but no rows"),
        ("t.csv", "a,b, a\n1,2,3\n", "'a' occur more than once"),
        ("t.csv", "a,b\n1,2\n3\n", r"line 3 has 1 cells, but the header has 2 \(comma-separated\)"),
        ("t.csv", "a,b\n1,2,3\n1,2\n", "line 2 has 3 cells"),
        ("t.csv", 'a,b\n1,2\n"3,4\n', "line 3: .*quotation mark"),
        ("t.csv", b"a,b\n\x00\x01,2\n", "zero bytes"),
        ("t.csv", b"\xff\xfea\x00,", "UTF-16"),
        ("t.csv", b"PK\x03\x04rest", "spreadsheet: save the sheet as CSV"),
        ("t.csv", "<!doctype html><p>404", "HTML"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "damaged or cut short"),
        ("t.xlsx", "x", r"not from '.xlsx': save the table as CSV"),
        ("t", "a\n1\n", "without an ending"),
        ("t.npz.gz", "x", "not from '.gz'"),
        ("t.npz", "a,b\n1,2\n", "not an NPZ file"),
        ("t.parquet", "a,b\n1,2\n", "not a Parquet file"),
    ],
)
def test_broken_files_say_why(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    """contract: each error names the file and its trouble."""
    path = write(tmp_path / name, content)
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    """contract: a close name, a missing folder, a folder in place of a file."""
    write(tmp_path / "Houses.csv", "a\n1\n")
    with pytest.raises(TableError, match=r"Did you mean 'Houses.csv'\?"):
        read_table(tmp_path / "house.csv")
    with pytest.raises(TableError, match=r"folder .* does not exist"):
        read_table(tmp_path / "nowhere" / "house.csv")
    with pytest.raises(TableError, match="not a file"):
        read_table(tmp_path)


def test_parquet_gives_back_its_columns(tmp_path: Path) -> None:
    """identity: types survive, and a named index is a column."""
    frame = pd.DataFrame(
        {"a": [1, 2], "c": pd.Categorical(["x", "y"]), "t": pd.date_range("2020", periods=2, tz="UTC")}
    )
    frame.set_index("a").to_parquet(tmp_path / "t.parquet")
    back = read_table(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(back, frame, check_dtype=False, check_categorical=False)
    frame.iloc[::-1].to_parquet(tmp_path / "u.pq")  # an index without a name is no column
    assert list(read_table(tmp_path / "u.pq").columns) == ["a", "c", "t"]


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the error is of the table kind, of the import kind, and says what to install."""

    def fail(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(_optional.importlib, "import_module", fail)
    with pytest.raises(MissingLibrary, match=r"pip install 'tdamp\[tables\]'") as caught:
        read_table(write(tmp_path / "t.parquet", "x"))
    assert isinstance(caught.value, ImportError)


def test_npz_gives_back_its_arrays(tmp_path: Path) -> None:
    """identity: a matrix and a vector, big-endian and column order, two targets, and named columns."""
    x, y = np.arange(6.0).reshape(3, 2), np.array([1, 2, 3])
    np.savez(tmp_path / "a.npz", X=np.asfortranarray(x.astype(">f4")), y=y.astype(">i2")[:, None])
    frame = read_table(tmp_path / "a.npz")
    assert list(frame.columns) == ["x0", "x1", "y"]
    np.testing.assert_array_equal(frame.to_numpy(), np.column_stack([x, y]))
    assert all(dtype.isnative for dtype in frame.dtypes)
    np.savez(tmp_path / "b.npz", x=x, y=x)
    assert list(read_table(tmp_path / "b.npz").columns) == ["x0", "x1", "y0", "y1"]
    np.savez_compressed(tmp_path / "c.npz", größe=y, kind=np.array([b"a", b"b", b"a"]), when=y.astype("M8[D]"))
    frame = read_table(tmp_path / "c.npz")
    assert list(frame["kind"]) == ["a", "b", "a"] and frame["when"].iloc[0] == pd.Timestamp("1970-01-02")
    assert list(frame["größe"]) == [1, 2, 3]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.array([{}, None])}, "'x' holds Python objects, which are not loaded"),
        ({"x": np.zeros((3, 2)), "y": np.zeros(2)}, "differ in length: x0 3, x1 3, y 2"),
        ({"x": np.zeros((3, 2, 2))}, r"shape \(3, 2, 2\): expected \(rows,\) or \(rows, columns\)"),
        ({"a": np.zeros((3, 2))}, r"shape \(3, 2\): expected \(rows,\)$"),
        ({"x": np.zeros((2, 1)), "X": np.zeros((2, 1))}, "same name"),
        ({"x": np.zeros(3, complex)}, "complex128: expected numbers"),
        ({"a": np.float64(3)}, r"shape \(\)"),
        ({"x": np.zeros((0, 3))}, "no rows"),
        ({}, "no arrays"),
    ],
)
def test_broken_npz_say_why(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    """contract: objects are refused, shapes and lengths are named."""
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(TableError, match=message):
        read_table(tmp_path / "t.npz")


def test_utf8_gives_no_warning(tmp_path: Path) -> None:
    """contract: the twin of the latin-1 warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(write(tmp_path / "t.csv", "ä,b\n1,2\n"))
