"""The server's part of a round: from the clients' uploads to the next broadcast. Paper: Algorithm 2, steps 1 and 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from ..algorithm import m_step
from ..engine import compact, mstep, prune
from ..engine.network import Network
from ..engine.plan import plan_of
from ..engine.state import State, evidence, is_finite, question, remove
from ..engine.turbo import Layer
from ..factors.priors.catalog import PRIORS
from ..training.fitted import active_units
from . import calibration, paper_pruning
from .aggregation import site_layers
from .aggregation.averages import shares_of, weighted_sum
from .aggregation.robust import trust
from .aggregation.step import Velocity, average, recentred, settled, stepped
from .client import network_of
from .messages import Belief, Broadcast, Upload
from .packing import opened_upload, packed_broadcast
from .terms import Terms

_m_step = partial(jax.jit, static_argnums=0)(m_step)


class Best(NamedTuple):
    """The posterior with the best log score of rows held out, so far."""

    score: float
    round: int
    state: State
    kept: list[np.ndarray]


class Diverged(ArithmeticError):
    """An aggregate was not finite: the posterior of the round before stays."""


class Server:
    """The federation's posterior, and what the next round needs besides.

    `rows` are the clients' numbers of rows, by client; one that joins later is added when its first upload arrives.
    """

    def __init__(self, terms: Terms, state: State, rows: Mapping[int, float], ids: np.ndarray | None = None) -> None:
        self.terms, self.ids, self.rows = terms, ids, dict(rows)
        self.state: Any = jax.device_get(paper_pruning.begun(terms.settings, state, ids))  # a State of NumPy arrays
        self.kept = [np.arange(n) for n in terms.network.widths[:-1]]
        self.rounds_done = 0
        self.velocity: Velocity | None = None
        self.sites: site_layers.Sites = [({}, {}) for _ in self.state.layers]
        self.best: Best | None = None
        self.log_score: float | None = None  # of the posterior before the last round
        self.posterior_round = 0  # the round that `state` is from
        self.floors = 0  # cavities of the last round at their floor

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
        anchors = None
        if self.terms.aggregation == "sites" and self.rounds_done:
            anchors = site_layers.anchors(self.state.layers, self.sites, client, self._power(client))
        epochs = np.asarray(self.epochs_done, np.int32)
        found = Broadcast(self.state, self.kept[0].astype(np.int32), anchors, np.asarray(self._total), epochs)
        return packed_broadcast(found) if self.terms.precision == "factored" else found

    def aggregate(self, uploads: Mapping[int, Upload]) -> None:
        """The round's end. The order of the clients is that of their numbers; their weights are their rows' shares.

        Uploads are those that `validate.refused` lets pass. If they make no posterior all stays as it was (Diverged).
        """
        before = self.rows, self.velocity, self.sites
        try:
            self._aggregate(uploads)
        except Diverged:
            self.rows, self.velocity, self.sites = before
            raise

    def _aggregate(self, uploads: Mapping[int, Upload]) -> None:
        uploads = {k: self.opened(uploads[k]) for k in sorted(uploads)}
        self.rows = self.rows | {k: float(upload.n_rows) for k, upload in uploads.items()}
        trusted = trust(self.state.layers, uploads) if self.terms.robust else dict.fromkeys(uploads, 1.0)
        clients = [k for k in uploads if trusted[k] > 0]
        shares = shares_of([self.rows[k] * trusted[k] for k in clients])
        self._judge(sum(uploads[k].judged for k in clients))
        here = [self.at_home(uploads[k].posterior) for k in clients]
        if self.terms.aggregation == "sites":
            layers = self._with_sites(dict(zip(clients, here, strict=True)))
        else:
            layers = self.stepped(average(self.state.layers, here, shares, self.terms.aggregation, self._group_of))
        centres = [weighted_sum([uploads[k].posterior[l].centre for k in clients], shares) for l in range(len(layers))]
        self.end_round(layers, centres, self.noise_of([uploads[k] for k in clients], shares))

    def opened(self, upload: Upload) -> Upload:
        """With a variance for every weight, however it was sent."""
        return opened_upload(upload, [layer.base_var for layer in self.state.layers])

    def at_home(self, posterior: Sequence[Belief]) -> list[Belief]:
        """A client's posterior with the biases that belong to the server's centres."""
        layers = zip(posterior, self.state.layers, strict=True)
        return [recentred(belief, layer.centre) for belief, layer in layers]

    def stepped(self, averages: Sequence[Layer]) -> list[Layer]:
        """The server's step from its layers to averages.

        The first round takes the average: its move, away from a random start, is no direction to go on in.
        """
        if not self.rounds_done:
            return list(averages)
        step, momentum = self.terms.step, self.terms.momentum
        layers, self.velocity = stepped(self.state.layers, averages, self.velocity, step, momentum)
        return layers

    def end_round(self, layers: Sequence[Layer], centres: Sequence[np.ndarray], noise_var: np.ndarray) -> None:
        """Take new layers (in the old centres), move the centres, and see to hyperparameters and size."""
        moved = tuple(settled(layer, centre) for layer, centre in zip(layers, centres, strict=True))
        found = self.state._replace(layers=moved, noise_var=noise_var.astype(self.state.noise_var.dtype))
        if not is_finite(found):
            raise Diverged("the aggregate of this round is not finite; the round before stays")
        self.state = found
        self.rounds_done += 1
        self.posterior_round = self.rounds_done
        self._look()
        self._remove()

    def settle(self) -> None:
        """After the last round: back to the best one. The last was not judged; it stays if the one before was best."""
        if self.best is not None and self.best.round < self.rounds_done - 1:
            self.state, self.kept, self.posterior_round = self.best.state, self.best.kept, self.best.round

    def _judge(self, judged: Any) -> None:
        """Of the posterior as it is; one that is still to lose units is no candidate."""
        self.log_score = calibration.log_score(self.terms.network, judged)
        if self.log_score is not None and self.is_settled and not (self.best and self.best.score >= self.log_score):
            self.best = Best(self.log_score, self.rounds_done, self.state, self.kept)

    @property
    def is_settled(self) -> bool:
        """Whether all units are gone that are to go."""
        s = self.terms.settings
        if s.prunes and s.pruning == "paper":
            return paper_pruning.is_reached(s, self.terms.network, self.state, self._group_of, self.ids)
        return not s.prunes or prune.progress(s, self.epochs_done) == 1

    def _with_sites(self, posteriors: Mapping[int, Sequence[Belief]]) -> list[Layer]:
        shares = {k: rows / self._total for k, rows in self.rows.items()}
        if not self.rounds_done:
            self.sites = site_layers.first(self.state.layers, shares)
        powers = {k: self._power(k) for k in posteriors}
        step = self.terms.step if self.rounds_done else 1.0
        layers, self.sites, self.floors = site_layers.update(
            self.state.layers, self.sites, posteriors, powers, shares, step, self.terms.forget, not self.rounds_done
        )
        return layers

    def _power(self, client: int) -> float:
        """How often a client's rows count in its own training; a new client counts as the whole federation."""
        return self._total / self.rows.get(client, self._total)

    # hyperparameters and size

    def noise_of(self, uploads: Sequence[Upload], shares: Sequence[float]) -> np.ndarray:
        """The next noise variance: the clients' own, averaged, or one made of their statistics."""
        old: Any = np.asarray(self.state.noise_var)
        if self.terms.noise == "clients":
            return np.exp(weighted_sum([np.log(u.noise_var, dtype=np.float64) for u in uploads], shares)).astype(
                old.dtype
            )
        if self.terms.settings.noise_update == "fixed":
            return old
        total = jax.tree.map(lambda *sums: weighted_sum(sums, [1.0] * len(sums)), *(u.noise_stats for u in uploads))
        output = self.terms.network.output
        new = output.damped_noise(old, output.noise_target("em", total, old))
        return np.asarray(mstep.bound_noise(new, self.state.noise_scale)[0], old.dtype)

    def _look(self) -> None:
        """Base variances, chains and probabilities of the units from the new posterior; units may come in question."""
        s = self.terms.settings
        if not PRIORS[s.prior].in_question and not s.learn_base_var:
            return
        before = self.epochs_done - self.terms.local_epochs
        if PRIORS[s.prior].in_question and s.pruning != "paper" and before < s.warm_up <= self.epochs_done:
            start = PRIORS[s.prior].start_logit(s.init_active_prob)
            self.state = question(self.state, start, self._group_of, from_here=False)
        plan = plan_of(self.network, s)._replace(noise_every="minibatch", batch_size=0)  # leaves the noise alone
        nothing = mstep.no_stats(self.network, "em", np.asarray(self.state.noise_var).dtype)
        self.state = jax.device_get(_m_step(plan, self._group_of, self.state, nothing)[0])

    def _remove(self) -> None:
        """The exact rule, as far as its schedule has come, or the paper's; what is removed is not sent again."""
        s = self.terms.settings
        if not s.prunes:
            return
        active = active_units(self.state)
        if s.pruning == "paper":
            probs = [np.asarray(layer.active_prob) for layer in self.state.layers]
            masks, acted = prune.paper(s, self.terms.network, active, probs, self._group_of, self.ids)
            self._take(masks)
            if acted:
                self.state = paper_pruning.restarted(s, self.state, self._group_of)
            return
        share = prune.progress(s, self.epochs_done)
        found = evidence(self.state, self._group_of)
        self._take(prune.exact(s, self.terms.network, active, found, self._group_of, share, self.ids))

    def _take(self, masks: list[np.ndarray]) -> None:
        """Only these units, from now on."""
        if all(mask.all() for mask in masks):
            return
        state, _, index = compact.take(remove(self.state, masks), self.network, masks, bucket=1)
        self.state = jax.device_get(state)
        self.kept = [kept[i] for kept, i in zip(self.kept, index, strict=True)]
        columns = [*index[1:], np.arange(self.terms.network.widths[-1])]
        self.sites = site_layers.taken(self.sites, index, columns)
        if self.velocity:
            places = zip(self.velocity, index, columns, strict=True)
            self.velocity = [(weight[np.ix_(here, there)], bias[there]) for (weight, bias), here, there in places]

    @property
    def _group_of(self) -> Any:
        return None if self.ids is None else self.ids[self.kept[0]]

    @property
    def _total(self) -> float:
        return sum(self.rows[k] for k in sorted(self.rows))
