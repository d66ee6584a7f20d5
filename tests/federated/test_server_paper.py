"""Algorithm 2 as printed: a federation under `Terms.paper` is the transcription, restarts and all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logit

from helpers.little_federation import federation, problem, terms, trained
from oracles import algorithm1, algorithm2
from tdamp import Network, TDAMPClassifier, TDAMPRegressor
from tdamp.engine.settings import PAPER
from tdamp.federated import Privacy, Terms, federated_fit
from tdamp.federated.client import Client, minibatch_rng
from tdamp.federated.preparation import negotiate
from tdamp.federated.privacy.central import check
from tdamp.federated.server import Server
from tdamp.federated.summary import summary_of
from tdamp.federated.validate import _information, problem_of_upload
from tdamp.numerics import gumbel
from tdamp.numerics.beliefs import natural
from tdamp.training.batches import shuffle
from tdamp.training.outcome import TrainingWarning

SIZES = (11, 5, 8)
NETWORKS = {"regression": Network((4, 6, 5, 1)), "classification": Network((4, 6, 3), "classification")}


def as_oracle(server: Server) -> algorithm2.Server:
    """The start as the transcription holds it: all odds are those of rho_0."""
    rho = server.terms.settings.init_active_prob
    layers = [
        SimpleNamespace(
            **dict(zip(("w_shift", "w_prec"), map(np.array, natural(layer.weight)), strict=True)),
            **dict(zip(("b_shift", "b_prec"), map(np.array, natural(layer.bias)), strict=True)),
            logit=np.full(len(layer.centre), logit(rho)),
            bias_logit=np.full(len(layer.bias.mean), logit(rho)),
            bias_base_var=float(layer.bias_base_var),
            centre=np.array(layer.centre),
        )
        for layer in server.state.layers
    ]
    state = server.state
    return algorithm2.Server(layers, np.array(state.noise_var), np.array(state.noise_scale), np.arange(4))


def rules(task: str) -> algorithm1.Rules:
    """One sweep, nothing held back or centred; the noise is the server's."""
    return algorithm1.Rules(
        task, "group", "paper", "never", 1, 0.0, 1e30, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, False,
        lambda ratio: float(gumbel.best_noise_var(jnp.float64(ratio))),
    )  # fmt: skip


def batches(client: Client, epoch: int) -> algorithm2.Batches:
    """A local epoch of a client, as its generator orders it."""
    data, size = client.data, client.terms.settings.batch_size
    order, present = shuffle(minibatch_rng(client.terms.seed, epoch, client.number), len(data.x), len(data.x), size)
    return [(data.x[i[p]], data.y[i[p]], data.weight[i[p]]) for i, p in zip(order, present, strict=True) if p.any()]


@pytest.mark.parametrize("task", NETWORKS)
def test_a_federation_is_the_transcription(task: str) -> None:
    """twin: four rounds of three unequal clients in float64 to 1e-8; the rule acts, and training goes on after it."""
    terms = Terms.paper(
        NETWORKS[task], keep=0.4, rounds=4, local_epochs=2, seed=1, batch_size=4, init_active_prob=0.4,
        active_threshold=0.36, init_noise=0.3, noise_init=0.1,
    )  # fmt: skip
    x, y = problem(task, sum(SIZES))
    x, y = x.astype(np.float64), (y[:, :1].astype(np.float64) if task == "regression" else y)
    server, clients = federation(terms, x, y, np.split(np.arange(sum(SIZES)), np.cumsum(SIZES)[:-1]))
    slow, acted = as_oracle(server), []
    rule = algorithm2.Sparsity(round(0.4 * sum(terms.network.widths[:-1])), 0.36, 0.4)
    for done in range(terms.rounds):
        uploads = {client.number: client.train(server.broadcast(client.number)) for client in clients}
        assert [problem_of_upload(server, upload) for upload in uploads.values()] == [None] * 3
        server.aggregate(uploads)
        epochs = [[batches(client, 2 * done + e) for e in range(2)] for client in clients]
        acted.append(algorithm2.round_of(rules(task), rule, slow, epochs))
        np.testing.assert_array_equal(server.kept[0], slow.kept)
        np.testing.assert_allclose(server.state.noise_var, slow.noise_var, rtol=1e-8)
        for ours, layer in zip(server.state.layers, slow.layers, strict=True):
            weight, bias = natural(ours.weight), natural(ours.bias)
            pairs = [(weight.prec, layer.w_prec), (weight.shift, layer.w_shift), (ours.active_prob, layer.active_prob)]
            for a, b in [*pairs, (bias.prec, layer.b_prec), (bias.shift, layer.b_shift)]:
                assert a.dtype == np.float64 and a.shape == b.shape
                np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * np.abs(b).max())
    assert True in acted[:-1] and server.network.widths != terms.network.widths


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"aggregation": "sites"}, 'sites.* use "wga" or "waa"'),
        ({"precision": "factored"}, 'factored.* use "full"'),
        ({"learn_base_var": True}, "learn_base_var.* leave it out"),
    ],
)
def test_what_needs_a_base_prior_is_refused(change: dict[str, Any], message: str) -> None:
    """contract: with pasp="paper" nothing of the base prior remains; the error says what to take instead."""
    with pytest.raises(ValueError, match=message):
        terms("regression", pasp="paper", **change)


