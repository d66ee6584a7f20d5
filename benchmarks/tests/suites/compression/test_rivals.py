"""AdamW's arms."""

from dataclasses import replace

import numpy as np
import pytest

from tdamp_bench.core.jobs import Job
from tdamp_bench.figures.tasks import Task
from tdamp_bench.suites.compression.ours import ByLayer, ByTotal
from tdamp_bench.suites.compression.rivals import Magnitude, Scratch, most_telling

TASK = Task("toy", "toy", "test error", True, (12, 6, 5, 3), 20, 3, (0,), False, lambda role, seed: None)


@pytest.mark.parametrize("keep", [0.17, 0.33, 0.6])
def test_as_many_trials_for_each(keep):
    """contract: all arms on MNIST choose among as many configurations."""
    assert {len(arm.grid("lenet_300_100", keep)) for arm in (ByTotal(), ByLayer(), Magnitude(), Scratch())} == {3}


def test_columns_by_least_squares(blobs):
    """enumeration: at every step a fit for each column in question; the one that leaves least; a copy is no use."""
    x = np.concatenate([blobs.x[:, :5], blobs.x[:, :1], np.ones((120, 1))], 1)
    y = np.eye(3)[blobs.y] - np.eye(3)[blobs.y].mean(0)
    results: list[int] = []
    for _ in range(4):
        rest = []
        for column in range(7):
            some = x[:, [*results, column]] - x[:, [*results, column]].mean(0)
            rest.append(np.inf if column in results else np.square(y - some @ np.linalg.lstsq(some, y)[0]).sum())
        results.append(int(np.argmin(np.round(rest, 6))))
    assert most_telling(x, blobs.y, 4).tolist() == sorted(results)
    assert len(set(results) & {0, 5}) == 1 and most_telling(x, blobs.y, 7).tolist() == list(range(7))


def test_magnitude_has_the_units_asked_for(blobs):
    """contract: a share, or the number in the configuration; parameters are those of the units left."""
    config = Magnitude().grid("lenet_300_100", 0.5)[0]
    run = Magnitude().train(Job(blobs, 0, 10 / 23, config), TASK, None)
    widths = [int(width) for width in run.extra["widths"]]
    assert run.units == sum(widths[:-1]) == 10 and run.extra["multiply_adds"] == [
        sum(np.multiply(widths[:-1], widths[1:]))
    ]
    config = Magnitude(lambda data, keep: 7).grid("toy", 0.5)[0]
    assert config["units"] == 7 and Magnitude().train(Job(blobs, 0, 0.5, config), TASK, None).units == 7


def test_noise_from_held_out_rows(lines):
    """contract: a regression's NLL is that of the variance handed over, else of the training rows' errors."""
    task = replace(TASK, widths=(4, 6, 5, 1), loss="1 - R2", percent=False)
    job = Job(lines[0], 0, 1.0, {"rate": 1e-2, "energy": "sum"})
    known, large = (Magnitude().train(job, task, noise) for noise in (None, 1e4))
    assert known.loss == large.loss
    assert large.extra["nll"][0] == pytest.approx(0.5 * np.log(2 * np.pi * 1e4), abs=0.01)
    assert known.extra["nll"][0] < large.extra["nll"][0]
