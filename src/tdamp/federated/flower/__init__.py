"""A federation on Flower: clients and a server on machines of their own. Needs the extra `federated`.

`client_app` makes a ClientApp of a function that gives a client's rows, `server_app` a ServerApp of an estimator, and
`federate` is what the latter does. `tdamp federate app` writes both for tables in files (`flower.tables`).
Oracle: bit for bit the result of `federated_fit` with the same clients, seeds and rows.
"""

from .client import client_app
from .membership import Rules, TooFew
from .server import federate, server_app
from .strategy import FedPosterior, Stalled

__all__ = ["FedPosterior", "Rules", "Stalled", "TooFew", "client_app", "federate", "server_app"]
