"""The loop of the ablations is that of training."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tdamp import Network, Settings
from tdamp.training.fit import fit
from tdamp_bench.ablations import loop
from tdamp_bench.core.jobs import Job

WIDTHS = (12, 6, 3)


SMALL = Settings(max_epochs=3, batch_size=20)


class Keep(loop.Arm):
    """Nothing changed; remembers the last state."""

    def end(self, state):
        self.last = state
        return state


@pytest.mark.parametrize("keep", [None, 0.5])
@pytest.mark.parametrize("printed", [False, True])
def test_the_loop_is_fit(blobs, keep, printed):
    """twin: `training.fit` with the group prior, with and without removal: the same posterior after every epoch."""
    settings = replace(SMALL, prior="group", keep=keep)
    if printed:
        settings = Settings.paper(keep=keep, max_epochs=3, batch_size=20, active_threshold=0.51)
    arm = Keep()
    run = loop.train(Job(blobs, 3, keep or 1.0, {}), WIDTHS, settings, arm)
    means = []
    fitted = fit(
        Network(WIDTHS, "classification", "relu"), blobs.x, blobs.y, settings, seed=3,
        callback=lambda epoch, fitted, record: means.append(fitted.state),
    )  # fmt: skip
    assert run.units == fitted.n_units and all(map(math.isfinite, run.loss))
    assert (9 < run.units < 18 if keep else run.units == 18) if printed else run.units == (9 if keep else 18)
    last = means[-1].layers[0].weight
    there = np.asarray(arm.last.layers[0].offset) > -np.inf
    kept = np.asarray(means[-1].layers[0].offset) > -np.inf
    connected = np.asarray(arm.last.layers[1].offset) > -np.inf
    present = np.asarray(means[-1].layers[1].offset) > -np.inf
    np.testing.assert_allclose(
        np.asarray(arm.last.layers[0].weight.mean)[there][:, connected],
        np.asarray(last.mean)[kept][:, present],
        rtol=1e-4,
        atol=1e-6,
    )
    np.testing.assert_allclose(run.extra["noise_var"][-1], float(means[-1].noise_var), rtol=1e-4)


def test_a_diverged_arm_has_infinite_losses(blobs):
    """contract: a state that is no longer finite ends the training."""

    class Broken(loop.Arm):
        def end(self, state):
            return state._replace(noise_var=state.noise_var * np.nan)

    run = loop.train(Job(blobs, 0, 1.0, {}), WIDTHS, SMALL, Broken())
    assert run.loss == [math.inf] * 3 and "not finite" in run.note
