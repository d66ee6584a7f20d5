"""FedAvg and FedProx: rounds, masks, and one client as centralised training."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from tdamp_bench.core.jobs import Job, n_keep
from tdamp_bench.core.progress import silent
from tdamp_bench.methods.baselines import adam_optax, federation, masked_adam, unit_scores
from tdamp_bench.methods.baselines.fedavg import (
    CLIENTS,
    FedAvgAdam,
    FedAvgAdamW,
    FedAvgGroupLasso,
    FedAvgGroupSnip,
    FedProx,
)
from tdamp_bench.methods.baselines.federation import Federation, n_params, shares
from tdamp_bench.methods.baselines.gradient_methods import Adam, GroupLasso, GroupSnip
from tdamp_bench.methods.baselines.masked_adam import Fleet, Pull
from tdamp_bench.methods.baselines.recipe import strong
from tdamp_bench.methods.baselines.start import Orders, he_init, minibatches
from tdamp_bench.methods.baselines.unit_masks import all_units, best_units, count

LINE = (4, 7, 5, 1)


BLOB = (12, 8, 3)


METHODS = [FedAvgAdam, FedAvgGroupLasso, FedAvgGroupSnip, FedProx]


def leaves(params):
    """All arrays."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(params)]


@pytest.mark.parametrize(
    ("federated", "centralised"), [(FedAvgAdam, Adam), (FedAvgGroupLasso, GroupLasso), (FedAvgGroupSnip, GroupSnip)]
)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_one_client_is_centralised_training(federated, centralised, task, blobs, lines):
    """twin: rounds of two epochs, ragged minibatches, two shares; every second epoch of the centralised, to the bit."""
    problem, widths = (blobs, BLOB) if task == "classification" else (lines[1], LINE)
    jobs = [Job(problem, 3, keep, {"rate": 0.01, "penalty": 1e-3}) for keep in (1.0, 0.5)]
    actual = federated(clients=1, local_epochs=2).train(jobs, widths, 50, 2, silent)
    expected = centralised().train(jobs, widths, 50, 4, silent)
    assert [run.loss for run in actual] == [run.loss[1::2] for run in expected]
    assert [run.units for run in actual] == [run.units for run in expected]


def by_hand(job, widths, batch, clients, local_epochs, rounds, masks=None):
    """Client after client, round after round."""
    server = masked_adam.masked(he_init(widths, job.seed), masks or all_units(widths))
    states = [adam_optax.init(widths, job.seed) for _ in range(clients)]
    own = shares(job.problem, clients, job.seed)
    orders = [Orders(len(share), job.seed + 1000 * k) for k, share in enumerate(own)]
    rate, penalty = (np.float32(job.config.get(name, 0.0)) for name in ("rate", "penalty"))
    step = jax.jit(masked_adam.scan_epoch, static_argnums=0)
    for _ in range(rounds):
        for k, share in enumerate(own):
            states[k] = adam_optax.State(server, states[k].moments)
            pull = Pull(np.float32(job.config["prox"]), server) if "prox" in job.config else None
            for _ in range(local_epochs):
                rows, present = minibatches(next(orders[k]), batch)
                x, y = job.problem.x[share], job.problem.y[share]
                penalties = masked_adam.Penalties(penalty, pull)
                states[k] = step(
                    job.problem.task, states[k], masks or all_units(widths), rate, penalties, (x, y), (rows, present)
                )
        server = jax.tree.map(lambda *each: np.mean(each, axis=0), *[state.params for state in states])
    return server


