"""A round from sums alone: what clients add up under masks, and the server's next state from the total.

A weighted geometric average needs sum_k rows_k prec_k and sum_k rows_k shift_k of every weight, and nothing of a single
client. Here shifts are taken about the mean of the broadcast and everything is in units that all parties know from
it, so that fixed-point numbers serve: every number becomes a whole number modulo 2^64, in which masks cancel exactly.
Not guaranteed: who sees only sums can neither check nor reject one client's upload.
Oracle: twin, `Server.aggregate` of the same uploads. Paper: eq. (ga), (reg_v_fed), (sigmak_classification).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.mstep import NoiseStats
from ...engine.state import State
from ...numerics.beliefs import Moments
from ..aggregation.base import on_host
from ..aggregation.catalog import RULES, rule_named
from ..aggregation.step import recentred
from ..messages import Arrays, Broadcast, Upload
from ..server import Diverged, Server
from ..terms import Terms

QUANTUM = 2.0**-36
"""The last place of a fixed-point number. A client rounds by at most half of it."""
LIMIT = 2.0**62
"""No total of whole numbers may exceed this: half of what a signed number modulo 2^64 can hold."""


def sums_of(terms: Terms, broadcast: Broadcast, upload: Upload) -> Arrays:
    """What a client adds to the totals: its part of all rows times what it learned, in the broadcast's units.

    A precision counts in precisions of the broadcast, a slope (precision times move of the mean) in precisions times
    standard deviations; centres and the noise's logarithm are differences.
    """
    check(terms)
    share, state = float(upload.n_rows / broadcast.n_rows), broadcast.state
    learned: dict[str, Any] = {"share": np.ones(()), "log_evidence": np.asarray(upload.log_evidence, np.float64)}
    for l, (belief, layer) in enumerate(zip(upload.posterior, state.layers, strict=True)):
        home = recentred(belief, layer.centre)
        for part in ("weight", "bias"):
            old, new = (on_host(*getattr(holder, part)) for holder in (layer, home))
            learned[f"{l}.{part}.prec"] = old.var / new.var
            learned[f"{l}.{part}.slope"] = (old.var / new.var) * (new.mean - old.mean) / np.sqrt(old.var)
        learned[f"{l}.centre"] = np.asarray(belief.centre, np.float64) - layer.centre
    if terms.noise_at_clients:
        learned["noise"] = np.log(upload.noise_var, dtype=np.float64) - np.log(state.noise_var, dtype=np.float64)
    sums: dict[str, Any] = {name: share * array for name, array in learned.items()}
    if not terms.noise_at_clients:  # sums over rows as they are
        sums["noise.weight"] = np.asarray(upload.noise_stats.weight, np.float64) / broadcast.n_rows
        sums["noise.sums"] = upload.noise_stats.sums / _noise_unit(terms, state) / broadcast.n_rows
    return sums | {f"{l}.losses": loss / broadcast.n_rows for l, loss in enumerate(upload.losses)}


def names(terms: Terms) -> list[str]:
    """The names of the sums, in their order: public, so arrays alone have to travel."""
    layers = [
        [f"{l}.weight.prec", f"{l}.weight.slope", f"{l}.bias.prec", f"{l}.bias.slope", f"{l}.centre"]
        for l in range(len(terms.network.widths) - 1)
    ]
    noise = ["noise"] if terms.noise_at_clients else ["noise.weight", "noise.sums"]
    losses = [f"{l}.losses" for l in range(terms.network.n_layers)] if terms.sends_losses else []
    return ["share", "log_evidence", *(name for layer in layers for name in layer), *noise, *losses]


def encoded(sums: Arrays, n_clients: int) -> Arrays:
    """The sums as whole numbers modulo 2^64. ValueError if `n_clients` such numbers could overflow: nothing is cut."""
    bound = LIMIT / n_clients
    numbers = {}
    for name, array in sums.items():
        whole = np.rint(np.asarray(array, np.float64) / QUANTUM)
        if not (np.abs(whole) <= bound).all():  # also for NaN
            raise ValueError(
                f"{name}: a value is not finite or beyond {bound * QUANTUM:.3g}, the most that {n_clients} clients may "
                "send without overflow. Train fewer local epochs in a round, or let this client sit the round out"
            )
        numbers[name] = whole.astype(np.int64).view(np.uint64)
    return numbers


def added(parts: Sequence[Arrays]) -> Arrays:
    """Totals modulo 2^64, whatever the order; with masks that cancel, those of the numbers under the masks."""
    return {name: np.asarray(np.sum([part[name] for part in parts], axis=0, dtype=np.uint64)) for name in parts[0]}


def decoded(totals: Arrays) -> Arrays:
    """The totals as numbers again."""
    return {name: np.asarray(total, np.uint64).view(np.int64) * QUANTUM for name, total in totals.items()}


def absorb(server: Server, totals: Arrays) -> None:
    """The round's end from the (decoded) totals of its clients: equal to `Server.aggregate` but for the rounding."""
    check(server.terms)
    share, average = float(totals["share"]), []
    if not share > 0:
        raise Diverged(f"the clients of this round have {share} of all rows: expected more than none; it is left out")
    for l, layer in enumerate(server.state.layers):
        parts = {part: _posterior(totals, share, f"{l}.{part}", getattr(layer, part)) for part in ("weight", "bias")}
        average.append(layer._replace(**parts))
    centres = [layer.centre + totals[f"{l}.centre"] / share for l, layer in enumerate(server.state.layers)]
    noise = server.next_noise_var([_average_upload(server, totals, share)], [1.0])
    losses = [totals[f"{l}.losses"] for l in range(len(average))] if server.terms.sends_losses else []
    server.end_round(server.take_step(average), centres, noise, losses)


