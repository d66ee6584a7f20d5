"""Ink put on a page as MNIST's digits are: a box of 20 x 20 in 28 x 28, the centre of mass in the middle."""

from __future__ import annotations

import numpy as np

SIDE = 28
BOX = 20


def framed(ink: np.ndarray) -> np.ndarray:
    """A picture of at most 28 x 28 on an empty page, moved by whole pixels so that its mass is centred best.

    Where that would push ink over the edge the picture stops at the edge.
    """
    if max(ink.shape) > SIDE or not ink.any():
        raise ValueError(f"a picture of {ink.shape}: expected some ink on at most {SIDE} x {SIDE} pixels")
    page = np.zeros((SIDE, SIDE), np.float32)
    mass = ink.sum()
    corner = []
    for axis, size in enumerate(ink.shape):
        centre = (ink.sum(1 - axis) * np.arange(size)).sum() / mass
        corner.append(int(np.clip(np.rint((SIDE - 1) / 2 - centre), 0, SIDE - size)))
    top, left = corner
    page[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
    return page
