"""Masks over units: one array of zeros and ones for the inputs and for each hidden layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..jobs import n_keep

Masks = tuple[np.ndarray, ...]


def all_units(widths: Sequence[int]) -> Masks:
    """Everything is there."""
    return tuple(np.ones(n, np.float32) for n in widths[:-1])


def count(masks: Masks) -> int:
    """Units that are there."""
    return int(sum(mask.sum() for mask in masks))


def best_units(scores: Sequence[np.ndarray], remain: int) -> Masks:
    """The `remain` units of the highest scores over all layers, ties to the earlier one; no layer is left empty."""
    flat = np.concatenate([np.asarray(score, np.float64) for score in scores])
    layer = np.concatenate([np.full(len(score), l) for l, score in enumerate(scores)])
    queue = np.argsort(-flat, kind="stable")
    firsts = [queue[layer[queue] == l][0] for l in range(len(scores))]
    others = queue[~np.isin(queue, firsts)]
    flags = np.zeros(len(flat), np.float32)
    flags[firsts] = 1
    flags[others[: remain - len(firsts)]] = 1
    return tuple(flags[layer == l] for l in range(len(scores)))


def random_units(widths: Sequence[int], keep: float, seed: int) -> Masks:
    """Exactly n_keep(widths, keep) units drawn at random, at least one in each layer."""
    rng = np.random.default_rng((seed, 1))
    return best_units([rng.random(n) for n in widths[:-1]], n_keep(widths, keep))
