"""Letters drawn as MNIST's digits are."""

import numpy as np


def test_letters_are_drawn_alike_every_time():
    """contract: the same pixels twice, in [0, 1]; 52 letters x 4 styles x 3 sizes, centred, no two letters alike."""
    from tdamp_bench.suites.classes.letters import SIZES, letters

    result = letters((15.0,))
    np.testing.assert_array_equal(result, letters((15.0,)))
    assert result.shape == (52 * 4 * len(SIZES), 784) and result.min() == 0 and 0.9 < result.max() <= 1
    pages = result.reshape(-1, 28, 28)
    longer = np.maximum(_extent(pages, 1), _extent(pages, 2))
    assert set(longer) <= {size - cut for size in SIZES for cut in (0, 1, 2)}
    mass = pages.sum((1, 2))
    for axis in (1, 2):
        centre = (pages.sum(3 - axis) * np.arange(28)).sum(1) / mass
        assert np.abs(centre - 13.5).max() <= 0.5 + 1e-4
    assert len(np.unique(result, axis=0)) > 0.99 * len(result)


def _extent(pages, axis):
    """How many rows (axis 1) or columns (axis 2) of each page hold ink, from the first to the last."""
    ink = pages.max(3 - axis) > 0
    return ink.shape[1] - ink.argmax(1) - ink[:, ::-1].argmax(1)