@pytest.mark.parametrize("config", [{"rate": 0.01}, {"rate": 0.01, "penalty": 0.01}, {"rate": 0.01, "prox": 1.0}])
def test_rounds_by_hand(config, lines):
    """twin: a loop over two jobs' clients, each with its own rows and moments; ragged minibatches; mean, send back."""
    jobs = [Job(problem, seed, 1.0, config) for seed, problem in enumerate(lines)]
    actual = Federation(jobs, LINE, 7, clients=4, local_epochs=2)
    for _ in range(2):
        actual.epoch()
    for job, params in zip(jobs, actual.params(), strict=True):
        for mine, expected in zip(leaves(params), leaves(by_hand(job, LINE, 7, 4, 2, 2)), strict=True):
            np.testing.assert_allclose(mine, expected, atol=2e-5)


def test_a_pull_of_zero_is_no_pull_and_a_strong_one_holds(lines):
    """identity: prox 0 is FedAvg to rounding, beside another job with a pull; the stronger the closer to the start."""
    start = leaves(he_init(LINE, 0))
    far = []
    for prox in (0.0, 1.0, 100.0):
        fed = Federation([Job(lines[0], 0, 1.0, {"rate": 0.01, "prox": p}) for p in (prox, 5.0)], LINE, 20, 2)
        fed.epoch()
        far.append(sum(((a - b) ** 2).sum() for a, b in zip(leaves(fed.params()[0]), start, strict=True)))
        if prox == 0:
            plain = Federation([Job(lines[0], 0, 1.0, {"rate": 0.01})] * 2, LINE, 20, 2)
            plain.epoch()
            for mine, expected in zip(leaves(fed.params()[0]), leaves(plain.params()[0]), strict=True):
                np.testing.assert_allclose(mine, expected, atol=1e-5)
    assert far[0] > 1.2 * far[1] > 1.2 * far[2] > 0


def test_snip_is_the_mean_of_the_clients(blobs):
    """twin: saliencies of every client's rows at the server's start, averaged by hand; the masks hold in all rounds."""
    job = Job(blobs, 0, 0.4, {"rate": 0.01})
    params = he_init(BLOB, 0)
    each = [
        unit_scores.saliency(params, replace(blobs, x=blobs.x[share], y=blobs.y[share]))
        for share in shares(blobs, 10, 0)
    ]
    means = [sum(client[l] for client in each) / 10 for l in range(2)]
    for actual, expected in zip(FedAvgGroupSnip().saliency(params, job), means, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-5)
    masks = best_units(means, n_keep(BLOB, 0.4))
    (run,) = FedAvgGroupSnip(local_epochs=2).train([job], BLOB, 50, 2, silent)
    expected = by_hand(job, BLOB, 50, 10, 2, 2, masks)
    assert run.units == 8 and run.loss[-1] == pytest.approx(masked_adam.test_loss(expected, blobs), abs=0.02)
    n_in, n_hidden = (int(mask.sum()) for mask in masks)
    assert run.extra["bytes"] == [2 * 4 * 10 * ((n_in + 1) * n_hidden + (n_hidden + 1) * 3)] * 2


@pytest.mark.parametrize("method", METHODS)
def test_shares_together_give_what_separate_calls_give(method, lines):
    """twin: shares of units, seeds and splits in one call against a call for each; units are n_keep; bytes by hand."""
    config = {"rate": 0.01, "penalty": 1e-3, "prox": 0.1}
    jobs = [Job(lines[s], s, keep, config) for keep in (1.0, 0.3) for s in (0, 1)]
    ticks: list[str] = []
    together = method(local_epochs=2).train(jobs, LINE, 20, 2, ticks.append)
    assert len(ticks) == 4 and [run.units for run in together] == [16, 16, 5, 5]
    for job, run in list(zip(jobs, together, strict=True))[1:3]:
        (alone,) = method(local_epochs=2).train([job], LINE, 20, 2, silent)
        np.testing.assert_allclose(run.loss, alone.loss, rtol=1e-3)
        assert run.extra == alone.extra
    assert together[0].extra["bytes"] == [2 * 4 * 4 * (5 * 7 + 8 * 5 + 6)] * 2


