"""The methods of the evaluation by name; each is imported when it is used."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from ..core.jobs import Method


@dataclass(frozen=True)
class Listed:
    """Where a method is, and whether it trains jobs that differ only in `keep` together."""

    where: str
    keeps_together: bool = True


METHODS = {
    "tdamp": Listed("tdamp_bench.methods.tdamp_configurations:Tdamp", keeps_together=False),
    "tdamp_paper": Listed("tdamp_bench.methods.tdamp_configurations:Paper", keeps_together=False),
    "amp": Listed("tdamp_bench.methods.baselines.amp:Amp", keeps_together=False),
    "adam": Listed("tdamp_bench.methods.baselines.gradient_methods:Adam"),
    "early_stop": Listed("tdamp_bench.methods.baselines.gradient_methods:EarlyStop"),
    "group_lasso": Listed("tdamp_bench.methods.baselines.gradient_methods:GroupLasso"),
    "group_snip": Listed("tdamp_bench.methods.baselines.gradient_methods:GroupSnip"),
    "magnitude": Listed("tdamp_bench.methods.baselines.gradient_methods:Magnitude"),
    "adamw": Listed("tdamp_bench.methods.baselines.gradient_methods:AdamW"),
    "magnitude_adamw": Listed("tdamp_bench.methods.baselines.gradient_methods:MagnitudeAdamW"),
    "tdamp_federated": Listed("tdamp_bench.methods.tdamp_federated:FederatedTdamp", keeps_together=False),
    "tdamp_federated_paper": Listed("tdamp_bench.methods.tdamp_federated:PrintedTdamp", keeps_together=False),
    "tdamp_skewed": Listed("tdamp_bench.methods.tdamp_federated:SkewedTdamp", keeps_together=False),
    "fedavg_adam": Listed("tdamp_bench.methods.baselines.fedavg:FedAvgAdam"),
    "fedprox": Listed("tdamp_bench.methods.baselines.fedavg:FedProx"),
    "fedavg_group_lasso": Listed("tdamp_bench.methods.baselines.fedavg:FedAvgGroupLasso"),
    "fedavg_group_snip": Listed("tdamp_bench.methods.baselines.fedavg:FedAvgGroupSnip"),
    "fedavg_adamw": Listed("tdamp_bench.methods.baselines.fedavg:FedAvgAdamW"),
    "fedavg_adam_skewed": Listed("tdamp_bench.methods.baselines.fedavg:SkewedFedAvg"),
    "fedavg_adamw_skewed": Listed("tdamp_bench.methods.baselines.fedavg:SkewedFedAvgAdamW"),
    "fedprox_skewed": Listed("tdamp_bench.methods.baselines.fedavg:SkewedFedProx"),
    "tdamp_variant": Listed("tdamp_bench.ablations.methods:Variant", keeps_together=False),
    "tdamp_printed": Listed("tdamp_bench.ablations.methods:Printed", keeps_together=False),
    "tdamp_turbo": Listed("tdamp_bench.ablations.methods:Turbo", keeps_together=False),
    "tdamp_rho": Listed("tdamp_bench.ablations.methods:Rho", keeps_together=False),
    "tdamp_no_pasp": Listed("tdamp_bench.ablations.methods:NoPasp", keeps_together=False),
    "tdamp_margins": Listed("tdamp_bench.ablations.margin_method:Margins", keeps_together=False),
    "tdamp_printed_margins": Listed("tdamp_bench.ablations.margin_method:PrintedMargins", keeps_together=False),
}
OURS = ("tdamp", "tdamp_paper")
PAPERS = ("amp", "adam", "early_stop", "group_lasso", "group_snip")
"""The paper's baselines, and its Adam with early stopping: its claims are judged against these ..."""
STRONG = ("magnitude", "adamw", "magnitude_adamw")
"""... and what is claimed here against these."""
NAMES = {"tdamp": "tdamp", "tdamp_paper": "the method as printed"}
"""What sentences call the variants."""


def load(name: str) -> Method:
    """The method of that name."""
    module, _, kind = METHODS[name].where.partition(":")
    return getattr(importlib.import_module(module), kind)()
