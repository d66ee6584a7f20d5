"""Predictions of a model for rows: as a table, scored against the truth, and as the report wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from ..estimators import Distribution, Estimator
    from ..report import Held

STORED_NUMBERS = 20_000
"""Most numbers of test predictions in a model folder: enough for the report's pictures, a few hundred kilobytes."""


def predict(estimator: Estimator, x: np.ndarray) -> Distribution | np.ndarray:
    """Predictive distribution of rows of encoded inputs, or the probabilities of their classes."""
    rows = with_feature_names(estimator, x)
    has_classes = estimator.network_.output.has_classes
    return estimator.predict_proba(rows) if has_classes else estimator.predict_distribution(rows)


def table(predicted: Distribution | np.ndarray, names: Sequence[Any], level: float) -> pd.DataFrame:
    """A row for each input row: mean, std, low, high of each target; or class and the probability of each."""
    import pandas as pd

    if isinstance(predicted, np.ndarray):
        best = pd.DataFrame({"class": np.asarray(names)[predicted.argmax(1)]})
        return pd.concat([best, pd.DataFrame(predicted, columns=[f"p_{c}" for c in names])], axis=1)
    low, high = predicted.interval(level)
    parts = {"mean": predicted.mean, "std": predicted.std, "low": low, "high": high}
    several = predicted.mean.ndim == 2
    return pd.DataFrame(
        {
            (f"{target}_{name}" if several else name): (values[:, i] if several else values)
            for i, target in enumerate(names)
            for name, values in parts.items()
        }
    )


def names_of(estimator: Estimator, targets: Sequence[str]) -> Sequence[Any]:
    """The classes of a classifier, otherwise the targets: what the columns of its predictions are."""
    return getattr(estimator, "classes_", targets)


def held(predicted: Distribution | np.ndarray, y: np.ndarray, names: Sequence[Any]) -> Held:
    """Predictions with the true values, class labels as indices into the classes."""
    from ..report import Held

    return Held.of(predicted, np.searchsorted(np.asarray(names), y) if isinstance(predicted, np.ndarray) else y)


def scores(held: Held, names: Sequence[Any]) -> dict[str, Any]:
    """Scores against the true values, which `fit_output` puts into words."""
    from .. import metrics

    if held.probs is not None:
        return {
            "rows": len(held.y),
            "accuracy": 1 - metrics.error_rate(held.y, held.probs),
            "accuracy_of_commonest": float(np.bincount(held.y).max() / len(held.y)),
            "log_score": metrics.class_log_score(held.y, held.probs),
            "ece": metrics.ece(held.y, held.probs),
        }
    each = [_regression(*held.output(i)) for i in range(held.n_outputs)]
    log_score = sum(one.pop("log_score") for one in each)
    if len(each) == 1:
        return {"rows": len(held.y), **each[0], "log_score": log_score}
    return {
        "rows": len(held.y),
        "r2": _mean([one["r2"] for one in each]),
        "coverage_95": _mean([one["coverage_95"] for one in each]),
        "log_score": log_score,
        "by_target": dict(zip(names, each, strict=True)),
    }


def to_json(held: Held) -> dict[str, Any]:
    """Predictions and true values as JSON for the model folder: all rows, or as many as STORED_NUMBERS allow."""
    stored: dict[str, Any] = {}
    if held.probs is not None:
        parts = {"y": held.y, "probs": held.probs}
    else:
        parts = {"y": held.y, **held.distribution._asdict()}
        if np.isinf(parts["dof"]).all():  # JSON has no infinity
            del parts["dof"]
        stored["kind"] = held.kind.__name__
    rows = max(1, STORED_NUMBERS // sum(part[:1].size for part in parts.values()))
    return stored | {name: _short(part[:rows].tolist()) for name, part in parts.items()}


def held_from_json(stored: dict[str, Any], where: str) -> Held:
    """Predictions of held-out rows for the report, from what `to_json` returned."""
    from ..numerics.distribution import KINDS
    from ..report import Held

    parts = {name: np.asarray(values) for name, values in stored.items() if name != "kind"}
    return Held(**parts, where=where, kind=KINDS[stored.get("kind", "Distribution")])


def with_feature_names(estimator: Estimator, x: np.ndarray) -> Any:
    """Rows with the names of the inputs, if the estimator knows them."""
    import pandas as pd

    names = getattr(estimator, "feature_names_in_", None)
    return x if names is None else pd.DataFrame(x, columns=names)


def _regression(y: np.ndarray, predicted: Distribution) -> dict[str, Any]:
    from .. import metrics

    spread = float(np.std(y))
    rmse = metrics.rmse(y, predicted.mean)
    return {
        "r2": 1 - (rmse / spread) ** 2 if spread > 0 else None,
        "rmse": rmse,
        "rmse_of_mean": spread,
        "coverage_95": predicted.covered(y, 0.95),
        "log_score": float(predicted.log_density(y).mean()),
    }


def _mean(values: list[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _short(values: Any) -> Any:
    """Numbers rounded to seven digits, with which the network computes."""
    if isinstance(values, list):
        return [_short(value) for value in values]
    return float(f"{values:.7g}") if isinstance(values, float) else values
