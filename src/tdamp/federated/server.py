"""The server's part of a round: from the clients' uploads to the next broadcast. Paper: Algorithm 2, steps 1 and 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .. import compact, mstep, prune
from ..algorithm import Anchor, m_step, plan_of
from ..beliefs import Moments
from ..factors import group_spike_slab, spike_slab
from ..network import Network
from ..state import State, evidence, is_finite, prior_logit, question, remove
from ..training import active_units
from ..turbo import Layer
from . import sites
from .aggregate import SpikeSlab, algebraic, geometric, on_host, shares_of, weighted_sum
from .client import network_of
from .exchange import Belief, Broadcast, Upload
from .sites import Factors, Site
from .terms import Terms

RULES = {"wga": geometric, "waa": algebraic}


class Diverged(ArithmeticError):
    """An aggregate was not finite: the posterior of the round before stays."""


class Server:
    """The federation's posterior, and what the next round needs besides.

    `rows` are the clients' numbers of rows, by client; one that joins later is added when its first upload arrives.
    """

    def __init__(self, terms: Terms, state: State, rows: Mapping[int, float], ids: np.ndarray | None = None) -> None:
        self.terms, self.ids, self.rows = terms, ids, dict(rows)
        self.state: Any = jax.device_get(state)  # a State of NumPy arrays
        self.kept = [np.arange(n) for n in terms.network.widths[:-1]]
        self.rounds_done = 0
        self.velocity: list[tuple[Any, Any]] | None = None  # of the means of every layer's weights and biases
        self.sites: list[tuple[dict[int, Site], dict[int, Site]]] = [({}, {}) for _ in self.state.layers]

    @property
    def network(self) -> Network:
        """Without the units removed so far."""
        return network_of(self.terms, self.state)

    @property
    def epochs_done(self) -> int:
        """Local ones."""
        return self.rounds_done * self.terms.local_epochs

    def broadcast(self, client: int) -> Broadcast:
        """What this client starts the next round from."""
        n_rows, anchors = self._total, None
        if self.terms.aggregation == "sites":
            n_rows = self.terms.reach * self._total
            anchors = self._anchors(client) if self.rounds_done else None
        epochs = np.asarray(self.epochs_done, np.int32)
        return Broadcast(self.state, self.kept[0].astype(np.int32), anchors, np.asarray(n_rows), epochs)

    def aggregate(self, uploads: Mapping[int, Upload]) -> None:
        """The round's end. The order of the clients is that of their numbers; their weights are their rows' shares."""
        clients = sorted(uploads)
        self.rows |= {k: float(uploads[k].n_rows) for k in clients}
        shares = shares_of([self.rows[k] for k in clients])
        here = [self.at_home(uploads[k].posterior) for k in clients]
        if self.terms.aggregation == "sites":
            layers = self._with_sites(dict(zip(clients, here, strict=True)))
        else:
            layers = self._averaged(here, shares)
        centres = [weighted_sum([uploads[k].posterior[l].centre for k in clients], shares) for l in range(len(layers))]
        self.end_round(layers, centres, self._noise([uploads[k] for k in clients], shares))

    def end_round(self, layers: Sequence[Layer], centres: Sequence[np.ndarray], noise_var: np.ndarray) -> None:
        """Take new layers (in the old centres), move the centres, and see to hyperparameters and size."""
        moved = [_in_single(_moved(layer, centre)) for layer, centre in zip(layers, centres, strict=True)]
        found = self.state._replace(layers=tuple(moved), noise_var=noise_var.astype(self.state.noise_var.dtype))
        if not is_finite(found):
            raise Diverged("the aggregate of this round is not finite; the round before stays")
        self.state = found
        self.rounds_done += 1
        self._look()
        self._remove()

    def at_home(self, posterior: Sequence[Belief]) -> list[Belief]:
        """A client's posterior with the biases that belong to the server's centres."""
        layers = zip(posterior, self.state.layers, strict=True)
        return [recentred(belief, layer.centre) for belief, layer in layers]

    # one posterior from many

    def _averaged(self, posteriors: Sequence[Sequence[Belief]], shares: Sequence[float]) -> list[Layer]:
        """WGA or WAA, then the server's step."""
        rule, layers = RULES[self.terms.aggregation], []
        for l, layer in enumerate(self.state.layers):
            each = [posterior[l] for posterior in posteriors]
            weight = rule([self._groups(layer, l, belief.weight) for belief in each], shares)
            bias = rule([_single(layer, belief.bias) for belief in each], shares)
            layers.append(layer._replace(weight=weight.slab, bias=_flat(bias.slab)))
            if self.terms.aggregation == "waa":
                layers[l] = self._with_logits(layers[l], l, weight.logit, bias.logit)
        return self.stepped(layers)

    def stepped(self, average: Sequence[Layer]) -> list[Layer]:
        """The server's step: the average, or beyond it, with the momentum of the steps before."""
        first = not self.rounds_done
        step, momentum = (1.0, 0.0) if first else (self.terms.step, self.terms.momentum)
        layers, velocity = [], []
        for l, (old, new) in enumerate(zip(self.state.layers, average, strict=True)):
            means: list[np.ndarray] = []
            moves: list[np.ndarray] = []
            for part in ("weight", "bias"):
                was, now = (np.asarray(getattr(layer, part).mean, np.float64) for layer in (old, new))
                move = now - was
                if not (step == 1 and momentum == 0):
                    last = self.velocity[l][len(moves)] if self.velocity else 0.0
                    move = step * move + momentum * last
                    now = was + move
                means.append(now)
                moves.append(move)
            weight, bias = (on_host(m, b.var) for m, b in zip(means, (new.weight, new.bias), strict=True))
            layers.append(new._replace(weight=weight, bias=bias))
            velocity.append((moves[0], moves[1]))
        self.velocity = velocity
        return layers

    def _groups(self, layer: Layer, l: int, slab: Moments) -> SpikeSlab:
        ids = self._group_of if l == 0 else None
        return SpikeSlab(np.asarray(group_spike_slab.active_logit(layer.offset, slab, layer.base_var, ids)), slab)

    def _with_logits(self, layer: Any, l: int, logit: np.ndarray, bias_logit: np.ndarray) -> Layer:
        """Offsets that give these log-odds. (WGA and sites need none: log-odds are the slabs' evidence above offsets
        that all clients share, and of a product of posteriors they are just that.)"""
        shown = group_spike_slab.evidence(layer.weight, layer.base_var, self._group_of if l == 0 else None)
        offset = logit - np.asarray(shown, np.float64)
        bias_offset = bias_logit - np.asarray(spike_slab.evidence(layer.bias, layer.bias_base_var), np.float64)
        return layer._replace(offset=offset.astype(np.float32), bias_offset=bias_offset.astype(np.float32))

    # a factor for each client

    def _anchors(self, client: int) -> tuple[Anchor, ...]:
        power = self.terms.reach * self._total / self.rows.get(client, self._total)
        anchors = []
        for l, layer in enumerate(self.state.layers):
            weight, bias = (sites.cavity(factors, client, power) for factors in self._factors(l, layer))
            anchors.append(Anchor(on_host(*weight, np.float32), on_host(*bias, np.float32), layer.centre))
        return tuple(anchors)

    def _factors(self, l: int, layer: Layer) -> tuple[Factors, Factors]:
        base, bias_base = 1 / float(layer.base_var), 1 / float(layer.bias_base_var)
        return Factors(layer.weight, base, self.sites[l][0]), Factors(layer.bias, bias_base, self.sites[l][1])

    def _with_sites(self, posteriors: Mapping[int, Sequence[Belief]]) -> list[Layer]:
        layers = []
        powers = {k: self.terms.reach * self._total / self.rows[k] for k in posteriors}
        whole = {k: self.rows[k] / self._total for k in self.rows}
        for l, layer in enumerate(self.state.layers):
            new = []
            for factors, part in zip(self._factors(l, layer), ("weight", "bias"), strict=True):
                learned = {k: getattr(posteriors[k][l], part) for k in posteriors}
                step = self.terms.step
                cavities = {k: sites.cavity(factors, k, powers[k]) for k in posteriors}
                if not self.rounds_done:
                    mean, base_var, step = factors.posterior.mean, 1 / factors.base_prec, 1.0
                    factors = factors._replace(sites=sites.begin(mean, factors.base_prec, whole))
                    cavities = dict.fromkeys(posteriors, on_host(0 * mean, np.full(np.shape(mean), base_var)))
                new.append(sites.update(factors, cavities, learned, powers, step))
            self.sites[l] = new[0].sites, new[1].sites
            layers.append(layer._replace(weight=new[0].posterior, bias=new[1].posterior))
        return layers

    # hyperparameters and size

    def _noise(self, uploads: list[Upload], shares: list[float]) -> np.ndarray:
        old: Any = np.asarray(self.state.noise_var)
        if self.terms.noise == "clients":
            return np.exp(weighted_sum([np.log(u.noise_var, dtype=np.float64) for u in uploads], shares)).astype(
                old.dtype
            )
        if self.terms.settings.noise_update == "fixed":
            return old
        task = self.terms.network.task
        total = jax.tree.map(lambda *sums: weighted_sum(sums, [1.0] * len(sums)), *(u.noise_stats for u in uploads))
        target = mstep.noise_target(task, "em", total, old)
        return np.asarray(mstep.damped_noise(task, old, target, self.state.noise_scale)[0], old.dtype)

    def _look(self) -> None:
        """Base variances, chains and probabilities of the units from the new posterior; units may come in question."""
        s = self.terms.settings
        if s.prior == "gaussian" and not s.learn_base_var:
            return
        before = self.epochs_done - self.terms.local_epochs
        if s.prior != "gaussian" and before < s.warm_up <= self.epochs_done:
            start = 0.0 if s.prior == "burst" else prior_logit(s.init_active_prob)
            self.state = question(self.state, start, self._group_of, from_here=False)
        plan = plan_of(self.network, s)._replace(noise_every="minibatch", batch_size=0)  # leaves the noise alone
        nothing = mstep.no_stats(self.network, "em", np.float32)
        self.state = jax.device_get(jax.jit(m_step, static_argnums=0)(plan, self._group_of, self.state, nothing)[0])

    def _remove(self) -> None:
        """The exact rule, as far as its schedule has come; what is removed is not sent again."""
        s = self.terms.settings
        if not s.prunes:
            return
        share = prune.progress(s, self.epochs_done)
        active = active_units(self.state)
        found = evidence(self.state, self._group_of)
        masks = prune.exact(s, self.terms.network, active, found, self._group_of, share, self.ids)
        if all(mask.all() for mask in masks):
            return
        state, _, index = compact.take(remove(self.state, masks), self.network, masks, bucket=1)
        self.state = jax.device_get(state)
        self.kept = [kept[i] for kept, i in zip(self.kept, index, strict=True)]
        columns = [*index[1:], np.arange(self.terms.network.widths[-1])]
        for l, (rows, cols) in enumerate(zip(index, columns, strict=True)):
            block = np.ix_(rows, cols)
            if self.velocity:
                weight, bias = self.velocity[l]
                self.velocity[l] = weight[block], bias[cols]
            weights, biases = self.sites[l]
            self.sites[l] = _taken(weights, block), _taken(biases, cols)

    @property
    def _group_of(self) -> Any:
        return None if self.ids is None else self.ids[self.kept[0]]

    @property
    def _total(self) -> float:
        return sum(self.rows[k] for k in sorted(self.rows))


