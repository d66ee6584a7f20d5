"""Pictures centred in a frame."""

import numpy as np
import pytest

from tdamp_bench.suites.classes.framed import framed


def test_framed_by_hand():
    """identity: one dot goes to the middle, a picture as large as the page stays, no ink is an error."""
    dot = np.zeros((20, 20))
    dot[0, 3] = 1
    assert np.argwhere(framed(dot[:1, 3:4])).tolist() == [[14, 14]]
    assert np.argwhere(framed(dot)).tolist() == [[8, 11]]  # the picture's edge meets the page's
    full = np.full((28, 28), 0.5)
    np.testing.assert_array_equal(framed(full), full)
    with pytest.raises(ValueError, match="some ink"):
        framed(np.zeros((3, 3)))
