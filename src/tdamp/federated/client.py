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
from ..engine.state import State
from ..factors.priors.catalog import PRIORS
from ..numerics.beliefs import Moments
from ..prediction.batched import lost_without_inputs, predicted
from ..training.batches import Feed, padded_rows, shuffle
from ..training.data import Data
from ..training.epoch import Epoch
from ..training.fitted import Fitted, active_units
from ..training.outcome import Outcome
from . import calibration, held_out
from .messages import Belief, Broadcast, Conclusion, Upload
from .packing import opened_broadcast, packed_upload
from .terms import Terms


class Client:
    """One participant: its number, its rows, and (with input groups) the inputs' ids. Some rows may be held out."""

    def __init__(self, number: int, terms: Terms, data: Data, ids: np.ndarray | None = None) -> None:
        self.number, self.terms, self.ids = number, terms, ids
        self.data, self.held = held_out.parted(data, terms.hold_out, terms.seed)
        self._feed: Feed | None = None

    def train(self, broadcast: Broadcast) -> Upload:
        """The local epochs of a round."""
        terms, first = self.terms, int(broadcast.epochs_done)
        work = _Work(terms, broadcast, self.ids)
        state, feed = work.state, self.feed(work.inputs, state_centre(work.state))
        heard = None
        for epoch in range(first, first + terms.local_epochs):
            knobs = knobs_of(terms.local, epoch, float(broadcast.n_rows))
            rng = order_of(terms.seed, epoch, self.number)
            state, stats, info = Epoch(feed, rng).run(work.plan, knobs, work.ids, state, work.anchors)
            heard = heard if heard is not None else info.log_evidence
        return work.upload(jax.device_get(state), stats, heard, self.n_rows, self.judge(broadcast))

    def judge(self, broadcast: Broadcast) -> np.ndarray:
        """What the rows held out say of the posterior that was sent; nothing about the random start."""
        if not broadcast.epochs_done:
            return np.zeros(calibration.size_of(self.terms.network, self.terms.hold_out))
        return self._judged(posterior_of(self.terms, broadcast))

    def _judged(self, fitted: Fitted) -> np.ndarray:
        if self.held is None:
            return np.zeros(calibration.size_of(self.terms.network, self.terms.hold_out))
        return calibration.judged(fitted, self.held)

    def conclude(self, fitted: Fitted) -> Conclusion:
        """What this client has to say of the final posterior."""
        x, y, weight = self.data
        known = np.zeros(0)
        if fitted.network.task == "regression":
            found = predicted(fitted, x)
            known = weight.astype(np.float64) @ (found.aleatoric_var / found.var)
        lost = lost_without_inputs(fitted, x, y, self.ids)
        return Conclusion(lost, np.asarray(self.n_rows), self._judged(fitted), known)

    @property
    def n_rows(self) -> float:
        """Of weight one, that it trains on."""
        return float(self.data.weight.sum(dtype=np.float64))

    def feed(self, columns: np.ndarray, centre: np.ndarray) -> Feed:
        """The rows on the device; they stay there until columns are removed."""
        if self._feed is None or not np.array_equal(self._feed.columns, columns):
            self._feed = Feed(self.data, columns, centre, self.terms.settings.chunk_rows, alike=True)
        return self._feed


def train_together(clients: Sequence[Client], broadcast: Broadcast) -> list[Upload]:
    """The round of clients with about equally many rows, as one vectorised program; as `train` but for rounding."""
    terms, first = clients[0].terms, int(broadcast.epochs_done)
    work = _Work(terms, broadcast, clients[0].ids)
    feeds = [client.feed(work.inputs, state_centre(work.state)) for client in clients]
    x, y, weight = (np.stack(arrays) for arrays in zip(*(feed.resident[:3] for feed in feeds), strict=True))  # type: ignore[index]
    x, y, weight = jax.device_put((x, y, weight))
    states: Any = jax.tree.map(lambda leaf: np.stack([leaf] * len(clients)), work.state)
    heard = None
    for epoch in range(first, first + terms.local_epochs):
        knobs = knobs_of(terms.local, epoch, float(broadcast.n_rows))
        orders = [
            shuffle(order_of(terms.seed, epoch, c.number), x.shape[1], len(c.data.x), work.plan.batch_size)
            for c in clients
        ]
        order, present = (np.stack(arrays) for arrays in zip(*orders, strict=True))
        if (present == present[0]).all():  # then the number of minibatches is one for all, and the loop a plain one
            present = present[0]
        states, stats, info = _together(work.plan, knobs, work.ids, states, x, y, weight, order, present)
        heard = heard if heard is not None else info.log_evidence
    found = jax.device_get((states, stats, heard))
    uploads = []
    for k, client in enumerate(clients):
        state, counted, log_evidence = jax.tree.map(lambda leaf, k=k: leaf[k], found)
        uploads.append(work.upload(state, counted, log_evidence, client.n_rows, client.judge(broadcast)))
    return uploads


