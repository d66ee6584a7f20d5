"""validate: no upload of a real federation is refused, and hostile ones are, with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from helpers.little_federation import TASKS, federation, problem, terms, uploads_of
from tdamp.federated.messages import Upload, named
from tdamp.federated.server import Server
from tdamp.federated.splits import split
from tdamp.federated.validate import FURTHEST, problem_of_upload

Change = Callable[[Upload], Any]


def honest(task: str, **changes: Any) -> list[tuple[Server, dict[int, Upload]]]:
    """Every round's server and uploads: skewed labels, one client of three rows; nothing refused."""
    x, y = problem(task, 150)
    first = np.arange(3)
    parts = [first, *(3 + part[:64] for part in split("dirichlet:0.1", x[3:], y[3:], 3, seed=1))]
    server, clients = federation(terms(task, rounds=4, local_epochs=3, **changes), x, y, parts)
    rounds = []
    for _ in range(4):
        uploads = uploads_of(server, clients)
        assert [problem_of_upload(server, upload) for upload in uploads.values()] == [None] * 4
        rounds.append((server, uploads))
        server.aggregate(uploads)
    return rounds


@pytest.fixture(scope="module", params=TASKS)
def received(request: pytest.FixtureRequest) -> tuple[Server, Upload]:
    """A server, and a good upload of the smallest client."""
    task = request.param
    x, y = problem(task, 60)
    server, clients = federation(terms(task, seed=1), x, y, [np.arange(3), np.arange(3, 60)])
    return server, clients[0].train(server.broadcast(0))


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("regression", {"data_weight": 20.0}),
        ("classification", {"data_weight": 20.0}),
        ("regression", {"prior": "group", "warm_up": 2, "keep": 0.6, "learn_base_var": True}),
        ("regression", {"aggregation": "sites"}),
        ("classification", {"precision": "factored"}),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_honest_uploads_are_never_refused(task: str, changes: dict[str, Any]) -> None:
    """contract: all uploads of four rounds with label skew and a client of three rows."""
    server, uploads = honest(task, **changes)[-1]
    assert server.rounds_done == 4 and len(uploads) == 4


def test_extreme_but_honest_rows(received: tuple[Server, Upload]) -> None:
    """contract: a noiseless linear target, outliers of thirty standard deviations, noise at its floor."""
    task = received[0].terms.network.task
    x, y = problem(task, 60)
    x[:3] *= 30
    y = np.repeat(x @ np.ones((4, 1), np.float32), 2, 1) if task == "regression" else y
    server, clients = federation(terms(task, rounds=4, data_weight=20.0), x, y, [np.arange(3), np.arange(3, 60)])
    server.state = server.state._replace(
        noise_var=np.full_like(server.state.noise_var, 1.1e-6 * server.state.noise_scale)
    )
    for _ in range(4):
        uploads = uploads_of(server, clients)
        assert [problem_of_upload(server, upload) for upload in uploads.values()] == [None, None]
        server.aggregate(uploads)


def weight(change: Callable[[np.ndarray, np.ndarray], tuple[Any, Any]], part: str = "weight") -> Change:
    """The second layer's means and variances changed in one place."""

    def apply(upload: Upload) -> Upload:
        belief = upload.posterior[1]
        mean, var = (np.array(array) for array in getattr(belief, part))
        place = (0,) * mean.ndim
        mean[place], var[place] = change(mean[place], var[place])
        new = belief._replace(**{part: getattr(belief, part)._replace(mean=mean, var=var)})
        return upload._replace(posterior=(upload.posterior[0], new))

    return apply


def field(**changes: Callable[[Any], Any]) -> Change:
    """Fields of the upload changed, types kept."""
    return lambda upload: upload._replace(
        **{
            name: np.asarray(change(getattr(upload, name)), getattr(upload, name).dtype)
            for name, change in changes.items()
        }
    )


def stats(change: Callable[[Any], Any]) -> Change:
    """The sums that the noise is estimated from, changed."""
    return lambda upload: upload._replace(
        noise_stats=upload.noise_stats._replace(sums=np.asarray(change(upload.noise_stats.sums), np.float32))
    )


def layer(l: int, **changes: Callable[[Any], Any]) -> Change:
    """Whole arrays of a layer changed."""

    def apply(upload: Upload) -> Upload:
        layers = list(upload.posterior)
        layers[l] = layers[l]._replace(**{name: change(getattr(layers[l], name)) for name, change in changes.items()})
        return upload._replace(posterior=tuple(layers))

    return apply