def check(terms: Terms) -> None:
    """Raise ValueError for a federation that needs more of a client than its sums."""
    if not rule_named(terms.aggregation).is_natural_average:
        summable = " or ".join(f'"{name}"' for name, rule in RULES.items() if rule.is_natural_average)
        raise ValueError(f"aggregation={terms.aggregation!r} needs every client's posterior: sums need {summable}")
    if terms.precision != "full":
        raise ValueError(f'precision={terms.precision!r} is no sum over clients: sums need "full"')
    if terms.hold_out:
        raise ValueError(f"hold_out={terms.hold_out} asks each client for a score: sums need hold_out=0")
    if terms.robust:
        raise ValueError("robust=True looks at every client's upload: who sees only sums cannot")


def _posterior(totals: Arrays, share: float, name: str, old: Moments) -> Moments:
    prec, slope = totals[f"{name}.prec"] / share, totals[f"{name}.slope"] / share
    if not (prec > 0).all():
        raise Diverged(f"{name}: a total precision is not positive; the round before stays. Check the clients' numbers")
    mean, var = (np.asarray(part, np.float64) for part in old)
    return on_host(mean + np.sqrt(var) * slope / prec, var / prec)


def _average_upload(server: Server, totals: Arrays, share: float) -> Upload:
    """The noise in the totals, as the upload of one client that had all rows."""
    noise: Any = np.asarray(server.state.noise_var)
    stats: Any = NoiseStats(0, 0)  # type: ignore[arg-type]
    if server.terms.noise_at_clients:
        noise = np.exp(np.log(noise, dtype=np.float64) + totals["noise"] / share)
    else:
        stats = NoiseStats(totals["noise.weight"], totals["noise.sums"] * _noise_unit(server.terms, server.state))  # type: ignore[arg-type]
    return Upload((), noise, stats, totals["log_evidence"] / share, np.asarray(share), np.zeros(2))


def _noise_unit(terms: Terms, state: State) -> np.ndarray:
    """Unit of the noise statistics' sums."""
    return terms.network.output.noise_unit(np.asarray(state.noise_var, np.float64))
