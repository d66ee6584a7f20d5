"""Columns of every kind become the matrix worked out by hand.

covers: tables.category, tables.columns, tables.schema
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tdamp.tables import Encoder, TableError, read_table
from tdamp.tables.category import Lookup

CSV = """id,age,colour,joined,member,city,empty,same,y
a1,30,red,2020-01-01,true,Rome,,7,1.5
a2,NA,blue,2020-01-03,false,Rome,,7,2.5
a3,50,red,,true,Rome,?,7,
a4,40,red,2020-01-11,false,?,,7,3.5
a5,20,blue,2020-01-02,true,Rome,,7,4.5
a6,60,green,2020-01-05,true,Rome,,7,0.5
"""


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    """The table above, read from a file."""
    (tmp_path / "t.csv").write_text(CSV)
    return read_table(tmp_path / "t.csv")


def stored(encoder: Encoder) -> Encoder:
    """The encoder after a trip through JSON text."""
    return Encoder.from_json(json.loads(json.dumps(encoder.to_json(), allow_nan=False)))


def test_the_whole_table_by_hand(frame: pd.DataFrame) -> None:
    """contract: every cell of the matrix, every name, group and note, before and after storing."""
    encoder = Encoder.fit(frame, "y")
    assert encoder.usable_rows(frame).tolist() == [True, True, False, True, True, True]
    # the third row is out: ages 30 40 20 60 have median 35; days 0 2 10 1 4 have median 2; blue twice, red twice
    expected = [
        [30, 0, 0, 1, 0, 0, 1, 0],
        [35, 1, 1, 0, 0, 2, 0, 0],
        [40, 0, 0, 1, 0, 10, 0, 1],
        [20, 0, 1, 0, 0, 1, 1, 0],
        [60, 0, 0, 0, 1, 4, 1, 0],
    ]
    names = ("age", "age is missing", "colour=blue", "colour=red", "colour=other", "joined (days)", "member")
    for one in (encoder, stored(encoder)):
        x, y = one.pairs(frame)
        assert y.tolist() == [1.5, 2.5, 3.5, 4.5, 0.5] and y.dtype == np.float64
        np.testing.assert_array_equal(x[:, :7], np.array(expected, float)[:, :7])
        np.testing.assert_array_equal(x[:, 8], np.array(expected, float)[:, 7])
        np.testing.assert_array_equal(x[:, 7], 1 - x[:, 8])
        assert one.feature_names == (*names, "city=Rome", "city is missing")
        assert one.groups.tolist() == [0, 0, 1, 1, 1, 2, 3, 4, 4]
        assert (one.task, one.target_names, one.classes) == ("regression", ("y",), ())
        assert one.ignored == ("id", "empty", "same")
        assert one.notes == [
            "Target 'y': missing in 1 of 6 rows, left out.",
            "Target y: numbers with decimals, so this is a regression.",
            "Column id: 5 different texts in 5 cells, like a name or a number given to each row; left out.",
            "Column age: 1 of 5 cells are missing, filled with the median 35 and marked by a column of its own.",
            "Column colour: 1 of 3 levels are rare (1 of 5 cells) and joined into 'other'.",
            "Column joined: dates, counted in days since the first one, 2020-01-01.",
            "Column city: 1 of 5 cells are missing, marked by a column of their own.",
            "Column empty: every cell is missing; left out.",
            "Column same: every cell is 7; left out.",
        ]


def test_new_tables_are_met_with_notes(frame: pd.DataFrame) -> None:
    """contract: missing, unseen and extra things at prediction, in another order of columns."""
    encoder = stored(Encoder.fit(frame, "y"))
    new = {"extra": [1], "member": [None], "joined": [None], "city": ["Oslo"], "colour": ["mauve"], "age": [25]}
    assert encoder.transform(new).tolist() == [[25, 0, 0, 0, 1, 2, 1, 0, 0]]
    assert encoder.last_notes == [
        "Column colour: 1 of 1 cells hold rare or new levels ('mauve'): counted as 'other'.",
        "Column joined: 1 of 1 cells are missing, though none was in training: filled with the median 2020-01-03.",
        "Column member: 1 of 1 cells are missing, though none was in training: filled with the median 1.",
        "Column city: 1 of 1 cells hold levels not known from training ('Oslo'): all its columns are 0 there.",
        "Columns not known from training are ignored: 'extra'.",
    ]
    rows = encoder.transform(frame.drop(columns=["y", "id", "empty", "same"]).iloc[:, ::-1])
    np.testing.assert_array_equal(rows, encoder.transform(frame))
    assert not any("ignored" in note for note in encoder.last_notes)


def test_errors_at_prediction_name_the_place(frame: pd.DataFrame) -> None:
    """contract: absent columns with close names, and cells of another kind, by line of the file."""
    encoder = Encoder.fit(frame, "y")
    with pytest.raises(TableError, match=r"no columns 'age', 'colour'\. Did you mean 'Age'\? Did you mean 'color'\?"):
        encoder.transform(frame.rename(columns={"age": "Age", "colour": "color"}))
    frame.loc[5, "age"] = "forty"
    with pytest.raises(TableError, match=r"^column age, line 5: 'forty' is not a number$"):
        encoder.transform(frame)
    with pytest.raises(TableError, match="column joined: holds numbers, but dates such as"):
        encoder.transform(frame.assign(age=1, joined=3))
    with pytest.raises(TableError, match="column age: holds dates, but numbers"):
        encoder.transform(frame.assign(age=pd.Timestamp("2020-01-01")))
    with pytest.raises(TableError, match="line 2: 'maybe' is not a number or truth value"):
        encoder.transform(frame.assign(age="1", member="maybe"))
    with pytest.raises(TableError, match="line 2: 'true' is not a number"):
        encoder.transform(frame.assign(age="true"))
    with pytest.raises(TableError, match="got list"):
        encoder.transform([[1, 2]])
    with pytest.raises(TableError, match="'age' occur more than once"):
        encoder.transform(pd.concat([frame, frame["age"]], axis=1))


def test_types_do_not_matter() -> None:
    """twin: the same numbers, texts and dates in every dtype give the same matrix, at fit and at transform."""
    values, texts, y = [1.5, 2.0, None, 4.25], ["a", "b", "a", "b"], [0.5, 1.0, 1.5, 2.0]
    days = pd.to_datetime(["2020-01-01", "2020-01-03", None, "2020-01-02"])
    plain = pd.DataFrame({"v": values, "t": texts, "d": days, "y": y})
    times = [None if pd.isna(day) else day.to_pydatetime() for day in days]
    others: list[object] = [
        plain.assign(v=pd.Series(values, dtype=">f8"), y=np.array(y, ">f4")),
        plain.assign(v=pd.array(values, "Float64"), t=pd.Categorical(texts)),
        plain.assign(v=pd.array(values, "float64[pyarrow]"), t=pd.array(texts, "string[pyarrow]")),
        plain.assign(v=[v if v is None else Decimal(str(v)) for v in values], t=pd.Series(texts, dtype=object)),
        plain.assign(v=["1.5", "2", "NA", "4.25"], d=["2020-01-01", "2020-01-03", "", "2020-01-02"]),
        plain.assign(d=days.tz_localize("UTC").tz_convert("Asia/Tokyo")),
        plain.assign(d=days.astype("datetime64[s]"), v=pd.arrays.SparseArray([1.5, 2.0, np.nan, 4.25])),
        plain.assign(d=pd.Series([time and time.date() for time in times], dtype=object)),
        plain.assign(d=days.astype("timestamp[us][pyarrow]")),
        pl.DataFrame({"v": values, "t": texts, "d": times, "y": y}),
        pl.DataFrame({"v": values, "t": pl.Series(texts, dtype=pl.Categorical), "d": times, "y": y}).lazy(),
        {"v": values, "t": texts, "d": list(days), "y": y},
    ]
    encoder = Encoder.fit(plain, "y")
    expected = encoder.transform(plain)
    assert expected.tolist() == [
        [1.5, 0, 1, 0, 0, 0],
        [2, 0, 0, 1, 2, 0],
        [2, 1, 1, 0, 1, 1],
        [4.25, 0, 0, 1, 1, 0],
    ]
    for other in others:
        np.testing.assert_array_equal(encoder.transform(other), expected)
        np.testing.assert_array_equal(Encoder.fit(other, "y").transform(plain), expected)
        np.testing.assert_array_equal(encoder.target(other), y)


def test_polars_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: a polars frame that cannot go through Arrow goes column by column."""

    def fail(frame: pl.DataFrame) -> None:
        raise ModuleNotFoundError("pyarrow")

    table = {"v": [1.5, 2.0, None], "t": ["a", "b", "a"], "y": [0.5, 1.0, 1.5]}
    expected = Encoder.fit(table, "y").transform(table)
    monkeypatch.setattr(pl.DataFrame, "to_pandas", fail)
    np.testing.assert_array_equal(Encoder.fit(pl.DataFrame(table), "y").transform(pl.DataFrame(table)), expected)


