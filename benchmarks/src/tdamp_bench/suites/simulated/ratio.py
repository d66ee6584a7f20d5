"""What the draws say together.

ratio = sum over draws of the mean epistemic variance / sum over draws of the mean squared error against the function:
one if the network knows how wrong it is, on the whole; below one it is too sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.record import Verdict

LOW, HIGH = 0.8, 1.25
RESAMPLES = 2000
PARTS = 3
"""Of the range of noise, equal in the logarithm, for which the ratio is shown apart."""
Draws = Sequence[dict[str, Any]]


def pooled(draws: Draws, over: str = "epistemic_var", under: str = "squared_error") -> float:
    """Ratio of the sums."""
    return float(_column(draws, over).sum() / _column(draws, under).sum())


def standard_error(draws: Draws) -> float:
    """Of the ratio: its standard deviation over draws drawn again, with replacement (bootstrap)."""
    pick = np.random.default_rng(0).integers(0, len(draws), (RESAMPLES, len(draws)))
    variances, errors = (_column(draws, key)[pick].sum(1) for key in ("epistemic_var", "squared_error"))
    return float(np.std(variances / errors))


def summary(draws: Draws, noise: tuple[float, float]) -> dict[str, Any]:
    """All that is reported; `noise` are the bounds of its standard deviation, relative to the function's."""
    each = _column(draws, "epistemic_var") / _column(draws, "squared_error")
    return {
        "draws": len(draws),
        "ratio": pooled(draws),
        "ratio_standard_error": standard_error(draws),
        "median_ratio": float(np.median(each)),
        "quartiles": [float(q) for q in np.quantile(each, (0.25, 0.75))],
        "coverage": float(_column(draws, "coverage").mean()),
        "coverage_standard_error": float(_column(draws, "coverage").std() / np.sqrt(len(draws))),
        "total_ratio": pooled(draws, "total_var", "total_error"),
        "noise_ratio": float(np.median(_column(draws, "learned_noise_var") / _column(draws, "noise_var"))),
        "squared_error": float(_column(draws, "squared_error").mean()),
        "by_noise": _by_noise(draws, noise),
    }


def _by_noise(draws: Draws, noise: tuple[float, float]) -> list[dict[str, Any]]:
    bounds = np.geomspace(*noise, PARTS + 1)
    which = np.searchsorted(bounds[1:-1], np.sqrt(_column(draws, "noise_var")))
    ratios = []
    for part in range(PARTS):
        here = [one for one, at in zip(draws, which, strict=True) if at == part]
        if here:
            ratios.append(
                {"from": bounds[part], "to": bounds[part + 1], "draws": len(here), "ratio": pooled(here)}
                | {"squared_error": float(_column(here, "squared_error").mean())}
                | {"noise_ratio": float(np.median(_column(here, "learned_noise_var") / _column(here, "noise_var")))}
                | {"coverage": float(_column(here, "coverage").mean())}
            )
    return ratios


def verdicts(summarised: dict[str, Any]) -> list[Verdict]:
    """The ratio may miss one by a quarter."""
    claim = "Epistemic variance / squared error of the mean, at"
    return [
        Verdict(f"{claim} least", summarised["ratio"], ">=", LOW),
        Verdict(f"{claim} most", summarised["ratio"], "<=", HIGH),
    ]


def _column(draws: Draws, key: str) -> np.ndarray:
    return np.array([one[key] for one in draws])
