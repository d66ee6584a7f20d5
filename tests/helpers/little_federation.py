"""A federation small enough for tests. All networks have four inputs and six hidden units: one compilation serves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tdamp import Network, Settings
from tdamp.engine.state import init
from tdamp.federated.client import Client
from tdamp.federated.messages import Upload
from tdamp.federated.rounds import run_rounds
from tdamp.federated.server import Server
from tdamp.federated.terms import Terms
from tdamp.training.data import Data, check_data

NETWORKS = {
    "regression": Network((4, 6, 2), "regression"),
    "classification": Network((4, 6, 3), "classification"),
}
TASKS = list(NETWORKS)
ROWS = 64
"""Of a client, at most, to share a compilation."""


def problem(task: str, rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A smooth function of four inputs with a little noise: two numbers, or the class of the largest of three."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4)).astype(np.float32)
    z = np.stack([np.abs(x[:, 0]), x[:, 1] + 0.5 * x[:, 2], x[:, 3]], 1) + 0.1 * rng.normal(size=(rows, 3))
    return (x, z.argmax(1)) if task == "classification" else (x, z[:, :2].astype(np.float32))


def terms(task: str, rounds: int = 3, local_epochs: int = 2, **changes: Any) -> Terms:
    """Terms with these fields changed, be they the settings' or their own."""
    own = {name: value for name, value in changes.items() if name in Terms.__dataclass_fields__}
    rest = {name: value for name, value in changes.items() if name not in own}
    settings = Settings(max_epochs=rounds * local_epochs, batch_size=16, data_weight=(1.0, 2.0, 3.0))
    return Terms(NETWORKS[task], replace(settings, **rest), rounds, local_epochs, **own)


def federation(
    terms: Terms, x: np.ndarray, y: np.ndarray, parts: Sequence[np.ndarray], weight: np.ndarray | None = None
) -> tuple[Server, list[Client]]:
    """A server, and a client for each part of the rows."""
    whole = check_data(terms.network, x, y, weight)
    state = init(terms.network, terms.settings, np.random.default_rng(terms.seed), *whole)
    clients = [Client(k, terms, Data(*(array[part] for array in whole))) for k, part in enumerate(parts)]
    return Server(terms, state, {client.number: client.n_rows for client in clients}), clients


def trained(server: Server, clients: Sequence[Client], **options: Any) -> Server:
    """After its rounds."""
    for _ in run_rounds(server, clients, **options):
        pass
    return server


def uploads_of(server: Server, clients: Sequence[Client]) -> dict[int, Upload]:
    """What the clients answer to the next broadcast."""
    return {client.number: client.train(server.broadcast(client.number)) for client in clients}
