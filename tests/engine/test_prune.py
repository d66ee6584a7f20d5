"""Which units go: counts, budgets, ties, and the paper's rule."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tdamp.engine import prune
from tdamp.engine.network import Network, n_multiply_adds, n_params
from tdamp.engine.settings import Settings

WIDTHS = st.lists(st.integers(1, 12), min_size=2, max_size=4).map(tuple)
SEEDS = st.integers(0, 2**32 - 1)


def problem(widths: tuple[int, ...], seed: int, ties: bool = False) -> tuple[Network, prune.Masks, list[np.ndarray]]:
    """A network, all of whose units are on, with random losses, on a coarse grid if ties are wanted."""
    rng = np.random.default_rng(seed)
    losses = [rng.normal(size=n) for n in widths[:-1]]
    losses = [np.round(e) for e in losses] if ties else losses
    return Network(widths), [np.ones(n, bool) for n in widths[:-1]], losses


def counts(masks: prune.Masks) -> list[int]:
    """Units that remain in each layer."""
    return [int(mask.sum()) for mask in masks]


@given(WIDTHS, SEEDS, st.floats(0.05, 1.0), st.booleans())
def test_global_count_is_exact(widths: tuple[int, ...], seed: int, keep: float, ties: bool) -> None:
    """contract: exactly round(keep Q_W) units remain, equal losses or not, and no layer is empty."""
    network, active, losses = problem(widths, seed, ties)
    target = round(keep * network.n_units)
    assume(target >= network.n_layers)
    for settings in (Settings(keep=keep), Settings(keep=target)):
        left = counts(prune.exact(settings, network, active, losses, None, 1.0))
        assert sum(left) == target and min(left) >= 1


@given(WIDTHS, SEEDS, st.lists(st.floats(0.05, 1.0), min_size=3, max_size=3), st.booleans())
def test_per_layer_count_is_exact(widths: tuple[int, ...], seed: int, keep: list[float], ties: bool) -> None:
    """contract: each layer keeps round(keep_l n_l), at least one, and these are its best."""
    network, active, losses = problem(widths, seed, ties)
    keep = keep[: network.n_layers]
    settings = Settings(keep=tuple(keep))
    masks = prune.exact(settings, network, active, losses, None, 1.0)
    assert counts(masks) == [max(1, round(k * n)) for k, n in zip(keep, widths, strict=False)]
    for mask, values in zip(masks, losses, strict=True):
        assert mask.all() or values[mask].min() >= values[~mask].max()


@given(st.lists(st.integers(1, 5), min_size=2, max_size=3).map(tuple), SEEDS, st.integers(1, 10))
def test_the_choice_is_the_best_there_is(widths: tuple[int, ...], seed: int, keep: int) -> None:
    """enumeration: of all choices of that many units without an empty layer, ours has the most to lose."""
    network, active, losses = problem(widths, seed)
    assume(network.n_layers <= keep <= network.n_units)
    masks = prune.exact(Settings(keep=keep), network, active, losses, None, 1.0)
    units = [(l, n) for l, values in enumerate(losses) for n in range(len(values))]
    allowed = [c for c in combinations(units, keep) if len({l for l, _ in c}) == network.n_layers]
    best = max(allowed, key=lambda c: sum(losses[l][n] for l, n in c))
    assert {(l, int(n)) for l, mask in enumerate(masks) for n in np.flatnonzero(mask)} == set(best)


@given(WIDTHS, SEEDS, st.floats(0.0, 1.0), st.sampled_from(["max_params", "max_multiply_adds"]), st.booleans())
def test_budgets_are_met_and_not_wasted(
    widths: tuple[int, ...], seed: int, share: float, name: str, ties: bool
) -> None:
    """contract: the cost is within the budget, and with the best removed unit put back it would not be."""
    network, active, losses = problem(widths, seed, ties)
    cost = {"max_params": n_params, "max_multiply_adds": n_multiply_adds}[name]
    smallest = cost((*(1 for _ in widths[:-1]), widths[-1]))
    budget = round(smallest + share * (cost(widths) - smallest))
    masks = prune.exact(Settings(**{name: budget}), network, active, losses, None, 1.0)
    left = counts(masks)
    assert cost((*left, widths[-1])) <= budget and min(left) >= 1
    removed = [(values[n], -l, -n) for l, values in enumerate(losses) for n in np.flatnonzero(~masks[l])]
    if removed:
        left[-max(removed)[1]] += 1
        assert cost((*left, widths[-1])) > budget


@given(SEEDS, st.floats(0.1, 1.0), st.integers(1, 5))
def test_groups_stay_or_go_together(seed: int, keep: float, hidden: int) -> None:
    """contract: groups count as one each, all their inputs share one fate."""
    rng = np.random.default_rng(seed)
    group_of = np.unique(rng.integers(0, 6, 12), return_inverse=True)[1]
    network, active, losses = problem((12, hidden, 2), seed)
    losses[0] = losses[0][group_of]  # one number for each group, as the engine gives it
    total = group_of.max() + 1 + hidden
    target = round(keep * total)
    assume(target >= 2)
    inputs, units = prune.exact(Settings(keep=keep), network, active, losses, group_of, 1.0)
    assert len(np.unique(group_of[inputs])) + units.sum() == target
    assert not set(group_of[inputs]) & set(group_of[~inputs])


@given(WIDTHS, SEEDS, st.floats(0.2, 1.0))
def test_pruning_in_steps_only_removes(widths: tuple[int, ...], seed: int, keep: float) -> None:
    """contract: along the schedule units only go, whatever the new losses, and the end count is exact."""
    network, active, _ = problem(widths, seed)
    target = round(keep * network.n_units)
    assume(target >= network.n_layers)
    settings = Settings(keep=keep, max_epochs=10)
    for epoch in range(1, 11):
        _, _, losses = problem(widths, seed + epoch)
        share = prune.progress(settings, epoch)
        later = prune.exact(settings, network, active, losses, None, share)
        assert all(np.all(new <= old) for new, old in zip(later, active, strict=True))
        active = later
    assert sum(counts(active)) == target


@given(st.integers(1, 60), st.floats(0, 1), st.floats(0, 1))
def test_progress_runs_from_zero_to_one(max_epochs: int, a: float, b: float) -> None:
    """contract: monotone, 0 before the start, 1 at the end of training at the latest."""
    settings = Settings(max_epochs=max_epochs, prune_start=min(a, b), prune_end=max(a, b))
    shares = [prune.progress(settings, epoch) for epoch in range(max_epochs + 1)]
    assert np.all(np.diff(shares) >= 0) and shares[-1] == 1 and 0 <= shares[0] <= 1
    if settings.prune_start > 0:
        assert shares[0] == 0
    for epoch, share in enumerate(shares):
        if epoch < settings.prune_start * max_epochs:
            assert share == 0 or epoch >= settings.prune_end * max_epochs
        if epoch >= max(settings.prune_end * max_epochs, 1):
            assert share == 1


@pytest.mark.parametrize("done", [0, 2, 3, 4.5, 6, 9.9, 10])
def test_progress_is_cubic(done: float) -> None:
    """identity: what is still to go falls as the cube of the time that is left, here from epoch 2 to epoch 10."""
    settings = Settings(max_epochs=20, prune_start=0.1, prune_end=0.5)
    left = np.clip((10 - done) / 8, 0, 1)
    np.testing.assert_allclose(prune.progress(settings, done), 1 - left * left * left, rtol=1e-12, atol=1e-12)


@given(SEEDS, st.floats(0.05, 1.0))
def test_paper_rule(seed: int, keep: float) -> None:
    """contract: it acts only when more units than the target are above the threshold, and then those at it stay."""
    rng = np.random.default_rng(seed)
    network = Network((6, 4, 2))
    probs = [rng.choice([0.1, 0.9, 0.95, 1.0], n) for n in (6, 4)]
    active = [rng.random(n) < 0.8 for n in (6, 4)]
    settings = Settings(keep=keep, pruning="paper", prior="group", active_threshold=0.9)
    masks, acted = prune.paper(settings, network, active, probs)
    n_sure = sum(bool(on) and p > 0.9 for a, q in zip(active, probs, strict=True) for on, p in zip(a, q, strict=True))
    stay = [[bool(on) and p >= 0.9 for on, p in zip(a, q, strict=True)] for a, q in zip(active, probs, strict=True)]
    assert acted == (n_sure > keep * 10 and all(any(s) for s in stay))
    for mask, want in zip(masks, stay if acted else active, strict=True):
        np.testing.assert_array_equal(mask, want)


@given(SEEDS, st.floats(0.05, 1.0))
def test_paper_rule_counts_groups(seed: int, keep: float) -> None:
    """contract: inputs of one group count as one, in the target and among the sure; asked for were nine groups."""
    rng = np.random.default_rng(seed)
    asked, left = np.array([0, 1, 0, 2, 3, 3, 4]), np.array([0, 0, 2, 3, 3])  # groups 1 and 4 are gone from the arrays
    by_group = rng.choice([0.1, 0.95], 4)
    probs = [by_group[left], rng.choice([0.1, 0.95], 4)]
    active = [np.isin(left, rng.permutation([0, 2, 3])[:2]), rng.random(4) < 0.8]
    settings = Settings(keep=keep, pruning="paper", prior="group")
    masks, acted = prune.paper(settings, Network((7, 4, 2)), active, probs, left, asked)
    stay = [mask & (p > 0.9) for mask, p in zip(active, probs, strict=True)]
    n_sure = len({g for g, on in zip(left, stay[0], strict=True) if on}) + int(stay[1].sum())
    assert acted == (n_sure > keep * 9 and all(s.any() for s in stay))
    for mask, want in zip(masks, stay if acted else active, strict=True):
        np.testing.assert_array_equal(mask, want)
    assert prune.n_left(active, left) == 2 + active[1].sum() and prune.n_left(active, None) == sum(counts(active))


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        (Settings(keep=0.05), "each of the 2 layers needs one"),
        (Settings(keep=11), "leaves 11 of 10 units"),
        (Settings(keep=(0.5,)), "expected 2 fractions"),
        (Settings(keep=(0.5, 1.5)), "expected 2 fractions"),
        (Settings(keep=(0.5, 0.5, 0.5)), "expected 2 fractions"),
        (Settings(keep=1), "leaves 1 of 10 units"),
        (Settings(max_params=5), "max_params=5: even one unit in each layer needs 6"),
        (Settings(max_multiply_adds=2), "max_multiply_adds=2: even one unit in each layer needs 3"),
    ],
)
def test_goals_no_network_can_meet(settings: Settings, match: str) -> None:
    """contract: every impossible goal is refused with its reason."""
    with pytest.raises(ValueError, match=match):
        prune.check_goal(settings, Network((6, 4, 2)), None)


@pytest.mark.parametrize(
    "settings",
    [
        *(Settings(keep=keep) for keep in (2, 10, 0.2, 1.0, (1.0, 1.0), (0.01, 0.5))),
        *(Settings(max_params=n) for n in (6, 7, 1000)),
        *(Settings(max_multiply_adds=n) for n in (3, 4, 1000)),
        Settings(),
    ],
    ids=lambda settings: f"{settings.keep} {settings.max_params} {settings.max_multiply_adds}",
)
def test_goals_that_can_be_met(settings: Settings) -> None:
    """contract: one unit in each layer, all of them, and what lies between; with one unit each, 6 parameters."""
    prune.check_goal(settings, Network((6, 4, 2)), None)


def test_goals_of_groups() -> None:
    """contract: six inputs in two groups count as two: with four hidden units six groups can be kept at most."""
    pairs = np.array([0, 0, 0, 1, 1, 1])
    network = Network((6, 4, 2))
    assert prune.n_groups(network, pairs) == [2, 4] and prune.goal_units(Settings(keep=0.5), network, pairs) == 3
    prune.check_goal(Settings(keep=6), network, pairs)
    with pytest.raises(ValueError, match="leaves 7 of 6 units"):
        prune.check_goal(Settings(keep=7), network, pairs)


@pytest.mark.parametrize("name", ["max_params", "max_multiply_adds"])
def test_half_way_to_a_budget(name: str) -> None:
    """identity: half of what is over the budget may still be there, and with the best removed unit it would be more."""
    network, active, losses = problem((9, 8, 2), 0)
    cost = {"max_params": n_params, "max_multiply_adds": n_multiply_adds}[name]
    allowed = round((cost(network.widths) + 20) / 2)
    masks = prune.exact(Settings(**{name: 20}), network, active, losses, None, 0.5)
    left = counts(masks)
    assert cost((*left, 2)) <= allowed
    left[max((values[n], l) for l, values in enumerate(losses) for n in np.flatnonzero(~masks[l]))[1]] += 1
    assert cost((*left, 2)) > allowed
