"""Files of arrays with a checksum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdamp.io import records

ARRAYS = {"a.x": np.arange(6.0).reshape(2, 3), "a.y": np.array([np.nan, np.inf]), "b": np.array(3)}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """identity: every bit of the arrays, NaN in the JSON part too."""
    records.write(tmp_path / "r", ARRAYS, {"epoch": 3, "loss": float("nan")})
    arrays, words = records.read(tmp_path / "r")
    assert set(arrays) == set(ARRAYS) and words["epoch"] == 3 and np.isnan(words["loss"])
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)


def test_one_changed_byte_is_noticed(tmp_path: Path) -> None:
    """identity: any byte of the file, its first line included."""
    path = tmp_path / "r"
    records.write(path, ARRAYS, {})
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(records.Damaged, match="SHA-256"):
            records.read(path)


def test_names_below_a_place() -> None:
    """contract: those that begin with the place and a dot, without them."""
    assert set(records.below(ARRAYS, "a")) == {"x", "y"}
    assert records.below(ARRAYS, "b") == {}


def test_digest_depends_on_type_shape_and_content() -> None:
    """contract: equal arrays agree however they lie in memory; other types, shapes and values differ."""
    array = np.arange(12).reshape(3, 4)
    assert records.digest(array) == records.digest(np.asfortranarray(array))
    others = (array.astype(float), array.reshape(4, 3), array + 1, np.array(3))
    assert len({records.digest(other) for other in (array, *others)}) == 5
