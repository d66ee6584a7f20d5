"""Masks of units: their size and their order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tdamp_bench.core.jobs import n_keep
from tdamp_bench.methods.baselines.unit_masks import all_units, best_of_those_left, best_units, count

scores = st.lists(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, np.inf, np.nan]), min_size=1, max_size=6), min_size=1, max_size=4
)


@given(scores, st.floats(0.0, 1.0))
def test_masks_have_the_size_asked_for(layers, keep):
    """contract: n_keep units, none of the layers empty, no unit outside with a higher score than its layer's lowest."""
    widths = [*map(len, layers), 1]
    masks = best_units([np.array(layer) for layer in layers], n_keep(widths, keep))
    assert count(masks) == n_keep(widths, keep) and min(mask.sum() for mask in masks) >= 1
    for layer, mask in zip(layers, masks, strict=True):
        known = np.nan_to_num(np.array(layer), nan=-1.0)
        assert known[mask == 0].max(initial=-1) <= known[mask == 1].min()


@given(scores, st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_no_unit_comes_back(layers, keeps):
    """contract: masks nest as fewer are asked for, even if all scores are zero or not numbers."""
    widths = [*map(len, layers), 1]
    masks = all_units(widths)
    rng = np.random.default_rng(0)
    for keep in sorted(keeps, reverse=True):
        shuffled = [rng.permutation(layer) for layer in layers]
        fewer = best_of_those_left(masks, shuffled, n_keep(widths, keep))
        assert all((new <= old).all() for new, old in zip(fewer, masks, strict=True))
        assert count(fewer) == n_keep(widths, keep) and min(mask.sum() for mask in fewer) >= 1
        masks = fewer


def test_ties_go_to_the_earlier_unit():
    """contract: layers in their order; the best of each layer is safe."""
    masks = best_units([np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0])], 3)
    assert [mask.tolist() for mask in masks] == [[1, 1, 0], [1, 0]]
