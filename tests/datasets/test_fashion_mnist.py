"""Fashion-MNIST: four files with the names of MNIST's, and how the two are kept apart."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from tdamp.datasets import (
    FASHION_MNIST_CLASSES,
    DataDamaged,
    DataNotFound,
    catalog,
    debian,
    fashion_mnist,
    fetch,
    folder,
    load_fashion_mnist,
    load_mnist,
    mnist,
)

BESIDE_CHECKOUT = folder.BESIDE_CHECKOUT


@pytest.fixture(autouse=True)
def no_apt(tmp_path, monkeypatch):
    """There is no apt-get."""
    monkeypatch.setattr(debian, "APT", (str(tmp_path / "nothing"),))


def put(place, shift=0):
    """Two images to train on and one to test on, whose pixels count up from the label; returns the contents."""
    place.mkdir(parents=True, exist_ok=True)
    arrays = []
    for labels in ([3, 9], [7]):
        y = np.array(labels, np.uint8)
        arrays += [((y[:, None] + np.arange(784) + shift) % 256).astype(np.uint8).reshape(-1, 28, 28), y]
    contents = {file.name: mnist.write_idx(array) for file, array in zip(mnist.IDX, arrays, strict=True)}
    for file in mnist.IDX:
        (place / file.name).write_bytes(file.pack(contents[file.name]))
    return contents


@pytest.mark.parametrize("where", [".", "fashion_mnist"])
def test_four_files_in_a_folder(tmp_path, where):
    """contract: pixels worked out by hand, from a folder or the subfolder of its name."""
    put(tmp_path / "data" / where)
    images = load_fashion_mnist(tmp_path / "data", verify=False)
    assert images.x_train.shape == (2, 784) and images.x_train.dtype == np.float32 and images.y_train.dtype == np.int32
    assert [FASHION_MNIST_CLASSES[label] for label in images.y_train] == ["Dress", "Ankle boot"]
    np.testing.assert_allclose(images.x_train[1, :3] * 255, [9, 10, 11], rtol=1e-6)
    np.testing.assert_allclose(images.x_test[0, 248] * 255, 255, rtol=1e-6)
    with pytest.raises(DataDamaged, match="SHA-256"):
        load_fashion_mnist(tmp_path / "data")


def test_files_of_the_other_set_are_not_taken(tmp_path, monkeypatch):
    """contract: where the labels are MNIST's, Fashion-MNIST is not there, and can be put into a folder of its own."""
    theirs = put(tmp_path)[mnist.IDX[-1].name]
    owned = mnist.IDX[-1]._replace(sha256=hashlib.sha256(theirs).hexdigest())
    data = fashion_mnist.FASHION_MNIST
    assert folder.find(data, tmp_path).path == tmp_path
    apart = replace(data, foreign=(owned,))
    assert folder.find(apart, tmp_path) is None
    put(tmp_path / "fashion_mnist", shift=1)
    (tmp_path / "fashion_mnist" / owned.name).write_bytes(b"no gzip file")
    assert folder.find(apart, tmp_path).path == tmp_path / "fashion_mnist"


def test_each_knows_the_labels_of_the_other():
    """identity: what is foreign to one is a file of the other, under a name that both have."""
    one, other = mnist.MNIST, fashion_mnist.FASHION_MNIST
    assert set(one.foreign) & {file._replace(member="") for file in other.forms[0]} == set(one.foreign) != set()
    assert set(other.foreign) & set(one.forms[0]) == set(other.foreign) != set()
    assert [file.name for file in one.forms[0]] == [file.name for file in other.forms[0]]


def test_it_is_in_the_catalog(tmp_path):
    """contract: under its own name and a short one; without apt-get the error names files and package."""
    entry = next(entry for entry in catalog() if entry.name == "fashion_mnist")
    assert (entry.rows, entry.inputs, entry.there) == (70_000, 784, False) and "dataset-fashion-mnist" in entry.package
    for name in ("fashion-mnist", "Fashion"):
        with pytest.raises(DataNotFound) as caught:
            fetch(name, progress=False)
    for words in ("apt-get download dataset-fashion-mnist", "train-images-idx3-ubyte.gz", "TDAMP_DATA"):
        assert words in str(caught.value)
    with pytest.raises(DataNotFound, match="fashion_mnist/"):
        load_fashion_mnist(tmp_path)


@pytest.mark.skipif(not (BESIDE_CHECKOUT / "fashion_mnist").is_dir(), reason="there is no shared/data/fashion_mnist")
def test_data_beside_the_checkout_are_the_pinned_ones(monkeypatch):
    """golden(SHA-256): read with the check on, as many images of each kind as published."""
    monkeypatch.setattr(folder, "BESIDE_CHECKOUT", BESIDE_CHECKOUT)
    images = load_fashion_mnist()
    assert images.x_train.shape == (60_000, 784) and images.x_test.shape == (10_000, 784) and images.x_train.max() == 1
    assert set(np.bincount(images.y_train)) == {6_000} and set(np.bincount(images.y_test)) == {1_000}


def test_the_same_kind_of_result_as_of_mnist(tmp_path):
    """twin: the loader of MNIST, on the same four files."""
    put(tmp_path)
    for ours, theirs in zip(
        load_fashion_mnist(tmp_path, verify=False), load_mnist(tmp_path, verify=False), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
