"""Contenders of `tdamp bench classes`."""

import numpy as np

from tdamp_bench.suites.classes import contenders


def test_an_ensemble_is_the_mean_of_its_members():
    """identity: two networks by hand; ensembles of different seeds share no member."""

    class Sure:
        def __init__(self, k):
            self.k = k

        def predictive(self, x):
            return np.tile(np.eye(3)[self.k], (len(x), 1))

    np.testing.assert_allclose(contenders.mean_probs([Sure(0), Sure(2)], np.zeros((4, 1))), [[0.5, 0, 0.5]] * 4)
    together = [*contenders.member_seeds(0, 5), *contenders.member_seeds(1, 5), *contenders.member_seeds(2, 5)]
    assert together == list(range(15))
