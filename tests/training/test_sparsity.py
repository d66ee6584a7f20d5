"""sparsity: when units are questioned and removed, and when a training has reached its goal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from tdamp import Network, Settings
from tdamp.engine import prune
from tdamp.engine.state import State, evidence, init, remove
from tdamp.factors.priors.base import prior_logit
from tdamp.training.fitted import active_units
from tdamp.training.sparsity import SparsityControl

NETWORK = Network((4, 6, 1))
GROUPS = np.array([0, 0, 1, 2])
EXACT = Settings(prior="group", keep=0.5, warm_up=2, max_epochs=10, prune_start=0.2, prune_end=0.6)
PAPER = replace(EXACT, pruning="paper")


def start(seed: int = 0) -> State:
    """A random start, nothing in question."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(30, 1))
    return init(NETWORK, EXACT, rng, x, y)


def rank(state: State) -> list[np.ndarray]:
    """Losses by which units go; any will do."""
    return [np.square(nats) for nats in evidence(state, None)]


def by_groups(state: State) -> list[np.ndarray]:
    """The same, for the inputs of a group their first one's."""
    inputs, units = rank(state)
    return [inputs[[0, 0, 2, 3]], units]


def offsets(state: State) -> list[np.ndarray]:
    """Of the units of every layer."""
    return [np.asarray(layer.offset) for layer in state.layers]


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["units", "groups"])
def test_the_exact_rule_follows_its_schedule(groups: np.ndarray | None) -> None:
    """contract: epoch by epoch as many groups as the schedule says, those with the least loss first."""
    control, state = SparsityControl(EXACT, NETWORK, groups), start()
    losses = rank if groups is None else by_groups
    total = sum(prune.n_groups(NETWORK, groups))
    for epochs_done in range(11):
        before, share = active_units(state), prune.progress(EXACT, epochs_done)
        masks, restart = control.remaining(state, groups, epochs_done, losses)
        assert not restart and control.progress == share
        if masks is not None:
            pairs = list(zip(losses(state), before, masks, strict=True))
            gone, stays = ([v[a & (b == kept)] for v, a, b in pairs] for kept in (False, True))
            assert all((a >= b).all() for _, a, b in pairs) and sum(map(len, gone)) > 0
            several = [l for l, values in enumerate(stays) if len(np.unique(values)) > 1]  # a layer's last group stays
            assert all(max(map(max, filter(len, gone))) <= stays[l].min() for l in several)
            state = remove(state, masks)
        assert control.remaining(state, groups, epochs_done, losses) == (
            None,
            False,
        )  # once for each step of the schedule
        assert prune.n_left(active_units(state), groups) == round(total + (round(0.5 * total) - total) * share)
        assert control.is_settled(state, groups, epochs_done) == (share == 1)
    assert not control.is_above_goal(state, groups)


def test_a_forecast_removes_nothing_yet() -> None:
    """identity: what the schedule will leave at its end is known without a step of the control."""
    control, state = SparsityControl(EXACT, NETWORK, None), start()
    masks = control.forecast(state, None, 1.0, rank)
    assert sum(int(mask.sum()) for mask in masks) == 5 and control.progress == 0
    assert all(mask.all() for mask in active_units(state))


def test_units_are_questioned_once_the_warm_up_is_over() -> None:
    """identity: in the step that holds the epoch `warm_up`, with the prior's log-odds; the paper's does not wait."""
    state = start()
    control = SparsityControl(EXACT, NETWORK, None)
    for before, done in ((0, 1), (2, 3), (2, 12)):
        assert control.after_warm_up(state, None, before, done) is state
    for before, done in ((1, 2), (0, 2), (0, 12)):  # an epoch, or a round of several
        for offset in offsets(control.after_warm_up(state, None, before, done)):
            np.testing.assert_allclose(offset, prior_logit(EXACT.init_active_prob), rtol=1e-6)
    assert SparsityControl(PAPER, NETWORK, None).after_warm_up(state, None, 0, 12) is state
    assert SparsityControl(Settings(), NETWORK, None).after_warm_up(state, None, 0, 12) is state


def test_the_paper_questions_before_the_first_epoch() -> None:
    """identity: log-odds are the prior's in spite of what the random start shows; once is enough."""
    state, control = start(), SparsityControl(PAPER, NETWORK, None)
    questioned = control.initial(state, None)
    for offset, nats in zip(offsets(questioned), evidence(state, None), strict=True):
        np.testing.assert_allclose(offset + nats, prior_logit(PAPER.init_active_prob), rtol=1e-5)
    assert control.initial(questioned, None) is questioned
    assert SparsityControl(EXACT, NETWORK, None).initial(state, None) is state


def test_the_paper_removes_and_restarts() -> None:
    """contract: with six of ten units sure and a target of five, the four others go and the six restart."""
    control = SparsityControl(PAPER, NETWORK, None)
    state: Any = jax.device_get(control.initial(start(), None))
    sure = [np.array([1, 0, 1, 0]) > 0, np.array([1, 1, 0, 1, 0, 1]) > 0]
    probs = [np.where(mask, 1.0, 0.1) for mask in sure]
    layers = zip(state.layers, probs, strict=True)
    state = state._replace(layers=tuple(layer._replace(active_prob=prob) for layer, prob in layers))
    assert not control.is_settled(state, None, 10) and control.is_above_goal(state, None)
    masks, restart = control.remaining(state, None, 3, rank)
    assert restart and masks is not None
    for mask, expected in zip(masks, sure, strict=True):
        np.testing.assert_array_equal(mask, expected)
    after = remove(state, masks)
    again = control.restarted(after, None)
    for l, mask in enumerate(sure):
        shown = evidence(after, None)[l]
        np.testing.assert_allclose(offsets(again)[l][mask] + shown[mask], prior_logit(0.5), atol=1e-5)
        assert (offsets(again)[l][~mask] == -np.inf).all()
        np.testing.assert_array_equal(again.layers[l].bias_offset, after.layers[l].bias_offset)


def test_a_network_that_keeps_all_is_settled() -> None:
    """identity: without a goal nothing is removed, and every epoch may be the best."""
    control, state = SparsityControl(Settings(), NETWORK, None), start()
    assert control.is_settled(state, None, 0) and control.remaining(state, None, 10, rank) == (None, False)
    assert not control.is_above_goal(state, None)
