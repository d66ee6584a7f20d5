"""Other rules for rho."""

import math
from dataclasses import replace

import numpy as np

from tdamp import Settings
from tdamp.engine.turbo import active_logit
from tdamp_bench.ablations import loop, rho
from tdamp_bench.core.jobs import Job

WIDTHS = (12, 6, 3)


SMALL = Settings(max_epochs=3, batch_size=20)


def test_fixed_rho_keeps_its_prior_log_odds(blobs, state):
    """identity: at the beginning of every epoch the log-odds are the target's, whatever was learned; EM's are not."""
    seen = {}

    class Spy(rho.FixedRho):
        def begin(self, state):
            state = super().begin(state)
            seen.setdefault("fixed", []).append(active_logit(state.layers[0], "group", None))
            return state

    class SpyEM(rho.PlainEM):
        def begin(self, state):
            seen.setdefault("em", []).append(active_logit(state.layers[0], "group", None))
            return state

    settings = replace(SMALL, prior="group", pruning="paper", pasp="paper")
    runs = [loop.train(Job(blobs, 0, 0.2, {}), WIDTHS, settings, arm(0.2)) for arm in (Spy, SpyEM)]
    np.testing.assert_allclose(seen["fixed"], math.log(0.25), atol=2e-3)
    np.testing.assert_allclose(seen["em"][0], math.log(0.25), atol=2e-3)
    assert np.abs(np.asarray(seen["em"][2]) - math.log(0.25)).min() > 0.01
    assert all(0 <= run.units <= 18 and math.isfinite(run.loss[-1]) for run in runs)


def test_units_more_likely_on_than_off_are_counted(state):
    """contract: probabilities set by hand."""
    layers = [layer._replace(active_prob=np.full(len(layer.active_prob), 0.4)) for layer in state.layers]
    layers[1] = layers[1]._replace(active_prob=np.array([0.6, 0.4, 0.9, 0.5, 0.1, 0.51]))
    assert rho.PlainEM(0.5).n_units(state._replace(layers=tuple(layers))) == 3
