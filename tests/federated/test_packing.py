"""Precisions as outer products on the wire.

covers: federated.messages
"""

from __future__ import annotations

import numpy as np
import pytest

from tdamp import Network, Settings
from tdamp.engine.state import init
from tdamp.federated.aggregation.base import on_host
from tdamp.federated.client import Client
from tdamp.federated.messages import broadcast_from, n_bytes, named, upload_from
from tdamp.federated.packing import factored, full, unpack_broadcast
from tdamp.federated.rounds import run_rounds
from tdamp.federated.server import Server
from tdamp.federated.terms import Terms
from tdamp.training.data import check_data

BASE_VAR = 0.3


def random_precision(seed: int = 0) -> np.ndarray:
    """Of a layer's data, (units, outputs)."""
    return np.random.default_rng(seed).gamma(0.5, 100.0, (7, 5))


def slab_of(data_prec: np.ndarray) -> object:
    """Slabs with random means."""
    mean = np.random.default_rng(1).normal(size=data_prec.shape)
    return on_host(mean, 1 / (1 / BASE_VAR + data_prec))


def test_an_outer_product_comes_back() -> None:
    """identity: nothing is lost where the precision is a product, but float32's rounding."""
    row, column = random_precision()[:, 0], random_precision(2)[0]
    slab = slab_of(np.outer(row, column))
    back = full(factored(slab, BASE_VAR), BASE_VAR)
    np.testing.assert_allclose(back.var, slab.var, rtol=1e-6)
    np.testing.assert_array_equal(back.mean, slab.mean.astype(np.float32))


def test_sums_of_rows_and_columns_come_back() -> None:
    """identity: of any precision the marginal sums are kept."""
    data = random_precision()
    back = 1 / full(factored(slab_of(data), BASE_VAR), BASE_VAR).var.astype(np.float64) - 1 / BASE_VAR
    np.testing.assert_allclose(back.sum(0), data.sum(0), rtol=1e-5)
    np.testing.assert_allclose(back.sum(1), data.sum(1), rtol=1e-5)


def test_no_data_no_precision() -> None:
    """identity: the base prior itself, and precisions below it, become the base prior."""
    back = full(factored(slab_of(np.zeros((3, 2))), BASE_VAR), BASE_VAR)
    np.testing.assert_allclose(back.var, BASE_VAR, rtol=1e-6)
    back = full(factored(slab_of(np.full((3, 2), -1.0)), BASE_VAR), BASE_VAR)
    np.testing.assert_allclose(back.var, BASE_VAR, rtol=1e-6)


def test_anchors_keep_their_slope() -> None:
    """identity: what pulls at the server's mean is what the cavity would pull with, whatever precision is sent."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 6)).astype(np.float32)
    x = x[np.argsort(x[:, 0])]  # clients that differ
    y = x[:, :1] + np.abs(x[:, 1:2])
    network, settings = Network((6, 8, 1)), Settings(batch_size=10, data_weight=10.0)
    terms = Terms(network, settings, rounds=2, local_epochs=10, aggregation="sites", precision="factored")
    parts = [slice(30 * k, 30 * k + 30) for k in range(3)]
    clients = [Client(k, terms, check_data(network, x[part], y[part], None)) for k, part in enumerate(parts)]
    server = Server(terms, init(network, settings, np.random.default_rng(0), x, y), {k: 30.0 for k in range(3)})
    for _ in run_rounds(server, clients):
        pass
    sent = unpack_broadcast(server.broadcast(1))
    cavities = server.rule.anchors(server.state.layers, server.memory, 1, 3.0)
    assert sent.anchors is not None
    assert np.abs(sent.anchors[0].weight.var / cavities[0].weight.var - 1).max() > 0.05
    for layer, anchor, cavity in zip(server.state.layers, sent.anchors, cavities, strict=True):
        slopes = [(a.mean - layer.weight.mean) / a.var for a in (anchor.weight, cavity.weight)]
        np.testing.assert_allclose(*slopes, rtol=1e-3, atol=1e-3 * np.abs(slopes[1]).max())


@pytest.fixture(scope="module")
def federations() -> dict[str, tuple[Server, list[dict]]]:
    """Two that differ in nothing but what is sent."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 24)).astype(np.float32)
    y = x[:, :1] + np.abs(x[:, 1:2]) + 0.1 * rng.normal(size=(240, 1)).astype(np.float32)
    network, settings = Network((24, 32, 1)), Settings(batch_size=20, data_weight=3.0)
    start = init(network, settings, np.random.default_rng(0), x, y)
    results = {}
    for precision in ("full", "factored"):
        terms = Terms(network, settings, rounds=3, local_epochs=3, precision=precision)  # type: ignore[arg-type]
        clients = [Client(k, terms, check_data(network, x[k::3], y[k::3], None)) for k in range(3)]
        server = Server(terms, start, {k: 80.0 for k in range(3)})
        results[precision] = server, list(run_rounds(server, clients))
    return results


def test_half_the_bytes_for_nearly_the_same(federations: dict) -> None:
    """twin: sent in full, a little better or worse, and not much more than half of it is sent."""
    (_, whole), (_, half) = federations["full"], federations["factored"]
    assert all(b["bytes_up"] < 0.6 * a["bytes_up"] for a, b in zip(whole, half, strict=True))
    assert whole[-1]["log_evidence"] > whole[0]["log_evidence"] + 0.5
    assert abs(half[-1]["log_evidence"] - whole[-1]["log_evidence"]) < 0.05


@pytest.mark.parametrize("precision", ["full", "factored"])
def test_messages_as_named_arrays(federations: dict, precision: str) -> None:
    """identity: what is taken apart for the wire is put together again, with as many bytes."""
    server, _ = federations[precision]
    sent = server.broadcast(0)
    again = broadcast_from(named(sent), 2, server.terms.settings.prior)
    assert n_bytes(again) == n_bytes(sent) and type(again.state.layers[0].weight) is type(sent.state.layers[0].weight)
    for a, b in zip(named(again).items(), named(sent).items(), strict=True):
        assert a[0] == b[0]
        np.testing.assert_array_equal(a[1], b[1])
    client = Client(0, server.terms, check_data(server.network, np.ones((8, 24), np.float32), np.ones((8, 1)), None))
    upload = client.train(sent)
    assert named(upload_from(named(upload), n_layers=2)).keys() == named(upload).keys()
