"""Figures from the literature, on the same tables and sizes of networks: mean test RMSE and mean test NLL, as printed.

PBP: Hernández-Lobato and Adams (2015). MC dropout: Gal and Ghahramani (2016). Deep ensembles: Lakshminarayanan, Pritzel
and Blundell (2017). They have two digits after the point, and are compared with means that are not rounded.
"""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """Of one method on one table."""

    rmse: float
    nll: float


LABELS = {"pbp": "PBP", "mc_dropout": "MC dropout", "deep_ensembles": "Deep ensembles"}
PUBLISHED: dict[str, dict[str, Published]] = {
    name: dict(zip(LABELS, map(Published._make, figures), strict=True))
    for name, figures in {
        "boston": ((3.01, 2.57), (2.97, 2.46), (3.28, 2.41)),
        "concrete": ((5.67, 3.16), (5.23, 3.04), (6.03, 3.06)),
        "power_plant": ((4.12, 2.84), (4.02, 2.80), (4.11, 2.79)),
        "protein": ((4.73, 2.97), (4.36, 2.89), (4.71, 2.83)),
        "wine_red": ((0.64, 0.97), (0.62, 0.93), (0.64, 0.94)),
        "yacht": ((1.02, 1.63), (1.11, 1.55), (1.58, 1.18)),
    }.items()
}


def best(name: str, key: str) -> float:
    """The lowest published figure of a table."""
    return min(getattr(published, key) for published in PUBLISHED[name].values())
