"""The arms by part of the figure: what each changes, and what the tables and legends call it.

They change one thing of tdamp's preset; those of the method as printed, and `tdamp_rho`, one thing of `Settings.paper`.
"""

from __future__ import annotations

from dataclasses import replace

from ..core.jobs import Config
from ..figures.plan import Curve

FIXED_NOISE = (0.001, 0.01, 0.1, 1.0, 10.0)
"""Noise variances that a person might try; outputs have variance one."""
SHARES = (0.5, 0.2)


def _variant(name: str, label: str, config: Config | None = None, keeps: tuple[float, ...] = (1.0,)) -> Curve:
    return Curve("tdamp_variant", keeps=keeps, config=config or {}, name=name, label=label)


TURBO = tuple(
    Curve("tdamp_turbo", keeps=(1.0, 0.5), config={"arm": name}, name=name, label=label)
    for name, label in (
        ("turbo", "turbo: exact spike-slab"),
        ("ep", "EP: Gaussians after each minibatch"),
        ("ep_epoch", "EP: Gaussians once an epoch"),
        ("turbo_printed", "as printed: exact spike-slab"),
        ("ep_printed", "as printed, EP after each minibatch"),
        ("ep_epoch_printed", "as printed, EP once an epoch"),
    )
)
RHO = (
    Curve("tdamp_rho", keeps=SHARES, config={"arm": "fixed"}, name="rho_fixed", label="rho fixed at the target"),
    Curve("tdamp_rho", keeps=SHARES, config={"arm": "em"}, name="rho_em", label="plain EM on rho"),
    Curve("tdamp_printed", keeps=SHARES, config={}, name="rho_paper", label="the method as printed"),
    _variant("exact_power_one", "exact rule, PasP with power 1", {"pasp": "paper"}, SHARES),
    _variant("exact", "exact rule, anchored PasP", {}, SHARES),
)
NOISE = (
    _variant("learned", "learned"),
    *(_variant(f"noise_{v:g}", f"fixed at {v:g}", {"noise_update": "fixed", "noise_init": v}) for v in FIXED_NOISE),
)
PASP = (
    _variant("anchored", "anchored PasP"),
    _variant("power_one", "PasP with power 1", {"pasp": "paper"}),
    Curve("tdamp_printed", config={}, name="as_printed", label="the method as printed"),
    Curve(
        "tdamp_no_pasp", config={"arm": "whole"}, name="whole", label="no PasP: all rows as one batch", data=("boston",)
    ),
    Curve("tdamp_no_pasp", config={"arm": "averaged"}, name="averaged", label="no PasP: minibatches averaged"),
    Curve("tdamp_no_pasp", config={"arm": "alone"}, name="alone", label="no PasP: the last minibatch"),
)
PARTS = {"turbo": TURBO, "sparsity": RHO, "noise": NOISE, "pasp": PASP}
HEADS = {
    "turbo": "Module B",
    "sparsity": "Rule for rho",
    "noise": "Noise variance",
    "pasp": "Posterior as prior",
}

QUICK = {
    "boston": ("anchored", "whole", "as_printed", "turbo_printed", "ep_printed"),
    "mnist": ("turbo", "ep", "rho_fixed", "exact", "learned", "noise_0.1", "noise_1"),
}
"""A quick run's arms: nearly all of its time is compilation, so every kind runs on one of the data sets."""


def quick() -> tuple[Curve, ...]:
    """The arms of a quick run, with all units or half of them."""
    return tuple(
        replace(curve, data=tuple(data for data, names in QUICK.items() if curve.name in names), keeps=curve.keeps[:1])
        for curves in PARTS.values()
        for curve in curves
    )
