"""Images to train and to test on, as all loaders of images return them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Images(NamedTuple):
    """Pixels in [0, 1], one row an image, float32; labels int32."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def from_bytes(x_train: np.ndarray, y_train: np.ndarray, x_test: np.ndarray, y_test: np.ndarray) -> Images:
    """Pixels of 0 to 255 in arrays of any shape (images, ...), and their labels."""
    return Images(_pixels(x_train), y_train.astype(np.int32), _pixels(x_test), y_test.astype(np.int32))


def _pixels(images: np.ndarray) -> np.ndarray:
    rows = images.reshape(len(images), -1).astype(np.float32)
    rows /= np.float32(255)  # in place: CIFAR-10 has 740 MB
    return rows
