"""Random configurations of the soak."""

from __future__ import annotations

import numpy as np
import pytest

from tdamp.engine.compact import padded
from tdamp_bench.suites.soak import configuration
from tdamp_bench.suites.soak.plan import FULL


def test_configurations_cover_what_they_should():
    """contract: every task, face, prior, PasP, activation, noise and pruning is among those of a full run."""
    drawn = [configuration.draw(i) for i in range(FULL.configurations)]
    assert FULL.configurations * FULL.problems == 2000
    kinds = {"face": 2, "task": 2, "prior": 3, "pasp": 2, "activation": 5, "noise": 2, "pruning": 2}
    for name, wanted in kinds.items():
        assert len({getattr(c, name) for c in drawn}) == wanted, name
    assert {len(c.hidden) for c in drawn} >= {1, 8} and any(c.keep for c in drawn) and any(c.grouped for c in drawn)
    assert {n for c in drawn for n in c.hidden} == set(configuration.HIDDEN)


@pytest.mark.parametrize("index", range(0, 8))
def test_problems_of_a_configuration_share_their_shapes(index):
    """identity: widths differ, and are the same after padding."""
    drawn, rng = configuration.draw(index), np.random.default_rng(0)
    results = {drawn.widths(rng) for _ in range(20)}
    assert len({padded(widths, 8) for widths in results}) == 1
