"""What the trained networks are asked about: test digits, the same turned, sets without digits, and other people's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import zoom
from sklearn.datasets import load_digits

from . import shifts
from .framed import BOX, SIDE, framed
from .letters import letters
from .plan import Plan

TITLES = {
    "letters": "letters A-Z, a-z",
    "pieces": "quarters of digits shuffled",
    "permuted": "pixels permuted",
    "inverted": "black for white",
}
"""The sets that hold no digits, by name."""


@dataclass(frozen=True)
class Sets:
    """Rows of pixels; `small` are scikit-learn's digits: digits, but from another source and at another resolution."""

    test: np.ndarray
    y_test: np.ndarray
    turned: dict[int, np.ndarray]
    outside: dict[str, np.ndarray]
    small: np.ndarray
    y_small: np.ndarray


def sets(x_test: np.ndarray, y_test: np.ndarray, plan: Plan) -> Sets:
    """All sets, the same in every run."""
    outside = {
        "letters": letters(plan.letter_tilts),
        "pieces": shifts.pieces(x_test),
        "permuted": shifts.permuted(x_test),
        "inverted": shifts.inverted(x_test),
    }
    turned = {angle: shifts.turned(x_test, angle) for angle in plan.angles}
    small, y_small = small_digits()
    return Sets(x_test, y_test, turned, outside, small, y_small)


def small_digits() -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's 1,797 digits of 8 x 8, enlarged to MNIST's box of 20 x 20 (linear between pixels) and framed."""
    pictures, labels = load_digits(return_X_y=True)
    large = [np.clip(zoom(one.reshape(8, 8) / 16, BOX / 8, order=1), 0, 1) for one in pictures]
    return np.stack([framed(one).ravel() for one in large]).reshape(-1, SIDE * SIDE), labels.astype(np.int32)
