"""The server's part of a round: from the clients' uploads to the next broadcast. Paper: Algorithm 2, steps 1 and 3."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from ..algorithm import m_step
from ..engine import compact, mstep
from ..engine.network import Network
from ..engine.plan import plan_of
from ..engine.state import State, evidence, is_finite, remove
from ..engine.turbo import Layer
from ..factors.priors.catalog import PRIORS
from ..training.best import Best
from ..training.outcome import TrainingWarning
from ..training.sparsity import SparsityControl
from . import calibration
from .aggregation.base import Round, power, shares_of, weighted_sum
from .aggregation.catalog import rule_named
from .aggregation.robust import trust
from .aggregation.step import Velocity, recentred, settled, stepped
from .client import network_of
from .messages import Belief, Broadcast, Upload
from .packing import pack_broadcast, unpack_upload
from .quality import Judged
from .terms import Terms

_m_step = partial(jax.jit, static_argnums=0)(m_step)


class Diverged(ArithmeticError):
    """An aggregate was not finite: the posterior of the round before stays."""


class Server:
    """The federation's posterior, and what the next round needs besides.

    `rows` are the clients' numbers of rows, by client; one that joins later is added when its first upload arrives.
    """

    def __init__(self, terms: Terms, state: State, rows: Mapping[int, float], ids: np.ndarray | None = None) -> None:
        self.terms, self.ids, self.rows, self.rule = terms, ids, dict(rows), rule_named(terms.aggregation)
        self.sparsity = SparsityControl(terms.settings, terms.network, ids)
        self.state: Any = jax.device_get(self.sparsity.initial(state, ids))  # a State of NumPy arrays
        self.kept = [np.arange(n) for n in terms.network.widths[:-1]]
        self.rounds_done = 0
        self.velocity: Velocity | None = None
        self.memory = self.rule.initial(self.state.layers)
        self.best: Best | None = None
        self.log_score: float | None = None  # of the posterior before the last round
        self.posterior_round = 0  # the round that `state` is from
        self.whole: Judged | None = None  # of the last posterior with all units
        self.floored = 0  # cavities of the last round at their floor

    @property
    def network(self) -> Network:
        """The network without the units removed so far."""
        return network_of(self.terms, self.state)

    @property
    def epochs_done(self) -> int:
        """Local epochs so far."""
        return self.rounds_done * self.terms.local_epochs

    @property
    def group_of(self) -> Any:
        """Group ids of the inputs that remain, None if every input is its own group."""
        return None if self.ids is None else self.ids[self.kept[0]]

    def broadcast(self, client: int) -> Broadcast:
        """What this client starts the next round from."""
        anchors = None
        if self.rounds_done:
            anchors = self.rule.anchors(self.state.layers, self.memory, client, power(self.rows, client))
        epochs, total = np.asarray(self.epochs_done, np.int32), sum(self.rows[k] for k in sorted(self.rows))
        broadcast = Broadcast(self.state, self.kept[0].astype(np.int32), anchors, np.asarray(total), epochs)
        return pack_broadcast(broadcast) if self.terms.precision == "factored" else broadcast

    def aggregate(self, uploads: Mapping[int, Upload]) -> None:
        """End the round. The order of the clients is that of their numbers; their weights are their rows' shares.

        Uploads are those that `validate.problem_of_upload` lets pass. If they make no posterior all stays as it was
        (Diverged).
        """
        before = self.rows, self.velocity, self.memory
        try:
            self._aggregate(uploads)
        except Diverged:
            self.rows, self.velocity, self.memory = before
            raise

    def _aggregate(self, uploads: Mapping[int, Upload]) -> None:
        uploads = {k: self.unpacked(uploads[k]) for k in sorted(uploads)}
        self.rows = self.rows | {k: float(upload.n_rows) for k, upload in uploads.items()}
        trusted = trust(self.state.layers, uploads) if self.terms.robust else dict.fromkeys(uploads, 1.0)
        clients = [k for k in uploads if trusted[k] > 0]
        shares = shares_of([self.rows[k] * trusted[k] for k in clients])
        self._score([Judged(uploads[k].judged, uploads[k].errors) for k in clients])
        first, posteriors = not self.rounds_done, {k: self.recentred(uploads[k].posterior) for k in clients}
        result = self.rule.aggregate(
            Round(
                self.state.layers,
                posteriors,
                dict(zip(clients, shares, strict=True)),
                self.rows,
                self.group_of,
                step=1.0 if first else self.terms.step,
                forget=self.terms.forget,
                first=first,
            ),
            self.memory,
        )
        self.memory, self.floored = result.memory, result.floored
        layers = self.take_step(result.layers) if self.rule.server_step else result.layers
        centres = [weighted_sum([uploads[k].posterior[l].centre for k in clients], shares) for l in range(len(layers))]
        losses = [[trusted[k] * loss for loss in uploads[k].losses] for k in clients]
        noise_var = self.next_noise_var([uploads[k] for k in clients], shares)
        self.end_round(layers, centres, noise_var, [sum(each) for each in zip(*losses, strict=True)])

    def unpacked(self, upload: Upload) -> Upload:
        """The upload with a variance for every weight, however it was sent."""
        return unpack_upload(upload, [layer.base_var for layer in self.state.layers])

    def recentred(self, posterior: Sequence[Belief]) -> list[Belief]:
        """A client's posterior with the biases that belong to the server's centres."""
        layers = zip(posterior, self.state.layers, strict=True)
        return [recentred(belief, layer.centre) for belief, layer in layers]

    def take_step(self, averages: Sequence[Layer]) -> list[Layer]:
        """The server's step from its layers to averages.

        The first round takes the average: its move, away from a random start, is no direction to go on in.
        """
        if not self.rounds_done:
            return list(averages)
        step, momentum = self.terms.step, self.terms.momentum
        layers, self.velocity = stepped(self.state.layers, averages, self.velocity, step, momentum)
        return layers

    def end_round(
        self,
        layers: Sequence[Layer],
        centres: Sequence[np.ndarray],
        noise_var: np.ndarray,
        losses: Sequence[np.ndarray] = (),
    ) -> None:
        """Take new layers (in the old centres), move the centres, and update hyperparameters and size.

        Units go by the `losses` of all clients' rows, or, if clients keep them to themselves, by their evidence.
        """
        moved = tuple(settled(layer, centre) for layer, centre in zip(layers, centres, strict=True))
        state = self.state._replace(layers=moved, noise_var=noise_var.astype(self.state.noise_var.dtype))
        if not is_finite(state):
            raise Diverged("the aggregate of this round is not finite; the round before stays")
        self.state = state
        self.rounds_done += 1
        self.posterior_round = self.rounds_done
        self._update_hyperparameters()
        self._remove_units(losses)

    def restore_best(self) -> None:
        """Go back to the best round after the last one, which was not scored; it stays if the one before was best."""
        if self.best is not None and self.best.at < self.rounds_done - 1:
            self.state, self.kept, self.posterior_round = self.best.state, list(self.best.kept), self.best.at

    def _score(self, judged: Sequence[Judged]) -> None:
        """Score the posterior as it is; one that is still to lose units is no candidate for the best, and the last one
        with all units is what pruning is compared with."""
        total = Judged.total(judged)
        self.log_score = calibration.log_score(self.terms.network, total.scores)
        if total.errors is not None and self.log_score is not None and self.network.widths == self.terms.network.widths:
            self.whole = total
        if self.log_score is not None and self.is_settled:
            candidate = Best(self.log_score, self.rounds_done, self.state, self.network, self.kept)
            self.best = candidate.better(self.best)

    @property
    def is_settled(self) -> bool:
        """Whether no more units will be removed."""
        return self.sparsity.is_settled(self.state, self.group_of, self.epochs_done)

    # hyperparameters and size

    def next_noise_var(self, uploads: Sequence[Upload], shares: Sequence[float]) -> np.ndarray:
        """The next noise variance: the clients' own, averaged, or one made of their statistics."""
        old: Any = np.asarray(self.state.noise_var)
        if self.terms.noise_at_clients:
            return np.exp(weighted_sum([np.log(u.noise_var, dtype=np.float64) for u in uploads], shares)).astype(
                old.dtype
            )
        if self.terms.settings.noise_update == "fixed":
            return old
        total = jax.tree.map(lambda *sums: weighted_sum(sums, [1.0] * len(sums)), *(u.noise_stats for u in uploads))
        output = self.terms.network.output
        new = output.damped_noise(old, output.noise_target("em", total, old))
        return np.asarray(mstep.bound_noise(new, self.state.noise_scale)[0], old.dtype)

    def _update_hyperparameters(self) -> None:
        """Base variances, chains and units' probabilities from the new posterior; units may be questioned."""
        s = self.terms.settings
        if not PRIORS[s.prior].in_question and not s.learn_base_var:
            return
        before = self.epochs_done - self.terms.local_epochs
        self.state = self.sparsity.after_warm_up(self.state, self.group_of, before, self.epochs_done)
        plan = plan_of(self.network, s)._replace(noise_every="minibatch", batch_size=0)  # leaves the noise alone
        nothing = mstep.no_stats(self.network, "em", np.asarray(self.state.noise_var).dtype)
        self.state = jax.device_get(_m_step(plan, self.group_of, self.state, nothing)[0])

    def _remove_units(self, losses: Sequence[np.ndarray]) -> None:
        """Remove units by the sparsity control; what is removed is not sent again.

        A warning says once when clients were to send losses and keep them to themselves.
        """
        if self.terms.sends_losses and not losses and self.rounds_done == 1:
            warnings.warn(
                "clients of a private federation do not say what their rows would lose without a unit, so that units "
                "go by the posterior's evidence: where hidden layers are wide the strongest columns may go first. "
                "Check the model against one that keeps all its units, or prune where the rows are.",
                TrainingWarning,
                stacklevel=2,
            )

        def rank(state: State) -> list[np.ndarray]:
            return list(losses) or evidence(state, self.group_of)

        masks, restart = self.sparsity.remaining(self.state, self.group_of, self.epochs_done, rank)
        if masks is not None:
            self._keep_units(masks)
        if restart:
            self.state = jax.device_get(self.sparsity.restarted(self.state, self.group_of))

    def _keep_units(self, masks: list[np.ndarray]) -> None:
        """Drop all other units from the state, the rule's memory and the velocity."""
        if all(mask.all() for mask in masks):
            return
        removed = remove(self.state, masks, self.network.rigid)
        state, _, index = compact.take(removed, self.network, masks, bucket=1)
        self.state, rows = jax.device_get(state), compact.rows_in(self.state.layers, index)
        self.kept = [kept[i] for kept, i in zip(self.kept, index, strict=True)]
        columns = [*index[1:], np.arange(self.terms.network.widths[-1])]
        self.memory = self.rule.take(self.memory, rows, columns)
        if self.velocity:
            places = zip(self.velocity, rows, columns, strict=True)
            self.velocity = [(weight[np.ix_(here, there)], bias[there]) for (weight, bias), here, there in places]
