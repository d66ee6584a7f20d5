"""Training without PasP."""

from dataclasses import replace

import jax
import numpy as np

from tdamp import Network, Settings
from tdamp.algorithm import minibatch_step
from tdamp.engine.plan import Minibatch, knobs_of, plan_of
from tdamp.engine.state import init
from tdamp_bench.ablations import no_pasp
from tdamp_bench.core.problems import Problem

WIDTHS = (12, 6, 3)


step = jax.jit(minibatch_step, static_argnums=0)


SMALL = Settings(max_epochs=3, batch_size=20)


def batches(problem: Problem):
    """Six minibatches of twenty."""
    order = np.arange(120, dtype=np.int32).reshape(6, 20)
    x = problem.x - problem.x.mean(0)
    return x, problem.y, np.ones(120, np.float32), order, np.ones_like(order, bool)


def test_minibatches_alone_and_averaged(blobs, state):
    """twin: minibatch steps from the first prior one by one; averages of precisions and shifts."""
    settings = replace(SMALL, pasp="paper", centre_rate=0.0)
    plan = plan_of(Network(WIDTHS, "classification", "relu"), settings)
    knobs = knobs_of(settings, 0, 120.0)
    x, y, weight, order, present = batches(blobs)
    posts, here = [], state
    for rows in order:
        here = state._replace(noise_var=here.noise_var)
        here, *_ = step(plan, knobs, None, here, Minibatch(x[rows], y[rows], weight[rows]))
        posts.append(here.layers[0].weight)
    prec = np.mean([1 / np.asarray(post.var) for post in posts], 0)
    shift = np.mean([np.asarray(post.mean) / np.asarray(post.var) for post in posts], 0)
    for averaged, mean, var in ((False, *posts[-1]), (True, shift / prec, 1 / prec)):
        arm = no_pasp.Minibatches(averaged)
        arm.start(state)
        result, _ = arm.e_step(plan, knobs, state, x, y, weight, order, present)
        again, _ = arm.e_step(plan, knobs, result, x, y, weight, order, present)
        np.testing.assert_allclose(result.layers[0].weight.mean, mean, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(result.layers[0].weight.var, var, rtol=1e-3)
        assert again.noise_var != result.noise_var
        np.testing.assert_allclose(again.layers[0].weight.var, result.layers[0].weight.var, rtol=0.5)


def test_one_batch_of_all_rows_is_a_minibatch_step(lines):
    """twin: the first epoch of one sweep is `minibatch_step` on all rows; later sweeps go on from its messages."""
    problem = lines[0]
    settings = Settings(batch_size=61, noise_every="epoch", pasp="paper", centre_rate=0.0, data_weight=1.0)
    network = Network((4, 5, 1), "regression", "relu")
    start = init(network, settings, np.random.default_rng(0), problem.x, problem.y)
    plan, knobs = plan_of(network, settings), knobs_of(settings, 0, 61.0)
    x, ones = problem.x - problem.x.mean(0), np.ones(61, np.float32)
    one, stats, _ = step(plan, knobs, None, start, Minibatch(x, problem.y, ones))
    arm = no_pasp.Whole()
    arm.start(start)
    result, found_stats = arm.e_step(plan, knobs, start, x, problem.y, ones)
    for a, b in zip(jax.tree.leaves((result.layers, found_stats)), jax.tree.leaves((one.layers, stats)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    further, _ = arm.e_step(plan, knobs, result, x, problem.y, ones)
    assert np.abs(np.asarray(further.layers[0].weight.mean - result.layers[0].weight.mean)).max() > 1e-3
