"""Bayesian federated learning: clients send posteriors, the server multiplies them. Paper: Section IV, Algorithm 2.

`federated_fit` runs a federation in one process; `tdamp.federated.flower` runs it on Flower, over the network.
"""

from .fit import FederatedFit, federated_fit
from .privacy.central import Privacy
from .terms import Terms

__all__ = ["FederatedFit", "Privacy", "Terms", "federated_fit"]
