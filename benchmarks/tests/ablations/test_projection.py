"""Projection of spike-slab messages to Gaussians."""

from dataclasses import replace

import jax
import numpy as np

from tdamp import Network, Settings
from tdamp.engine.state import init, question, remove
from tdamp.engine.turbo import active_logit, refresh
from tdamp.factors.priors import base
from tdamp_bench.ablations import loop, projection
from tdamp_bench.core.jobs import Job

WIDTHS = (12, 6, 3)


SMALL = Settings(max_epochs=3, batch_size=20)


def same(a, b) -> None:
    """Two states are the same to the last bit."""
    jax.tree.map(np.testing.assert_array_equal, a.layers, b.layers)


def test_projection_has_the_moments_of_the_mixture(state):
    """identity: P mean and P (var + mean^2) - (P mean)^2, with log-odds of about zero and of -1."""
    asked = question(state, -1.0, None, from_here=True)
    layer = asked.layers[0]
    result = projection.project(layer)
    p = 1 / (1 + np.exp(-np.asarray(active_logit(layer, "group", None), float)))[:, None]
    np.testing.assert_allclose(p, 1 / (1 + np.e), rtol=1e-3)
    mean, var = (np.asarray(part, float) for part in layer.weight)
    np.testing.assert_allclose(result.weight.mean, p * mean, rtol=1e-5)
    np.testing.assert_allclose(result.weight.var, p * (var + mean**2) - (p * mean) ** 2, rtol=1e-4)
    assert np.isfinite(active_logit(result, "group", None)).all()


def test_ep_is_turbo_where_groups_are_certain(state, blobs):
    """identity: all groups surely on: the projection changes no bit, and so does a whole training."""
    same(projection.project_all(state), state)
    asked = question(state, 50.0, None, from_here=True)
    sure = asked._replace(layers=tuple(refresh(layer, "group", None) for layer in asked.layers))
    assert all(bool(layer.sure) for layer in sure.layers)
    same(projection.project_all(sure), sure)
    never = replace(SMALL, prior="group", warm_up=99)
    job = Job(blobs, 0, 1.0, {})
    turbo, ep = (loop.train(job, WIDTHS, never, arm) for arm in (loop.Arm(), projection.ProjectEachMinibatch()))
    assert turbo.loss == ep.loss and turbo.extra == ep.extra


def test_ep_differs_where_groups_are_in_question(blobs):
    """contract: the same start; after the warm-up of one epoch the two ways of EP and turbo part."""
    settings = replace(SMALL, prior="group", warm_up=1, init_active_prob=0.01)
    kinds = loop.Arm, projection.ProjectEachMinibatch, projection.ProjectEachEpoch
    runs = [loop.train(Job(blobs, 0, 1.0, {}), WIDTHS, settings, kind()) for kind in kinds]
    noises = [run.extra["noise_var"] for run in runs]
    assert noises[0][0] == noises[1][0] == noises[2][0] and len({noise[-1] for noise in noises}) == 3


def test_a_removed_unit_stays_removed_by_the_projection(state):
    """identity: its weights stay known to be zero; a group surely off keeps finite log-odds."""
    asked = question(state, -200.0, None, from_here=True)
    gone = np.arange(12) == 3
    layer = remove(asked, [~gone, np.ones(6, bool)]).layers[0]
    result = projection.project(layer)
    assert not np.asarray(result.weight.var)[3].any() and (np.asarray(result.weight.var)[~gone] > 0).all()
    assert np.isfinite(np.asarray(active_logit(result, "group", None))[~gone]).all()


def test_the_evidence_that_remains():
    """identity: log-odds after the projection are the prior's plus the evidence of the projected Gaussians."""
    rng = np.random.default_rng(1)
    network = Network((3, 2, 2), "classification", "relu")
    x = rng.standard_normal((9, 3)).astype(np.float32)
    layer = question(init(network, SMALL, rng, x, np.zeros(9, np.int32)), 0.3, None, from_here=True).layers[0]
    result = projection.project(layer)
    gained = base.evidence(result.weight, layer.base_var)
    np.testing.assert_allclose(active_logit(result, "group", None), layer.offset + gained, rtol=1e-5)