def recentred(belief: Belief, centre: Any) -> Belief:
    """The same function of the inputs with another centre: the biases take over what the centre moves, in float64."""
    move = np.asarray(centre, np.float64) - belief.centre
    mean = belief.bias.mean + move @ np.asarray(belief.weight.mean, np.float64)
    return Belief(belief.weight, on_host(mean, belief.bias.var), centre)


def _single(layer: Layer, slab: Moments) -> SpikeSlab:
    """Biases are groups of one."""
    logit = np.asarray(spike_slab.active_logit(layer.bias_offset, slab, layer.bias_base_var))
    return SpikeSlab(logit, on_host(np.asarray(slab.mean)[:, None], np.asarray(slab.var)[:, None]))


def _flat(slab: Moments) -> Moments:
    """Groups of one as biases."""
    return on_host(slab.mean[:, 0], slab.var[:, 0])


def _moved(layer: Layer, centre: Any) -> Layer:
    """The same function of the inputs with another centre."""
    centre = np.asarray(centre, np.float32)
    moved = recentred(Belief(layer.weight, layer.bias, layer.centre), centre)  # type: ignore[arg-type]
    return layer._replace(bias=moved.bias, centre=centre)


def _in_single(layer: Layer) -> Layer:
    """As the engine has it."""
    return layer._replace(weight=on_host(*layer.weight, np.float32), bias=on_host(*layer.bias, np.float32))


def _taken(factors: Mapping[int, Site], place: Any) -> dict[int, Site]:
    return {client: Site(site.prec[place], site.slope[place]) for client, site in factors.items()}
