"""Test digits changed: turned, cut into quarters, inverted, their pixels permuted. Rows are pixels in [0, 1]."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import rotate

from .framed import SIDE

HALF = SIDE // 2


def turned(x: np.ndarray, angle: float) -> np.ndarray:
    """Each picture turned anticlockwise by `angle` degrees about its middle, linear between pixels."""
    if angle == 0:
        return x
    pictures = x.reshape(-1, SIDE, SIDE)
    rotated = rotate(pictures, angle, axes=(1, 2), reshape=False, order=1, mode="constant")
    return np.clip(rotated, 0, 1).reshape(x.shape).astype(np.float32)


def pieces(x: np.ndarray, seed: int = 0) -> np.ndarray:
    """The four quarters of each picture in another order, one of the 23, each its own."""
    quarters = x.reshape(-1, 2, HALF, 2, HALF).transpose(0, 1, 3, 2, 4).reshape(-1, 4, HALF, HALF)
    rng = np.random.default_rng(seed)
    order = np.stack([_other_order(rng) for _ in quarters])
    mixed = np.take_along_axis(quarters, order[:, :, None, None], 1)
    return mixed.reshape(-1, 2, 2, HALF, HALF).transpose(0, 1, 3, 2, 4).reshape(x.shape)


def _other_order(rng: np.random.Generator) -> np.ndarray:
    """A permutation of four that is not the identity."""
    while True:
        order = rng.permutation(4)
        if (order != np.arange(4)).any():
            return order


def inverted(x: np.ndarray) -> np.ndarray:
    """Black for white."""
    return 1 - x


def permuted(x: np.ndarray, seed: int = 0) -> np.ndarray:
    """The pixels of every picture in one and the same random order."""
    return x[:, np.random.default_rng(seed).permutation(x.shape[1])]
