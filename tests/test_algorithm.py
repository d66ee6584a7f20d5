"""Algorithm 1: the fast path against the loop transcription.

covers: engine.info, engine.plan
"""

from __future__ import annotations

from dataclasses import fields, replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers.one_epoch import em_step
from oracles import algorithm1, algorithm1_epoch
from tdamp.algorithm import m_step, minibatch_step
from tdamp.engine import mstep
from tdamp.engine.network import Network
from tdamp.engine.plan import Knobs, Minibatch, knobs_of, plan_of
from tdamp.engine.settings import Settings
from tdamp.engine.state import State, init, question, remove
from tdamp.numerics import gumbel
from tdamp.numerics.beliefs import natural
from tdamp.training.batches import shuffle

ROWS, SHARED = 11, np.array([0, 1, 0])
BASE = Settings(batch_size=4, data_weight=2.0, noise_rate=0.3, centre_rate=0.4, damping=0.3, trust=1.0)
CASES = {
    "regression": (Network((3, 4, 2)), BASE),
    "classification": (Network((3, 4, 3), "classification"), BASE),
    "three layers": (Network((3, 4, 3, 2)), replace(BASE, trust=40.0, memory=5.0)),
    "three sweeps": (Network((3, 4, 3, 3), "classification"), replace(BASE, sweeps=3)),
    "paper": (
        Network((3, 4, 2)),
        replace(BASE, sweeps=3, pasp="paper", pasp_power=0.97, noise_every="epoch", learn_base_var=True),
    ),
    "groups": (Network((3, 4, 3), "classification"), replace(BASE, prior="group", noise_every="epoch")),
    "groups, three sweeps": (Network((3, 4, 2)), replace(BASE, prior="group", sweeps=3, trust=40.0)),
}


def problem(network: Network) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eleven rows of random data, and weights."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(ROWS, network.widths[0]))
    labels = rng.integers(0, network.widths[-1], ROWS)
    y = labels if network.task == "classification" else rng.normal(size=(ROWS, network.widths[-1]))
    return x, y, rng.uniform(0.5, 2.0, ROWS)


def start(network: Network, settings: Settings, x: np.ndarray, y: np.ndarray, group_of: jax.Array | None) -> State:
    """A first state whose groups, if it has any, are in doubt."""
    state = init(network, settings, np.random.default_rng(1), x, y)
    return state if settings.prior == "gaussian" else question(state, 0.3, group_of, from_here=True)


def plain(state: State) -> list[algorithm1.Layer]:
    """The layers as the oracle holds them."""
    return [
        SimpleNamespace(
            **{
                name: np.array(value)
                for name, value in layer._asdict().items()
                if name not in ("weight", "bias", "chain")
            },
            **dict(zip(("w_shift", "w_prec"), map(np.array, natural(layer.weight)), strict=True)),
            **dict(zip(("b_shift", "b_prec"), map(np.array, natural(layer.bias)), strict=True)),
            base_var_start=float(layer.base_var),
        )
        for layer in state.layers
    ]


def rules_of(network: Network, settings: Settings, knobs: Knobs) -> algorithm1.Rules:
    """The same settings for the oracle."""
    given = {"task", "data_weight", "memory", "n_rows", "best_noise_var"}
    own = [field.name for field in fields(algorithm1.Rules) if field.name not in given]
    return algorithm1.Rules(
        task=network.task,
        data_weight=knobs.data_weight,
        memory=knobs.memory,
        n_rows=knobs.n_rows,
        best_noise_var=lambda ratio: float(gumbel.best_noise_var(jnp.float64(ratio))),
        **{name: getattr(settings, name) for name in own},
    )


@pytest.mark.parametrize("case", CASES)
def test_epoch_is_the_loop(case: str) -> None:
    """twin: two epochs in float64, ragged last batch and sample weights included, to 1e-8."""
    network, settings = CASES[case]
    x, y, weight = problem(network)
    group_of = jnp.asarray(SHARED) if settings.prior == "group" else None
    state = start(network, settings, x, y, group_of)
    layers, noise_var, scale = plain(state), np.array(state.noise_var), np.array(state.noise_scale)
    plan, knobs = plan_of(network, settings), knobs_of(settings, 0, weight.sum())
    clips = np.zeros(5, int)
    for epoch in range(2):
        order, present = shuffle(np.random.default_rng(epoch), ROWS, ROWS, settings.batch_size)
        state, info = em_step(plan, knobs, group_of, state, x - layers[0].centre, y, weight, order, present)
        order = order[present]
        batches = [(x[i], y[i], weight[i]) for i in (order[:4], order[4:8], order[8:])]
        rules = rules_of(network, settings, knobs)
        noise_var, evidence = algorithm1_epoch.epoch(
            rules, layers, noise_var, scale, None if group_of is None else SHARED, batches
        )
        np.testing.assert_allclose(info.log_evidence, evidence, rtol=1e-8)
        clips += np.array([int(count) for count in info.clips])
    np.testing.assert_allclose(state.noise_var, noise_var, rtol=1e-8)
    for ours, slow in zip(state.layers, layers, strict=True):
        weight, bias = natural(ours.weight), natural(ours.bias)
        for a, b in (
            (weight.prec, slow.w_prec),
            (weight.shift, slow.w_shift),
            (bias.prec, slow.b_prec),
            (bias.shift, slow.b_shift),
            (ours.centre, slow.centre),
            (ours.active_prob, slow.active_prob),
            (ours.base_var, slow.base_var),
        ):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * np.abs(b).max())
    assert (clips[-1] > 0) == (settings.trust < 40), "these cases are meant to be held back, or not"
    if settings.prior == "group":
        assert np.any((state.layers[0].active_prob > 0.01) & (state.layers[0].active_prob < 0.99))