def can_train_together(clients: Sequence[Client]) -> bool:
    """Whether all have the same number of rows when these are padded, whole on the device."""
    alike = len({padded_rows(len(client.data.x)) for client in clients}) == 1
    return alike and len(clients) > 1 and clients[0].terms.settings.chunk_rows is None


def order_of(seed: int, epoch: int, client: int) -> np.random.Generator:
    """Draws a client's minibatches. A last 0 changes nothing: client 0 has the order of a training on its own."""
    return np.random.default_rng((seed, epoch, client))


def state_centre(state: State) -> np.ndarray:
    """What is taken off the inputs."""
    return np.asarray(state.layers[0].centre)


@partial(jax.jit, static_argnums=0)
def _together(
    plan: Any, knobs: Any, ids: Any, states: Any, x: Any, y: Any, weight: Any, order: Any, present: Any
) -> Any:
    def one(state: State, x: Any, y: Any, weight: Any, order: Any, present: Any) -> Any:
        state, stats, info = algorithm.e_step(plan, knobs, ids, state, Segment(x, y, weight, order, present))
        return algorithm.m_step(plan, ids, state, stats)[0], stats, info

    return jax.vmap(one, (0, 0, 0, 0, 0, 0 if present.ndim == order.ndim else None))(
        states, x, y, weight, order, present
    )


class _Work:
    """The broadcast as the engine wants it: arrays padded to a bucket, as in a training on its own."""

    def __init__(self, terms: Terms, broadcast: Broadcast, ids: np.ndarray | None) -> None:
        self.packs = terms.precision == "factored"
        broadcast = opened_broadcast(broadcast)
        state, inputs = broadcast.state, np.asarray(broadcast.inputs)
        bucket = compact.BUCKET if PRIORS[terms.settings.prior].pads else 1
        network = network_of(terms, state)
        self.state, self.network, index = compact.take(state, network, active_units(state), bucket)
        self.inputs = inputs[index[0]]
        self.ids = None if ids is None else ids[self.inputs]
        self.plan = plan_of(self.network, terms.local)
        columns = [*index[1:], np.arange(network.widths[-1])]
        self.anchors = None
        if broadcast.anchors is not None:
            places = zip(broadcast.anchors, index, columns, strict=True)
            self.anchors = jax.device_put(tuple(_take(anchor, rows, cols) for anchor, rows, cols in places))

    def upload(self, state: State, stats: Any, log_evidence: Any, n_rows: float, judged: np.ndarray) -> Upload:
        """Without the padding."""
        state, _, _ = compact.take(state, self.network, active_units(state), 1)
        layers = jax.device_get(state.layers)
        posterior = tuple(Belief(layer.weight, layer.bias, layer.centre) for layer in layers)
        noise = np.asarray(state.noise_var)
        counted = jax.tree.map(lambda sums: np.asarray(sums, noise.dtype), stats)
        heard = np.asarray(log_evidence / n_rows, noise.dtype)
        upload = Upload(posterior, noise, counted, heard, np.asarray(n_rows, np.float64), judged)
        return packed_upload(upload, [layer.base_var for layer in layers]) if self.packs else upload


def posterior_of(terms: Terms, broadcast: Broadcast) -> Fitted:
    """The posterior that was sent, to predict with."""
    sent = opened_broadcast(broadcast)
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