def test_private_moves_are_refused() -> None:
    """contract: neither the printed noise nor printed PasP go with privacy, and the errors say so."""
    check(terms("regression"))
    with pytest.raises(ValueError, match='needs pasp="anchored"'):
        check(terms("regression", pasp="paper"))
    clients = [(np.eye(4), np.arange(4.0))] * 2
    with pytest.raises(ValueError, match='needs pasp="anchored"'):
        federated_fit(TDAMPRegressor((4,)), clients, preset="paper", privacy=Privacy(1.0, 1.0), rounds=1)


def test_the_preset_is_the_terms() -> None:
    """twin: `federated_fit(preset="paper")` plays the rounds of `Terms.paper`; a missed target is warned of."""
    x, y = problem("regression", 40)
    clients = [(x[part], y[part, 0]) for part in (slice(0, 25), slice(25, 40))]
    model = TDAMPRegressor((6,), keep=0.5, random_state=0, batch_size=8, standardize=False)
    with pytest.warns(TrainingWarning, match="paper's rule did not reach"):
        fit = federated_fit(model, clients, preset="paper", rounds=2, local_epochs=3)
    settings = fit.estimator.settings_
    assert (settings.pasp, settings.pruning, settings.prior, settings.sweeps) == ("paper", "paper", "group", 1)
    assert fit.estimator.fitted_.history[-1]["counted"] == 6 and "log_score" not in fit.history
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    printed = Terms.paper(
        Network((4, 6, 1)), keep=0.5, rounds=2, local_epochs=3, seed=seed, batch_size=8, noise_init=settings.noise_init,
        init_noise=settings.init_noise, init_scale=settings.init_scale,
    )  # fmt: skip
    order = np.concatenate([fit_order(x[:25], y[:25, :1]), 25 + fit_order(x[25:], y[25:, :1])])
    server, parties = federation(printed, x[order], y[order, :1], [np.arange(25), np.arange(25, 40)])
    trained(server, parties)
    for ours, theirs in zip(fit.estimator.fitted_.state.layers, server.state.layers, strict=True):
        np.testing.assert_allclose(ours.weight.mean, theirs.weight.mean, rtol=1e-3, atol=1e-4)


EXPLICIT: dict[str, Any] = {
    "prior": "gaussian", "pruning": "exact", "pasp": "anchored", "noise_update": "fixed", "noise_every": "minibatch",
    "noise_rate": 0.1, "trust": 2.0, "centre_rate": 0.1, "input_dropout": 0.2, "sweeps": 4, "prediction": "posterior",
    "active_threshold": 0.7, "init_active_prob": 0.3, "batch_size": 7, "data_weight": 3.0,
}  # fmt: skip


@pytest.mark.parametrize("where", ["estimator", "argument"])
@pytest.mark.parametrize("kind", [TDAMPRegressor, TDAMPClassifier])
def test_an_explicit_parameter_wins(where: str, kind: Any) -> None:
    """twin: as in the centralised preset each parameter changes its own setting, whichever way the preset is given."""

    def agreed(**changes: Any) -> Terms:
        mine, option = ({"preset": "paper"}, {}) if where == "estimator" else ({}, {"preset": "paper"})
        estimator: Any = kind((6,), random_state=0, **mine, **changes)
        estimator.n_features_in_ = 4
        regression = kind is TDAMPRegressor
        x, y = problem("regression", 40)
        summaries = {
            k: summary_of(part, y[:20] if regression else None, np.ones(20)) for k, part in enumerate(np.split(x, 2))
        }
        return negotiate(estimator, summaries, None if regression else [0, 1, 2], rounds=2, local_epochs=3, **option)[0]

    base = agreed()
    assert base == agreed(noise_update="em") and {**vars(base.settings), **PAPER} == vars(base.settings)
    for name, value in EXPLICIT.items():
        result = agreed(**{name: value}).settings
        differ = {key for key in vars(result) if getattr(result, key) != getattr(base.settings, key)}
        wanted = (value,) * 6 if name == "data_weight" else value
        assert differ == {name} and getattr(result, name) == wanted, name
    assert base.hold_out == 0 and agreed(early_stopping=True).hold_out == 0.1
    with pytest.raises(ValueError, match='noise="server" needs noise_update="em" or "fixed"'):
        agreed(noise_update="numerical")


def fit_order(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The order in which an estimator takes a small table's rows."""
    return np.lexsort((*y.T, *x.T, np.ones(len(x))))


def test_precisions_may_grow_with_every_epoch() -> None:
    """identity: as printed a client's rows count once in every epoch so far, and so much precision is let pass."""
    x, y = problem("regression", 40)
    server, (client,) = federation(terms("regression", 30, 2, pasp="paper", data_weight=1.0), x, y, [np.arange(40)])
    upload = client.train(server.broadcast(0))
    first = _information(server, upload)
    server.rounds_done = 9
    np.testing.assert_allclose(_information(server, upload), 10 * first)


def test_other_presets_are_refused() -> None:
    """contract: a preset that does not exist raises."""
    with pytest.raises(ValueError, match="preset='printed'"):
        federated_fit(TDAMPRegressor((4,)), [(np.eye(4), np.arange(4.0))], preset="printed")
