"""Sets of images to be scored on."""

from dataclasses import replace

import numpy as np

from tdamp_bench.suites.classes.plan import QUICK
from tdamp_bench.suites.classes.sets import Sets, sets

PLAN = replace(QUICK, validation_rows=200, hidden=(16,), rates=(3e-3, 1e-2), angles=(0, 90))


def test_sets_hold_what_they_promise(digits):
    """contract: all are rows of 784 pixels; the small digits have their labels."""
    asked = sets(digits.x_test, digits.y_test, PLAN)
    assert isinstance(asked, Sets) and len(asked.y_small) == len(asked.small) == 1797
    for x in (*asked.turned.values(), *asked.outside.values(), asked.small):
        assert x.shape[1] == 784 and x.dtype == np.float32 and x.min() >= 0 and x.max() <= 1