def test_a_forgotten_term_would_be_seen() -> None:
    """twin: the comparison has teeth, each term left out of the oracle moves the result by far more than 1e-8."""
    network, settings = CASES["three sweeps"]
    settings = replace(settings, trust=0.1)  # small enough to hold this batch back
    x, y, weight = problem(network)
    state = start(network, settings, x, y, None)
    knobs = knobs_of(settings, 0, weight.sum())

    def run(**changes: float) -> np.ndarray:
        layers = plain(state)
        rules = replace(rules_of(network, settings, knobs), **changes)
        algorithm1_epoch.epoch(rules, layers, np.array(1.0), np.array(1.0), None, [(x, y, weight)])
        return layers[0].w_shift

    full = run()
    for changes in (
        {"damping": 0.0},
        {"trust": 1e9},
        {"sweeps": 2},
        {"sweeps": 1},
        {"data_weight": 2.1},
        {"memory": 2.1},
    ):
        assert np.max(np.abs(run(**changes) - full)) > 1e-5 * np.max(np.abs(full)), changes


@pytest.mark.parametrize("every", ["minibatch", "epoch"])
def test_no_clip_of_the_noise_is_reported_where_there_was_none(every: str) -> None:
    """contract: an epoch whose noise stays within its bounds has no clip; one that starts far outside has some."""
    network, settings = CASES["regression"][0], replace(BASE, noise_every=every)
    x, y, weight = problem(network)
    order, present = shuffle(np.random.default_rng(0), ROWS, ROWS, settings.batch_size)
    state = start(network, settings, x, y, None)
    plan, knobs = plan_of(network, settings), knobs_of(settings, 0, weight.sum())
    _, quiet = em_step(plan, knobs, None, state, x, y, weight, order, present)
    _, loud = em_step(plan, knobs, None, state, x, 1e5 * y, weight, order, present)
    assert quiet.noise_clips == 0 and loud.noise_clips > 0


def test_light_rows_teach_the_noise_and_rows_of_no_weight_do_not() -> None:
    """contract: a minibatch of weight 1/2 in all moves the noise; one of weight 0 leaves it as it was."""
    network, settings = CASES["regression"]
    x, y, _ = problem(network)
    state = start(network, settings, x, y, None)
    plan, knobs = plan_of(network, settings), knobs_of(settings, 0, ROWS)
    light, _, _ = minibatch_step(plan, knobs, None, state, Minibatch(x, y, np.full(ROWS, 0.5 / ROWS)))
    none, _, _ = minibatch_step(plan, knobs, None, state, Minibatch(x, y, np.zeros(ROWS)))
    assert np.all(np.abs(light.noise_var / state.noise_var - 1) > 1e-3)
    np.testing.assert_array_equal(none.noise_var, state.noise_var)


def test_base_variances_count_weights_of_units_that_are_left() -> None:
    """twin: `mstep.learn_base_var` of each layer, told which units of the next are still there."""
    network, settings = CASES["three layers"][0], replace(BASE, learn_base_var=True)
    x, y, _ = problem(network)
    state = start(network, settings, x, y, None)
    masks = [np.ones(3, bool), np.array([True, False, True, True]), np.array([False, True, True])]
    state = remove(state, masks)
    found, _ = m_step(plan_of(network, settings), None, state, mstep.no_stats(network, "em", np.float64))
    for l, present in enumerate([masks[1], masks[2], None]):
        expected = mstep.learn_base_var(state.layers[l], state.base_var_start[l], present).base_var
        np.testing.assert_allclose(found.layers[l].base_var, expected, rtol=1e-12)
        whole = mstep.learn_base_var(state.layers[l], state.base_var_start[l]).base_var
        assert l == 2 or not np.isclose(whole, expected)
