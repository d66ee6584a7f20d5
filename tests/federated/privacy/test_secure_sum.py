"""secure: a round from masked fixed-point sums is the round from the uploads."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.little_federation import TASKS, federation, problem, terms, uploads_of
from tdamp.federated.privacy.secure_sum import LIMIT, QUANTUM, absorb, added, decoded, encoded, names, sums_of
from tdamp.federated.server import Diverged, Server
from tdamp.federated.terms import Terms

PARTS = [np.arange(0, 64), np.arange(64, 104), np.arange(104, 152)]


def little(task: str, **changes: Any) -> tuple[Terms, Server, list[Any]]:
    """Three clients of different sizes."""
    agreed = terms(task, **changes)
    return agreed, *federation(agreed, *problem(task, 152), PARTS)


def close(actual: Server, expected: Server) -> None:
    """Every array of the state, to 1e-6 of its largest number."""
    for one, other in zip(jax.tree.leaves(actual.state), jax.tree.leaves(expected.state), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6 * np.abs(other[np.isfinite(other)]).max(initial=0))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("changes", [{"step": 1.3, "momentum": 0.4}, {"noise": "server"}], ids=["momentum", "noise"])
def test_the_total_is_enough(task: str, changes: dict[str, Any]) -> None:
    """twin: `Server.aggregate` of the same uploads, for three rounds, with different sizes and one client away."""
    agreed, summed, clients = little(task, **changes)
    _, plain, _ = little(task, **changes)
    for round in range(3):
        present = clients if round != 1 else clients[1:]
        uploads = uploads_of(summed, present)
        parts = [sums_of(agreed, summed.broadcast(k), upload) for k, upload in uploads.items()]
        assert list(parts[0]) == names(agreed)
        absorb(summed, decoded(added([encoded(part, len(parts)) for part in parts])))
        plain.aggregate(uploads)
        close(summed, plain)
    assert summed.rounds_done == 3


def test_units_go_by_the_sum_of_losses() -> None:
    """twin: units that go are those that `Server.aggregate` removes by the clients' losses."""
    changes: Any = {"keep": 0.5, "ranking": "loss", "prune_start": 0.3, "prune_end": 0.6}
    agreed, summed, clients = little("regression", **changes)
    _, plain, _ = little("regression", **changes)
    for _ in range(3):
        uploads = uploads_of(summed, clients)
        parts = [sums_of(agreed, summed.broadcast(k), upload) for k, upload in uploads.items()]
        assert list(parts[0]) == names(agreed) and "0.losses" in parts[0]
        absorb(summed, decoded(added([encoded(part, len(parts)) for part in parts])))
        plain.aggregate(uploads)
    assert sum(map(len, summed.kept)) < sum(agreed.network.widths)
    for ours, theirs in zip(summed.kept, plain.kept, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(seed=st.integers(0, 2**32 - 1), clients=st.integers(2, 9))
def test_masks_cancel(seed: int, clients: int) -> None:
    """identity: with pairwise masks, drawn from all numbers modulo 2^64, the total has the same bits."""
    rng = np.random.default_rng(seed)
    parts = [encoded({"a": rng.normal(scale=1e3, size=5)}, clients) for _ in range(clients)]
    masked = [dict(part) for part in parts]
    for k in range(clients):
        for j in range(k):
            mask = rng.integers(0, 2**64, 5, np.uint64)
            masked[k]["a"], masked[j]["a"] = masked[k]["a"] + mask, masked[j]["a"] - mask
    np.testing.assert_array_equal(added(masked)["a"], added(parts)["a"])


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_a_total_is_exact_but_for_the_rounding(values: list[float]) -> None:
    """identity: each number is rounded by half a quantum at most, and summing adds nothing to that."""
    total = decoded(added([encoded({"a": np.array([value])}, len(values)) for value in values]))["a"]
    floating = np.spacing(np.abs(values).sum()) * len(values)  # of the sum that it is compared with
    assert abs(total[0] - np.sum(values)) <= len(values) * QUANTUM / 2 + floating


@pytest.mark.parametrize("clients", [1, 3, 1000])
def test_no_total_overflows(clients: int) -> None:
    """contract: the largest numbers that are taken add up to what is read again; anything beyond is refused."""
    most = LIMIT / clients * QUANTUM
    total = decoded(added([encoded({"a": np.array([most, -most])}, clients)] * clients))["a"]
    np.testing.assert_allclose(total, [clients * most, -clients * most], rtol=1e-12)
    for wrong in (1.001 * most, np.nan, -np.inf):
        with pytest.raises(ValueError, match=r"a: .* overflow"):
            encoded({"a": np.array([wrong])}, clients)


def test_a_total_that_is_none_is_refused() -> None:
    """contract: a precision that is not positive, and no rows; the round before stays."""
    agreed, server, clients = little("regression")
    sums = sums_of(agreed, server.broadcast(0), uploads_of(server, clients[:1])[0])
    before = jax.tree.leaves(server.state)
    for wrong in ({"0.weight.prec": 0 * sums["0.weight.prec"]}, {"share": np.zeros(())}):
        with pytest.raises(Diverged):
            absorb(server, sums | wrong)
    assert server.rounds_done == 0 and all(a is b for a, b in zip(before, jax.tree.leaves(server.state), strict=True))


@pytest.mark.parametrize(
    "changes", [{"aggregation": "waa"}, {"aggregation": "sites"}, {"precision": "factored"}, {"robust": True}]
)
def test_other_averages_need_single_posteriors(changes: dict[str, Any]) -> None:
    """contract: terms with an average that is no sum are refused by name."""
    agreed, server, clients = little("regression", **changes)
    with pytest.raises(ValueError, match=str(next(iter(changes.values())))):
        sums_of(agreed, server.broadcast(0), uploads_of(server, clients[:1])[0])