HOSTILE: dict[str, tuple[Change, str]] = {
    "a layer missing": (lambda u: u._replace(posterior=u.posterior[:1]), "posterior.1.weight.mean is missing"),
    "a layer too many": (lambda u: u._replace(posterior=u.posterior * 2), "posterior.2.weight.mean is not part"),
    "an array missing": (lambda u: u._replace(noise_var=None), "noise_var is missing"),
    "a unit missing": (layer(1, centre=lambda c: c[:-1]), "posterior.1.centre is float32 of shape"),
    "transposed": (layer(0, weight=lambda w: w._replace(mean=w.mean.T)), "expected float32 of shape (4, 6)"),
    "double precision": (
        layer(0, weight=lambda w: w._replace(var=w.var.astype(np.float64))),
        "float64 of shape (4, 6)",
    ),
    "text": (layer(1, centre=lambda c: c.astype(str)), "posterior.1.centre is <U"),
    "complex": (layer(1, centre=lambda c: c.astype(complex)), "posterior.1.centre is complex128"),
    "NaN mean": (weight(lambda m, v: (np.nan, v)), "posterior.1.weight.mean has 1 NaN"),
    "infinite mean": (weight(lambda m, v: (-np.inf, v), "bias"), "posterior.1.bias.mean has 1 NaN or infinite"),
    "NaN centre": (layer(1, centre=lambda c: c * np.float32(np.nan)), "posterior.1.centre has 6 NaN"),
    "infinite variance": (weight(lambda m, v: (m, np.inf)), "posterior.1.weight.var has 1"),
    "zero variance": (weight(lambda m, v: (m, 0)), "posterior.1.weight.var has 1 values that are not positive"),
    "negative variance": (weight(lambda m, v: (m, -v), "bias"), "posterior.1.bias.var has 1 values that are not"),
    "huge variance": (weight(lambda m, v: (m, 10)), "posterior.1.weight.var runs from"),
    "huge bias variance": (weight(lambda m, v: (m, 1e9), "bias"), "posterior.1.bias.var runs from"),
    "certain": (weight(lambda m, v: (m, 1e-20)), "as the rows and the base prior allow"),
    "evidence overflows": (weight(lambda m, v: (1e15, 1e-15)), "evidence of a group is not finite"),
    "huge mean": (weight(lambda m, v: (2 * FURTHEST, v)), "posterior.1.weight.mean reaches"),
    "huge bias": (weight(lambda m, v: (-1e9, v), "bias"), "posterior.1.bias.mean reaches"),
    "other inputs' centre": (layer(0, centre=lambda c: c + np.float32(1)), "posterior.0.centre differs"),
    "huge centre": (layer(1, centre=lambda c: c + np.float32(1e6)), "posterior.1.centre reaches"),
    "no rows": (field(n_rows=lambda n: 0), "n_rows is 0"),
    "negative rows": (field(n_rows=lambda n: -n), "n_rows is -3"),
    "infinite rows": (field(n_rows=lambda n: np.inf), "n_rows has 1 NaN or infinite"),
    "more rows than counted": (field(n_rows=lambda n: 1e6), "noise_stats.weight is 3: expected n_rows"),
    "NaN score": (field(log_evidence=lambda e: np.nan), "log_evidence has 1 NaN"),
    "no noise": (field(noise_var=lambda v: 0 * v), "noise_var is"),
    "negative noise": (field(noise_var=lambda v: -v), "noise_var is"),
    "noise below its range": (field(noise_var=lambda v: 1e-9 * v), "noise_var is"),
    "noise above its range": (field(noise_var=lambda v: 1e9 * v), "noise_var is"),
    "impossible sums": (stats(lambda s: -np.abs(s)), "noise_stats.sums are"),
    "infinite sums": (stats(lambda s: s + np.inf), "noise_stats.sums has"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_uploads_are_refused(received: tuple[Server, Upload], name: str) -> None:
    """contract: each bad upload gives one sentence that names what is wrong; the good one gives none."""
    server, upload = received
    change, message = HOSTILE[name]
    assert problem_of_upload(server, upload) is None
    reason = problem_of_upload(server, change(upload))
    assert reason is not None and message in reason and reason.endswith(".") and "\n" not in reason


def test_margins_have_a_variance() -> None:
    """identity: mean margins m and squares s with s < m^2 are no sums over rows; with s = m^2 they are."""
    x, y = problem("classification", 60)
    server, clients = federation(terms("classification", seed=1), x, y, [np.arange(3), np.arange(3, 60)])
    upload = clients[0].train(server.broadcast(0))
    assert problem_of_upload(server, stats(lambda s: np.array([6.0, 11.9]))(upload)) is not None
    assert problem_of_upload(server, stats(lambda s: np.array([6.0, 12.0]))(upload)) is None


def test_factored_uploads_are_looked_at() -> None:
    """contract: where variances are sent as factors, negative ones and plain variances are refused."""
    x, y = problem("regression", 60)
    server, clients = federation(terms("regression", seed=1, precision="factored"), x, y, [np.arange(60)])
    upload = clients[0].train(server.broadcast(0))
    assert problem_of_upload(server, upload) is None
    negative = layer(0, weight=lambda w: w._replace(row=-w.row))(upload)
    assert "negative values" in (problem_of_upload(server, negative) or "")
    certain = layer(0, weight=lambda w: w._replace(row=w.row * np.float32(1e20)))(upload)
    assert "as the rows and the base prior allow" in (problem_of_upload(server, certain) or "")
    assert "is missing" in (problem_of_upload(server, server.unpacked(upload)) or "")


def test_every_array_is_looked_at(received: tuple[Server, Upload]) -> None:
    """contract: a NaN anywhere is seen, and named."""
    server, upload = received
    leaves, tree = jax.tree.flatten(upload)
    for i, name in enumerate(named(upload)):
        spoiled = [np.full_like(leaf, np.nan) if j == i else leaf for j, leaf in enumerate(leaves)]
        assert (problem_of_upload(server, jax.tree.unflatten(tree, spoiled)) or "").startswith(f"{name} has")
