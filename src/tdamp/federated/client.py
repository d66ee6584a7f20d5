"""A client's part of a round: Algorithm 1 on its own rows, from what the server sent. Paper: Algorithm 2, step 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np

from .. import algorithm
from ..engine import compact
from ..engine.network import Network
from ..engine.plan import Anchor, Segment, knobs_of, plan_of
from ..engine.state import State, rows_read
from ..numerics.beliefs import Moments
from ..prediction.batched import lost_without_inputs, predicted
from ..training.batches import Feed, padded_rows, shuffle
from ..training.data import Data
from ..training.epoch import Epoch
from ..training.fitted import Fitted, active_units
from ..training.outcome import Outcome
from ..training.ranking import Ranking
from . import calibration, held_out
from .messages import Belief, Broadcast, FinalReport, Upload
from .packing import pack_upload, unpack_broadcast
from .quality import Judged, held_out_errors, no_errors
from .terms import Terms


class Client:
    """One participant: its number, its rows, and (with input groups) the inputs' ids. Some rows may be held out."""

    def __init__(self, number: int, terms: Terms, data: Data, ids: np.ndarray | None = None) -> None:
        self.number, self.terms, self.ids = number, terms, ids
        try:
            terms.network.output.check_y(data.y, terms.network.n_targets, data.y.dtype)
        except ValueError as error:
            raise ValueError(f"client {number}: {error}") from error
        self.data, self.held = held_out.split_rows(data, terms.hold_out, terms.seed)
        self._feed: Feed | None = None
        self.ranking = Ranking(terms.settings, self.data, terms.seed, number)

    def train(self, broadcast: Broadcast) -> Upload:
        """The local epochs of a round."""
        terms, first = self.terms, int(broadcast.epochs_done)
        work = _LocalTraining(terms, broadcast, self.ids)
        state, feed = work.state, self.feed(work)
        log_evidence = None
        for epoch in range(first, first + terms.local_epochs):
            knobs = knobs_of(terms.local, epoch, float(broadcast.n_rows))
            rng = minibatch_rng(terms.seed, epoch, self.number)
            state, stats, info = Epoch(feed, rng).run(work.plan, knobs, work.ids, state, work.anchors)
            log_evidence = info.log_evidence if log_evidence is None else log_evidence
        scores = self.score_held_out(broadcast)
        return work.upload(self, state, stats, log_evidence, scores)

    def score_held_out(self, broadcast: Broadcast) -> Judged:
        """Scores and errors of the rows held out under the posterior that was sent; zeros for the random start."""
        return self._judged(posterior_of(self.terms, broadcast) if broadcast.epochs_done else None)

    def _judged(self, fitted: Fitted | None) -> Judged:
        terms = self.terms
        errors = no_errors(terms)
        if fitted is None or self.held is None:
            return Judged(np.zeros(calibration.n_scores(terms.network, terms.hold_out)), errors)
        errors = None if errors is None else held_out_errors(fitted, self.held)
        return Judged(calibration.held_out_scores(fitted, self.held), errors)

    def report(self, fitted: Fitted) -> FinalReport:
        """This client's report on the final posterior."""
        x, y, weight = self.data
        known = np.zeros(0)
        if fitted.network.output.is_calibrated:
            at_rows = predicted(fitted, x)
            known = weight.astype(np.float64) @ (at_rows.aleatoric_var / at_rows.var)
        lost = lost_without_inputs(fitted, x, y, self.ids)
        judged = self._judged(fitted)
        return FinalReport(lost, np.asarray(self.n_rows), judged.scores, known, judged.errors)

    @property
    def n_rows(self) -> float:
        """Rows that it trains on, of weight one."""
        return float(self.data.weight.sum(dtype=np.float64))

    def feed(self, work: _LocalTraining) -> Feed:
        """The rows on the device; they stay there until columns are removed."""
        columns, centre = rows_read(work.network, work.inputs, work.state)
        if self._feed is None or not np.array_equal(self._feed.columns, columns):
            self._feed = Feed(self.data, columns, centre, self.terms.settings.chunk_rows, alike=True)
        return self._feed


def train_together(clients: Sequence[Client], broadcast: Broadcast) -> list[Upload]:
    """A round of clients with about equally many rows as one vectorised program: equal to `train` but for rounding."""
    terms, first = clients[0].terms, int(broadcast.epochs_done)
    work = _LocalTraining(terms, broadcast, clients[0].ids)
    feeds = [client.feed(work) for client in clients]
    x, y, weight = (np.stack(arrays) for arrays in zip(*(feed.resident[:3] for feed in feeds), strict=True))  # type: ignore[index]
    x, y, weight = jax.device_put((x, y, weight))
    states: Any = jax.tree.map(lambda leaf: np.stack([leaf] * len(clients)), work.state)
    log_evidence = None
    for epoch in range(first, first + terms.local_epochs):
        knobs = knobs_of(terms.local, epoch, float(broadcast.n_rows))
        orders = [
            shuffle(minibatch_rng(terms.seed, epoch, c.number), x.shape[1], len(c.data.x), work.plan.batch_size)
            for c in clients
        ]
        order, present = (np.stack(arrays) for arrays in zip(*orders, strict=True))
        if (present == present[0]).all():  # then the number of minibatches is one for all, and the loop a plain one
            present = present[0]
        states, stats, info = _train_all(work.plan, knobs, work.ids, states, (x, y, weight), order, present)
        log_evidence = info.log_evidence if log_evidence is None else log_evidence
    results = jax.device_get((states, stats, log_evidence))
    uploads = []
    for k, client in enumerate(clients):
        state, noise_stats, evidence = jax.tree.map(lambda leaf, k=k: leaf[k], results)
        scores = client.score_held_out(broadcast)
        uploads.append(work.upload(client, state, noise_stats, evidence, scores))
    return uploads


