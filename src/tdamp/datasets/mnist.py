"""MNIST: 60,000 and 10,000 handwritten digits, from the four idx files of its authors."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .folder import locate

FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
_UNSIGNED_BYTE = 0x08


class Digits(NamedTuple):
    """Pixels in [0, 1], one row an image, float32; labels int32."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def load_mnist(folder: str | os.PathLike[str] | None = None) -> Digits:
    """Read MNIST from `folder`, else from $TDAMP_DATA, else from `shared/data` beside the checkout."""
    place = locate("mnist", FILES, folder)
    x_train, y_train, x_test, y_test = (read_idx(place / file) for file in FILES)
    return Digits(_pixels(x_train), y_train.astype(np.int32), _pixels(x_test), y_test.astype(np.int32))


def read_idx(path: Path) -> np.ndarray:
    """The byte array of a gzipped idx file: two zero bytes, type, rank, big-endian shape, data."""
    raw = gzip.decompress(path.read_bytes())
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != _UNSIGNED_BYTE:
        raise ValueError(f"{path.name} is not an idx file of bytes")
    rank = raw[3]
    shape = tuple(np.frombuffer(raw, ">u4", rank, offset=4).astype(int))
    data = np.frombuffer(raw, np.uint8, offset=4 + 4 * rank)
    if data.size != int(np.prod(shape)):
        raise ValueError(f"{path.name} holds {data.size} bytes of data, its header promises {int(np.prod(shape))}")
    return data.reshape(shape)


def _pixels(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
