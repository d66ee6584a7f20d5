"""Sums under masks on Flower: SecAgg+ between tdamp's clients and server. Needs the extra `federated`.

Flower has SecAgg+ for its older kind of app only. It adds small whole numbers, cuts what is beyond a range without a
word, and sends metrics and row counts in the open. So a client sends nothing but its sums (`secure_sum.encoded`), cut
into digits that pass exactly; its rows are among them. The server's side gets the totals and no upload. With `privacy`
the sums are clipped moves to which the clients have added their noise: they need not trust the server with it.
No rows are held out, so that a regression's predictions are not calibrated: their intervals may be too narrow.
Not guaranteed: SecAgg+ is safe from a server that keeps to the protocol; one that invents clients can unmask others.
Oracle: twin, the same federation in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._optional import need
from ..client import Client
from ..messages import broadcast_from, named
from ..privacy import central, secure_sum
from ..server import Server

if TYPE_CHECKING:
    from flwr.app import Context
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp

common: Any = need("flwr.common", "federated")
NumPyClient: Any = need("flwr.client", "federated").NumPyClient
Strategy: Any = need("flwr.server.strategy", "federated").Strategy

DIGIT_BITS, DIGITS = 22, 3
"""A number modulo 2^64 in digits of so many bits: a SecAgg+ sum is modulo 2^32, so it has room for MOST_CLIENTS."""
MOST_CLIENTS = 2 ** (32 - DIGIT_BITS) - 1
HALF = 2.0 ** (DIGIT_BITS - 1)
"""Taken off every digit: SecAgg+ wants numbers around zero."""


def digits_of(number: np.ndarray) -> np.ndarray:
    """Digits of whole numbers modulo 2^64, the lowest first, (DIGITS, ...): exact in SecAgg+'s quantisation."""
    low = np.uint64(2**DIGIT_BITS - 1)
    digits = [(number >> np.uint64(DIGIT_BITS * d)) & low for d in range(DIGITS)]
    return np.stack(digits).astype(np.float64) - HALF


def total_of(mean: np.ndarray, n_clients: int) -> np.ndarray:
    """The total modulo 2^64 of the clients whose digits have this mean."""
    digits = np.rint((mean + HALF) * n_clients).astype(np.uint64)
    places = np.uint64(2**DIGIT_BITS) ** np.arange(DIGITS, dtype=np.uint64)
    return (digits * places.reshape(-1, *[1] * (mean.ndim - 1))).sum(0, dtype=np.uint64)


def client_app(
    client_of: Callable[[Context], Client], privacy: central.Privacy | None = None, honest: int = 1
) -> ClientApp:
    """A ClientApp; `client_of` finds the client of a node, with its rows and the federation's terms.

    With `privacy`, noise is enough if `honest` clients of a round add theirs (see `central.noisy_move`).
    """
    mods: Any = [need("flwr.client.mod", "federated").secaggplus_mod]
    app: Any = need("flwr.clientapp", "federated").ClientApp
    return app(lambda context: SecureSumClient(client_of(context), privacy, honest).to_client(), mods=mods)


def server_app(server: Server, n_clients: int, *, moves: bool = False, options: Any = None) -> ServerApp:
    """A ServerApp that trains `server` in its rounds with all of `n_clients`.

    `moves` says that the clients send private moves; `options` are those of SecAggPlusWorkflow.
    """
    if not 2 <= n_clients <= MOST_CLIENTS:
        raise ValueError(f"n_clients={n_clients}: expected 2 to {MOST_CLIENTS}, so that masks hide and totals fit")
    server_side: Any = need("flwr.server", "federated")
    workflow: Any = need("flwr.server.workflow", "federated")
    app = need("flwr.serverapp", "federated").ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        rounds = server.terms.rounds - server.rounds_done
        legacy = server_side.LegacyContext(
            context, server_side.ServerConfig(rounds), SecureSumStrategy(server, n_clients, moves)
        )
        chosen = {"num_shares": 1.0, "reconstruction_threshold": 0.6} | (options or {})
        exact: dict[str, Any] = {"max_weight": 1.0, "clipping_range": HALF, "quantization_range": 2**DIGIT_BITS}
        workflow.DefaultWorkflow(workflow.SecAggPlusWorkflow(**chosen, **exact))(grid, legacy)
        if server.rounds_done < server.terms.rounds:
            raise RuntimeError(
                f"{server.rounds_done} of {server.terms.rounds} rounds were summed: too few clients kept to the "
                "protocol in the others. Flower's log says which step they missed"
            )

    return app


class SecureSumStrategy(Strategy):
    """The server's side: sends its broadcast, gets totals."""

    def __init__(self, server: Server, n_clients: int, moves: bool = False) -> None:
        self.server, self.n_clients, self.moves = server, n_clients, moves

    def initialize_parameters(self, client_manager: Any) -> Any:
        """None to send before the first round; Flower must not ask a client for any."""
        return common.ndarrays_to_parameters([])

    def configure_fit(self, server_round: int, parameters: Any, client_manager: Any) -> list[Any]:
        """The broadcast, to all clients."""
        client_manager.wait_for(self.n_clients)
        sent = named(self.server.broadcast(0))
        config: Any = {"names": ",".join(sent), "clients": self.n_clients}
        fit = common.FitIns(common.ndarrays_to_parameters(list(sent.values())), config)
        return [(proxy, fit) for proxy in client_manager.all().values()]

    def aggregate_fit(self, server_round: int, results: Sequence[Any], failures: Any) -> tuple[Any, dict[str, Any]]:
        """The round's end. All results hold the same: the mean of the digits of those clients that remained."""
        means = common.parameters_to_ndarrays(results[0][1].parameters)
        names = ["moves"] if self.moves else secure_sum.names(self.server.terms)
        totals = secure_sum.decoded(dict(zip(names, (total_of(mean, len(results)) for mean in means), strict=True)))
        if self.moves:
            central.absorb(self.server, totals["moves"], self.n_clients)
        else:
            secure_sum.absorb(self.server, totals)
        return common.ndarrays_to_parameters([]), {}

    def configure_evaluate(self, server_round: int, parameters: Any, client_manager: Any) -> list[Any]:
        """No client is asked."""
        return []

    def aggregate_evaluate(self, server_round: int, results: Any, failures: Any) -> tuple[None, dict[str, Any]]:
        """Nothing came."""
        return None, {}

    def evaluate(self, server_round: int, parameters: Any) -> None:
        """The server has no rows."""


class SecureSumClient(NumPyClient):
    """The client's side: its sums in digits, and nothing beside them."""

    def __init__(self, client: Client, privacy: central.Privacy | None = None, honest: int = 1) -> None:
        self.client, self.privacy, self.honest = client, privacy, honest

    def fit(self, parameters: Any, config: dict[str, Any]) -> tuple[list[np.ndarray], int, dict[str, Any]]:
        """Train, and send the sums in digits; one "example", no metrics."""
        terms = self.client.terms
        arrays = dict(zip(config["names"].split(","), parameters, strict=True))
        broadcast = broadcast_from(arrays, terms.network.n_layers, terms.settings.prior)
        upload = self.client.train(broadcast)
        if self.privacy is None:
            sums = secure_sum.sums_of(terms, broadcast, upload)
        else:
            move = central.moves_of(terms, broadcast, upload)
            sums = {"moves": central.noisy_move(self.privacy, move, self.honest, np.random.default_rng())}
        return [digits_of(whole) for whole in secure_sum.encoded(sums, int(config["clients"])).values()], 1, {}