def can_train_together(clients: Sequence[Client]) -> bool:
    """Whether all have the same number of rows when these are padded, whole on the device."""
    alike = len({padded_rows(len(client.data.x)) for client in clients}) == 1
    return alike and len(clients) > 1 and clients[0].terms.settings.chunk_rows is None


def minibatch_rng(seed: int, epoch: int, client: int) -> np.random.Generator:
    """Random numbers for a client's minibatches. A last 0 changes nothing: client 0 has a lone training's order."""
    return np.random.default_rng((seed, epoch, client))


@partial(jax.jit, static_argnums=0)
def _train_all(plan: Any, knobs: Any, ids: Any, states: Any, rows: Any, order: Any, present: Any) -> Any:
    """An epoch of every client: all arguments but the first three have an axis of clients; `present` may have none."""

    def train_one(state: State, rows: Any, order: Any, present: Any) -> Any:
        x, y, weight = rows
        state, stats, info = algorithm.e_step(plan, knobs, ids, state, Segment(x, y, weight, order, present))
        return algorithm.m_step(plan, ids, state, stats)[0], stats, info

    return jax.vmap(train_one, (0, 0, 0, 0 if present.ndim == order.ndim else None))(states, rows, order, present)


class _LocalTraining:
    """The broadcast in the engine's form: arrays padded to a bucket, as in a training on its own."""

    def __init__(self, terms: Terms, broadcast: Broadcast, ids: np.ndarray | None) -> None:
        self.packs = terms.precision == "factored"
        self.sends_losses = terms.sends_losses
        self.round = int(broadcast.epochs_done) // terms.local_epochs
        broadcast = unpack_broadcast(broadcast)
        state, inputs = broadcast.state, np.asarray(broadcast.inputs)
        bucket = compact.bucket_of(terms.settings.prior, terms.network)
        network = network_of(terms, state)
        self.state, self.network, index = compact.take(state, network, active_units(state), bucket)
        self.inputs = inputs[index[0]]
        self.ids = None if ids is None else ids[self.inputs]
        self.plan = plan_of(self.network, terms.local)
        columns = [*index[1:], np.arange(network.widths[-1])]
        self.anchors = None
        if broadcast.anchors is not None:
            places = zip(broadcast.anchors, compact.rows_in(state.layers, index), columns, strict=True)
            self.anchors = jax.device_put(tuple(_take(anchor, rows, cols) for anchor, rows, cols in places))

    def upload(self, client: Client, state: State, stats: Any, log_evidence: Any, judged: Judged) -> Upload:
        """The upload, without the padding."""
        active, n_rows, losses = active_units(state), client.n_rows, ()
        if self.sends_losses:
            columns = self.network.columns(self.inputs)
            ranked = client.ranking.by(self.network, columns, self.ids, self.round)(state)
        state, _, index = compact.take(state, self.network, active, 1)
        if self.sends_losses:
            losses = tuple(loss[units] for loss, units in zip(ranked, index, strict=True))
        layers = jax.device_get(state.layers)
        posterior = tuple(Belief(layer.weight, layer.bias, layer.centre) for layer in layers)
        noise = np.asarray(state.noise_var)
        noise_stats = jax.tree.map(lambda sums: np.asarray(sums, noise.dtype), stats)
        mean_evidence = np.asarray(log_evidence / n_rows, noise.dtype)
        upload = Upload(
            posterior, noise, noise_stats, mean_evidence, np.asarray(n_rows, np.float64), judged.scores, losses
        )
        upload = upload._replace(errors=judged.errors)
        return pack_upload(upload, [layer.base_var for layer in layers]) if self.packs else upload


def posterior_of(terms: Terms, broadcast: Broadcast) -> Fitted:
    """The posterior that was sent, in the form that predicts."""
    sent = unpack_broadcast(broadcast)
    network = network_of(terms, sent.state)
    kept = (np.asarray(sent.inputs), *(np.arange(width) for width in network.widths[1:-1]))
    return Fitted(network, sent.state, kept, (), Outcome.OK, 0)


def network_of(terms: Terms, state: State) -> Network:
    """The network as the state has it, without removed units."""
    widths = (*(len(layer.offset) for layer in state.layers), terms.network.widths[-1])
    return replace(terms.network, widths=widths)


def _take(anchor: Anchor, rows: np.ndarray, columns: np.ndarray) -> Anchor:
    weight, bias, centre = jax.tree.map(np.asarray, anchor)
    block = np.ix_(rows, columns)
    return Anchor(
        Moments(weight.mean[block], weight.var[block]), Moments(bias.mean[columns], bias.var[columns]), centre[rows]
    )