def test_big_endian_rows_can_be_left_out() -> None:
    """contract: the second of three rows has no target; the user's frame stays as it was."""
    frame = pd.DataFrame({"v": np.array([1, 2, 4], ">i4"), "y": np.array([0.5, np.nan, 1.5], ">f8")})
    x, y = Encoder.fit(frame, "y").pairs(frame)
    assert x.tolist() == [[1], [4]] and y.tolist() == [0.5, 1.5]
    assert x.dtype.isnative and not frame["v"].dtype.isnative


@pytest.mark.parametrize(("sep", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
def test_a_frame_and_its_file_agree(tmp_path: Path, sep: str, decimal: str) -> None:
    """twin: the matrix of a frame and that of the file written from it, to the last bit."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "n": np.where(rng.random(40) < 0.2, np.nan, rng.normal(size=40) * 1e3),
            "c": rng.choice(["rot", "grün", "blau"], 40),
            "d": pd.date_range("2020-02-27", periods=40, freq="7h", tz="Europe/Rome"),
            "b": rng.random(40) < 0.5,
            "y": rng.normal(size=40),
        }
    )
    frame.to_csv(tmp_path / "t.csv", sep=sep, decimal=decimal, index=False)
    back = read_table(tmp_path / "t.csv")
    ours, theirs = Encoder.fit(frame, "y"), Encoder.fit(back, "y")
    assert ours.feature_names == theirs.feature_names
    for one, other in zip(ours.pairs(frame), theirs.pairs(back), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["bool", "boolean", "object"])
def test_truth_values_are_0_and_1(dtype: str) -> None:
    """twin: columns of truth values and their texts, written in any case."""
    frame = pd.DataFrame({"b": pd.Series([True, False, True], dtype=dtype), "y": [1.5, 2, 3]})
    encoder = Encoder.fit(frame, "y")
    assert encoder.transform(frame).ravel().tolist() == [1, 0, 1]
    assert encoder.transform({"b": ["TRUE", "false", "1"]}).ravel().tolist() == [1, 0, 1]


def test_rare_levels_are_joined() -> None:
    """contract: 35 levels of falling frequency; the 30 first have columns, ties go by name."""
    texts = [f"L{level:02d}" for level in range(35) for _ in range(40 - level)] + ["once"]
    encoder = Encoder.fit({"c": texts, "y": np.arange(len(texts)) / 7}, "y")
    assert encoder.feature_names == (*(f"c=L{level:02d}" for level in range(30)), "c=other")
    x = encoder.transform({"c": ["L29", "L30", "once", "never"]})
    assert x.argmax(1).tolist() == [29, 30, 30, 30] and x.sum() == 4
    few = Encoder.fit({"c": ["b", "a", "a", "b", "other", "other"], "y": range(6)}, "y", task="regression")
    assert few.feature_names == ("c=a", "c=b", "c=other")
    assert few.transform({"c": ["other", "new"]}).tolist() == [[0, 0, 1], [0, 0, 1]]


def test_numbers_may_be_named_categories() -> None:
    """contract: codes as levels, found again as 1, 1.0 and '1.0'."""
    frame = pd.DataFrame({"code": [1, 2, 1, 2], "y": [0.5, 1, 2, 3]})
    encoder = Encoder.fit(frame, "y", categories=["code"])
    assert encoder.feature_names == ("code=1", "code=2")
    for codes in ([1, 2], [1.0, 2.0], ["1.0", "2"]):
        assert encoder.transform({"code": codes}).tolist() == [[1, 0], [0, 1]]


def test_levels_are_found_loosely_only_where_one_is_meant() -> None:
    """contract: +1 could be either of two levels, TRUE only one."""
    lookup = Lookup(["1", "1.0", "True", "2"])
    texts = ["1", "1.0", "+1", "TRUE", "2.00", "two"]
    assert [lookup.find(text) for text in texts] == [0, 1, None, 2, 3, None]


def test_names_are_compared_as_they_look() -> None:
    """identity: composed and decomposed letters, and outer spaces, are the same name."""
    encoder = Encoder.fit({"Gr\u00f6\u00dfe": [1, 2, 4], "y": [0.5, 1, 2]}, "y ")
    assert encoder.transform({" Gro\u0308\u00dfe": [3]}).tolist() == [[3]]


def test_left_out_columns_come_with_advice() -> None:
    """contract: marks, other dates, row numbers; constants with missing cells keep their marks only."""
    n = 20
    table = {
        "price": [f"${i},5" for i in range(n)],
        "day": [f"{i + 1}/12/2020" for i in range(n)],
        "row": range(n),
        "part": [7, None] * (n // 2),
        "y": np.sqrt(np.arange(n)),
    }
    encoder = Encoder.fit(table, "y")
    assert encoder.feature_names == ("row", "part is missing")
    assert "They look like numbers with a unit or mark" in encoder.notes[1]
    assert "They look like dates" in encoder.notes[2]
    assert "rises by one from row to row" in encoder.notes[3]
    assert "10 of 20 cells are missing and all others are 7" in encoder.notes[4]
    assert encoder.transform({"row": [3], "part": [None]}).tolist() == [[3, 1]]


def test_a_notation_learned_is_kept() -> None:
    """contract: 1.234 in a column of decimal commas is 1234, whatever else the new table has."""
    encoder = stored(Encoder.fit({"p": ["1.234,5", "7"], "y": ["1,5", "2,5"]}, "y"))
    assert "Column p: read with a decimal comma and points between thousands." in encoder.notes
    assert encoder.transform({"p": ["1.234", "0,5"]}).ravel().tolist() == [1234, 0.5]
    assert encoder.target({"y": ["10,25"]}).tolist() == [10.25]
    with pytest.raises(TableError, match=r"'1\.5' is not a number with a decimal comma"):
        encoder.transform({"p": ["1.5"]})


def test_time_zones() -> None:
    """contract: zoned times in training, some without a zone later, taken as UTC."""
    encoder = Encoder.fit({"t": ["2020-01-01T00:00+00:00", "2020-01-02T06:00+06:00"], "y": [1.5, 2]}, "y")
    assert encoder.transform({"t": ["2020-01-01T12:00", "2020-01-01T12:00-12:00"]}).ravel().tolist() == [0.5, 1]
    assert "without one are taken as UTC" in encoder.last_notes[0]


def test_same_names_are_told_apart() -> None:
    """contract: a level that makes a name which another column has."""
    table = {"a": ["b", "c", "b", "c"], "a=b": [1.0, 2, 4, 8], "y": [0.5, 1, 2, 3]}
    assert Encoder.fit(table, "y").feature_names == ("a=b", "a=c", "a=b (2)")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [1, 2]}, {}, "no column 'y'"),
        ({"a": [1, 2], "y": [1, 2]}, {"drop": ["b"]}, "no column 'b'"),
        ({"a": [1, 2], "y": [1, 2]}, {"drop": ["y"]}, "target 'y' cannot be dropped"),
        ({"a": [1, 2], "y": [1, 2]}, {"task": "ranking"}, "not 'ranking'"),
        ({"a": [1, 1], "y": [1, 2]}, {}, "No column is left to learn from.*every cell is 1"),
        ({"a": [], "y": []}, {}, "no rows"),
        ({"a": [[1], [2]], "y": [1, 2]}, {}, "column a, row 0: a cell of type list"),
        ({"a": [1j, 2], "y": [1, 2]}, {}, "column a, row 0: a cell of type complex"),
        ({"a": [10**400, 2], "y": [1, 2]}, {}, "column a, row 0: the number is too large"),
        ({"a": pd.to_timedelta([1, 2]), "y": [1, 2]}, {}, "column a, row 0: a cell of type Timedelta"),
        ({"a": [1, 2, 3], "y": [1, 2]}, {}, "could not be put into one"),
    ],
)
def test_tables_that_cannot_be_learned(table: dict, options: dict, message: str) -> None:
    """contract: each error names what is wrong."""
    with pytest.raises(TableError, match=message):
        Encoder.fit(table, "y", **options)
