"""Data sets: the file formats, and where they are looked for."""

import gzip

import numpy as np
import pytest

from tdamp.datasets import DataNotFound, boston, folder, load_boston, load_mnist, mnist


def write_idx(path, array):
    """Write an idx file of bytes."""
    header = bytes([0, 0, 8, array.ndim]) + b"".join(int(n).to_bytes(4, "big") for n in array.shape)
    path.write_bytes(gzip.compress(header + array.tobytes()))


@pytest.fixture
def data(tmp_path):
    """A data folder with five digits and two houses."""
    rng = np.random.default_rng(0)
    (tmp_path / "mnist").mkdir()
    for name, n in zip(mnist.FILES, (5, 5, 3, 3), strict=True):
        shape = (n, 28, 28) if "images" in name else (n,)
        write_idx(tmp_path / "mnist" / name, rng.integers(0, 10, shape).astype(np.uint8))
    (tmp_path / "boston").mkdir()
    (tmp_path / "boston" / boston.FILE).write_text("crim,b,medv\n0.5,1,24\n0.25,2,21.5\n")
    return tmp_path


def test_mnist_is_read_as_rows_of_pixels_in_the_unit_interval(data):
    """Identity: what was written comes back, scaled by 255."""
    digits = load_mnist(data)
    raw = mnist.read_idx(data / "mnist" / mnist.FILES[0])
    assert digits.x_train.shape == (5, 784) and digits.x_train.dtype == np.float32
    np.testing.assert_allclose(digits.x_train * 255, raw.reshape(5, 784), rtol=1e-6)
    assert digits.y_test.shape == (3,) and digits.y_test.dtype == np.int32


def test_boston_splits_inputs_from_target(data):
    """Identity: a two-row table."""
    table = load_boston(data)
    assert table.names == ("crim", "b")
    np.testing.assert_array_equal(table.x, [[0.5, 1], [0.25, 2]])
    np.testing.assert_array_equal(table.y, [24, 21.5])


def test_boston_states_its_ethical_problem():
    """The warning stays in the documentation."""
    assert "ethical problem" in load_boston.__doc__ and "racial" in load_boston.__doc__


def test_environment_variable_names_the_folder(data, monkeypatch):
    """TDAMP_DATA is used when no folder is given; the set's own folder may be given as well."""
    monkeypatch.setenv(folder.VARIABLE, str(data))
    assert len(load_mnist().x_train) == 5
    assert len(load_boston(data / "boston").y) == 2


def test_missing_data_says_what_to_do(tmp_path, monkeypatch):
    """A folder that was asked for is the only one looked at, and the error names the remedy."""
    with pytest.raises(DataNotFound, match="TDAMP_DATA"):
        load_mnist(tmp_path)
    monkeypatch.delenv(folder.VARIABLE, raising=False)
    monkeypatch.setattr(folder, "BESIDE_CHECKOUT", tmp_path)
    with pytest.raises(DataNotFound, match="beside the checkout"):
        load_boston()


@pytest.mark.parametrize("damage", [b"\1\0\x08\1", b"\0\0\x08\1\0\0\0\x09abc"])
def test_damaged_idx_files_are_refused(tmp_path, damage):
    """Wrong magic number; fewer bytes than the header promises."""
    (tmp_path / "x.gz").write_bytes(gzip.compress(damage))
    with pytest.raises(ValueError, match=r"x\.gz"):
        mnist.read_idx(tmp_path / "x.gz")
