"""Sparsity control: which units go, and when.

`exact`: on a cubic schedule the groups that rank last (Settings.ranking, ties broken by position) are removed
until exactly the goal remains; a layer always keeps one. `paper`: when more groups than the
target are surely active, the sure ones start afresh and the others are gone. Paper: Section III-C; erratum E9.
Oracle: the counts themselves, and a brute-force choice on small cases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .network import Network
from .settings import Settings

Masks = list[np.ndarray]


class Group(NamedTuple):
    """Units that stay or go together."""

    layer: int
    units: np.ndarray
    loss: float


def groups_of(active: Masks, losses: list[np.ndarray], group_of: np.ndarray | None) -> list[Group]:
    """The groups still there, the least loss first; of equal losses the later position goes first."""
    groups = []
    for l, (mask, values) in enumerate(zip(active, losses, strict=True)):
        units = np.flatnonzero(mask)
        if l == 0 and group_of is not None:
            members = [units[group_of[units] == g] for g in np.unique(group_of[units])]
        else:
            members = [units[i : i + 1] for i in range(len(units))]
        groups += [Group(l, m, float(values[m[0]])) for m in members]
    return sorted(groups, key=lambda g: (g.loss, -g.layer, -int(g.units[0])))


def progress(settings: Settings, epochs_done: float) -> float:
    """How far the cubic schedule has come after this many epochs: 0 before it starts, 1 once it is over."""
    start, end = settings.prune_start * settings.max_epochs, settings.prune_end * settings.max_epochs
    if epochs_done >= min(max(end, 1), settings.max_epochs):
        return 1.0
    if epochs_done < start or end == start:
        return 0.0
    return 1 - (1 - (epochs_done - start) / (end - start)) ** 3


def n_groups(network: Network, group_of: np.ndarray | None, inputs: bool = True) -> list[int]:
    """Number of groups of each layer, Q_W in all; without `inputs` those of the first layer do not count."""
    counts = list(network.widths[:-1])
    if group_of is not None:
        counts[0] = len(np.unique(group_of))
    return counts if inputs else [0, *counts[1:]]


def n_left(active: Masks, group_of: np.ndarray | None) -> int:
    """Number of groups of which units are there; `group_of` are the group ids of the inputs in `active`."""
    masks = active if group_of is None else active[1:]
    shared = 0 if group_of is None else len(np.unique(group_of[active[0]]))
    return shared + sum(int(mask.sum()) for mask in masks)


def goal_units(settings: Settings, network: Network, group_of: np.ndarray | None) -> int | None:
    """round(keep Q_W), or None when the goal is not a total of units. Inputs count if they may go."""
    total = sum(n_groups(network, group_of, settings.prune_inputs))
    if isinstance(settings.keep, float):
        return round(settings.keep * total)
    return settings.keep if isinstance(settings.keep, int) else None


def check_goal(settings: Settings, network: Network, group_of: np.ndarray | None) -> None:
    """Raise ValueError for a goal no network can meet."""
    spared = not settings.prune_inputs
    depth, counts = network.n_layers, n_groups(network, group_of, settings.prune_inputs)
    if spared and depth == 1:
        raise ValueError("prune_inputs=False leaves nothing to prune: the network has no hidden layer")
    units, layers = goal_units(settings, network, group_of), depth - spared
    if units is not None and not layers <= units <= sum(counts):
        raise ValueError(
            f"keep={settings.keep!r} leaves {units} of {sum(counts)} units: each of the {layers} layers needs one; "
            f"expected {layers} to {sum(counts)} units, or the fraction that gives as many"
        )
    keep = settings.keep
    if isinstance(keep, tuple) and (len(keep) != depth or not all(0 < k <= 1 for k in keep)):
        raise ValueError(f"keep={keep!r}: expected {depth} fractions in (0, 1], one for each layer's units")
    if isinstance(keep, tuple) and spared and keep[0] != 1:
        raise ValueError(f"keep={keep!r} asks for fewer inputs, which prune_inputs=False spares: begin it with 1.0")
    inputs = network.widths[0] if spared else 1
    smallest = network.of_units([inputs, *(1 for _ in range(depth - 1))])
    for name, least in (("max_params", smallest.n_params), ("max_multiply_adds", smallest.n_multiply_adds)):
        budget = getattr(settings, name)
        if budget is not None and budget < least:
            reason = (
                "all inputs and one unit in each hidden layer need" if spared else "even one unit in each layer needs"
            )
            raise ValueError(f"{name}={budget}: {reason} {least}")


def between(full: int, final: int, share: float) -> int:
    """How much is left when `share` of the way from all to the goal has been gone."""
    return round(full + (final - full) * share)


def exact(
    settings: Settings,
    network: Network,
    active: Masks,
    losses: list[np.ndarray],
    group_of: np.ndarray | None,
    share: float,
    asked_groups: np.ndarray | None = None,
) -> Masks:
    """The units that remain when `share` of the way to the goal has been gone.

    `group_of` are the group ids of the inputs in `active`, `asked_groups` those of all inputs of the `network` that
    was asked for (where they differ: after a compaction).
    """
    asked_groups = group_of if asked_groups is None else asked_groups
    queue = [group for group in groups_of(active, losses, group_of) if group.layer or settings.prune_inputs]
    left = [sum(g.layer == l for g in queue) for l in range(len(active))]
    counts = n_groups(network, asked_groups, settings.prune_inputs)
    active = [mask.copy() for mask in active]

    def is_met(layer: int) -> bool:
        """Whether a group of this layer may stay."""
        if isinstance(settings.keep, tuple):
            return left[layer] <= between(counts[layer], max(1, round(settings.keep[layer] * counts[layer])), share)
        units = goal_units(settings, network, asked_groups)
        if units is not None:
            return sum(left) <= between(sum(counts), units, share)
        rest = network.of_units([int(mask.sum()) for mask in active])
        if settings.max_params is not None:
            return rest.n_params <= max(settings.max_params, between(network.n_params, settings.max_params, share))
        return rest.n_multiply_adds <= between(network.n_multiply_adds, settings.max_multiply_adds or 0, share)

    for group in queue:
        if left[group.layer] > 1 and not is_met(group.layer):
            active[group.layer][group.units] = False
            left[group.layer] -= 1
    return active


def paper(
    settings: Settings,
    network: Network,
    active: Masks,
    active_prob: list[np.ndarray],
    group_of: np.ndarray | None = None,
    asked_groups: np.ndarray | None = None,
) -> tuple[Masks, bool]:
    """The paper's rule: the units that remain, and whether it acted (then they restart at init_active_prob).

    It leaves no layer empty: then it waits. Group ids as in `exact`.
    """
    counts = n_groups(network, group_of if asked_groups is None else asked_groups)
    target = settings.keep * sum(counts) if isinstance(settings.keep, float) else None  # as printed: not rounded
    sure = [mask & (p > settings.active_threshold) for mask, p in zip(active, active_prob, strict=True)]
    kept = [mask & (p >= settings.active_threshold) for mask, p in zip(active, active_prob, strict=True)]
    acts = target is not None and n_left(sure, group_of) > target and all(mask.any() for mask in kept)
    return (kept, True) if acts else (active, False)
