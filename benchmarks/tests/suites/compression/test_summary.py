"""Means, errors and verdicts."""

import numpy as np
import pytest

from tdamp_bench.suites.compression.summary import between, verdicts


def row(arm, losses, seeds=(0, 1, 2), units=201):
    """A row of the file as far as verdicts need it."""
    loss = {"mean": float(np.mean(losses)), "runs": list(losses)}
    where = {"task": "lenet_300_100", "title": "LeNet", "loss_is": "test error", "keep": units / 1184}
    return where | {"arm": arm, "label": arm, "seeds": list(seeds), "loss": loss, "units": {"mean": units}}


def test_the_seeds_that_both_have():
    """identity: the paired difference of seeds 1 and 2 alone."""
    apart = between(row("tdamp", (0.1, 0.2, 0.4)), row("magnitude", (0.3, 0.3), (1, 2)))
    assert apart is not None and apart.difference == pytest.approx(0.0) and apart.ours == pytest.approx(0.3)
    assert between(row("tdamp", (0.1,), (0,)), row("magnitude", (0.3,), (1,))) is None


def test_verdicts():
    """contract: one for each rival and one for the published network of as many units; none against our other arm."""
    ours, rival = row("tdamp", (0.014, 0.015, 0.0151)), row("magnitude", (0.018, 0.019, 0.0185))
    result = verdicts([ours, row("tdamp_by_layer", (0.01, 0.01, 0.01)), rival])
    assert [verdict.met for verdict in result] == [True, True] and "VIBNet" in result[1].claim
    assert not verdicts([row("tdamp", (0.014, 0.015, 0.0151), units=300)])
