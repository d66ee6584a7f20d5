"""A power law through the upper part of a series: seconds = constant x size^exponent.

Size is the number of rows, or of the weights' products: a weight of the first layer takes part in four matrix products,
one of any other layer in nine (gemm.PRODUCTS), so that a deeper network costs more for each weight than a shallow one.
The exponent against the plain number of weights stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.record import Verdict

UPPER = 4
"""The largest sizes of a series are fitted: small ones cost their calls, not their arithmetic."""
WITHIN = 0.1
SIZES = {"rows": "rows", "width": "products", "depth": "products", "kept": "products"}


def fit(sizes: Sequence[float], seconds: Sequence[float]) -> dict[str, float]:
    """Least squares in the logarithms: the exponent and its standard error (NaN for two points)."""
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(seconds, float))
    centred = x - x.mean()
    exponent = float(centred @ y / (centred @ centred))
    left = y - y.mean() - exponent * centred
    error = np.sqrt(left @ left / (len(x) - 2) / (centred @ centred)) if len(x) > 2 else np.nan
    return {
        "exponent": exponent,
        "standard_error": float(error),
        "constant": float(np.exp(y.mean() - exponent * x.mean())),
    }


def of(series: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    """The laws of a series, by medians and by minima, and the share of the roofline at its largest size."""
    key = SIZES[series]
    upper = sorted(points, key=lambda point: point[key])[-UPPER:]
    sizes = [point[key] for point in upper]
    return {
        "size": key,
        "fitted_to": sizes,
        "by_median": fit(sizes, [point["median"] for point in upper]),
        "by_minimum": fit(sizes, [point["least"] for point in upper]),
        "by_weights": None if key == "rows" else fit([p["weights"] for p in upper], [p["median"] for p in upper]),
        "roofline_share": upper[-1]["roofline_share"],
        "best_roofline_share": upper[-1]["best_roofline_share"],
    }


def verdicts(laws: dict[str, Any]) -> list[Verdict]:
    """Each exponent is one, give or take WITHIN."""
    return [
        Verdict(f"Distance of the exponent from 1: {name}", abs(law["by_median"]["exponent"] - 1), "<=", WITHIN)
        for name, law in laws.items()
    ]
