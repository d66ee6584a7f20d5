"""Masks over units: one array of zeros and ones for the inputs and for each hidden layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Masks = tuple[np.ndarray, ...]


def all_units(widths: Sequence[int]) -> Masks:
    """Everything is there."""
    return tuple(np.ones(n, np.float32) for n in widths[:-1])


def count(masks: Masks) -> int:
    """Units that are there."""
    return int(sum(mask.sum() for mask in masks))


def best_units(scores: Sequence[np.ndarray], remain: int) -> Masks:
    """The `remain` units of the highest scores over all layers, ties to the earlier one; no layer is left empty.

    NaN is the lowest score.
    """
    flat = np.concatenate([np.asarray(score, np.float64) for score in scores])
    layer = np.concatenate([np.full(len(score), l) for l, score in enumerate(scores)])
    queue = np.argsort(-flat, kind="stable")
    firsts = [queue[layer[queue] == l][0] for l in range(len(scores))]
    others = queue[~np.isin(queue, firsts)]
    flags = np.zeros(len(flat), np.float32)
    flags[firsts] = 1
    flags[others[: max(remain - len(firsts), 0)]] = 1
    return tuple(flags[layer == l] for l in range(len(scores)))


def best_of_those_left(masks: Masks, scores: Sequence[np.ndarray], remain: int) -> Masks:
    """`best_units` among those that are there: none comes back, even when all scores are zero."""
    known = [np.where(mask > 0, np.nan_to_num(score), -1.0) for mask, score in zip(masks, scores, strict=True)]
    return best_units(known, remain)