def test_energy_methods_train_once_for_all_shares(lines, monkeypatch):
    """contract: epochs of the clients; SNIP trains every share."""
    rounds = []
    epoch = Federation.epoch
    monkeypatch.setattr(Federation, "epoch", lambda self, *rest: (rounds.append(len(self.jobs)), epoch(self, *rest)))
    for method in METHODS:
        rounds.clear()
        jobs = [Job(lines[0], 0, k, {"rate": 0.01}) for k in (1.0, 0.5)]
        method(local_epochs=2).train(jobs, LINE, 20, 1, silent)
        assert rounds == ([2] if method is FedAvgGroupSnip else [1])


def test_the_batch_is_at_most_a_clients_rows(lines):
    """contract: batch 101 of 15 rows is one full minibatch; the clients' rows are their own, in another order."""
    fed = Federation([Job(lines[0], 0, 1.0, {"rate": 0.01})], LINE, 101, clients=4)
    orders = [next(order) for order in fed.orders]
    rows, present = minibatches(orders[0], fed.batch)
    assert rows.shape == (1, 15) and present.all()
    for order, share in zip(orders, shares(lines[0], 4, 0), strict=True):
        np.testing.assert_array_equal(np.sort(order), share)
    assert len({tuple(np.argsort(order)) for order in orders}) == 4


def test_masks_hold_for_all_clients(blobs):
    """contract: masks that come in after a round; all clients and the server stay at zero."""
    fed = Federation([Job(blobs, s, 1.0, {"rate": 0.01}) for s in (0, 1)], BLOB, 50, 3, 1)
    fed.epoch()
    masks = [best_units([np.arange(12), np.arange(8)], 11), best_units([-np.arange(12), -np.arange(8)], 9)]
    fed.keep_only(masks)
    assert [count(mask) for mask in fed.left()] == [11, 9] and len(Fleet.left(fed)) == 6
    fed.epoch()
    for k, params in enumerate(Fleet.params(fed)):
        (weight, bias), (out, _) = params
        inputs, hidden = masks[k // 3]
        assert not weight[inputs == 0].any() and not weight[:, hidden == 0].any() and not out[hidden == 0].any()
        assert not bias[hidden == 0].any() and out[hidden == 1].any()
    assert [n_params(mask, 3) for mask in masks] == [
        (int(i.sum()) + 1) * int(h.sum()) + (int(h.sum()) + 1) * 3 for i, h in masks
    ]


def test_the_paper_has_four_and_ten_clients_of_ten_epochs(blobs, lines):
    """contract: by task; ten local epochs by default."""
    assert CLIENTS == {"regression": 4, "classification": 10} and federation.LOCAL_EPOCHS == 10
    for problem, widths, clients in ((lines[0], LINE, 4), (blobs, BLOB, 10)):
        fed = FedAvgAdam().fleet([Job(problem, 0, 1.0, {"rate": 0.01})], widths, 100)
        assert (fed.clients, fed.local_epochs, len(Fleet.params(fed)), len(fed.params())) == (clients, 10, clients, 1)


@pytest.mark.parametrize("method", METHODS)
def test_six_configurations(method):
    """contract: all different, for both data sets."""
    for data in ("boston", "mnist"):
        assert len({tuple(config.items()) for config in method().grid(data, 0.5)}) == 6


def test_a_schedule_lasts_for_all_rounds(lines):
    """identity: two rounds of three epochs of clients with 15 rows; every client draws its own dropout."""
    (job,) = [Job(lines[0], 0, 1.0, strong(0.01, 0.1, 0.2).config)]
    fed = Federation([job], LINE, 7, clients=4, local_epochs=3, rounds=2)
    assert fed.pace.steps == 2 * 3 * 3
    assert len({tuple(key) for key in np.asarray(fed.regular.key)}) == 4
    (run,) = FedAvgAdamW(clients=4, local_epochs=3).train([job], LINE, 7, 2, silent)
    assert len(run.loss) == 2 and np.isfinite(run.loss).all()
