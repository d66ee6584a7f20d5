"""Predictions of a model for rows: as a table, scored against the truth, and as the report wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from ..estimators import Distribution, Estimator
    from ..report import Held

STORED_NUMBERS = 20_000
"""Most numbers of test predictions in a model folder: enough for the report's pictures, a few hundred kilobytes."""


@dataclass(frozen=True)
class Predictions:
    """Predictions of a regression with the names of its targets, or of a classification with its classes."""

    distribution: Distribution | None
    probs: np.ndarray | None
    targets: tuple[str, ...]
    classes: np.ndarray | None

    @classmethod
    def from_estimator(cls, estimator: Estimator, x: np.ndarray, targets: Sequence[str]) -> Predictions:
        """Predict rows of encoded inputs."""
        from ..estimators import TDAMPClassifier

        rows = with_feature_names(estimator, x)
        if isinstance(estimator, TDAMPClassifier):
            return cls(None, estimator.predict_proba(rows), tuple(targets), estimator.classes_)
        return cls(estimator.predict_distribution(rows), None, tuple(targets), None)

    def table(self, level: float) -> pd.DataFrame:
        """A row for each input row: mean, std, low, high; or class and the probability of each."""
        import pandas as pd

        if self.probs is not None and self.classes is not None:
            best = pd.DataFrame({"class": self.classes[self.probs.argmax(1)]})
            return pd.concat([best, pd.DataFrame(self.probs, columns=[f"p_{c}" for c in self.classes])], axis=1)
        assert self.distribution is not None
        parts = {
            "mean": self.distribution.mean,
            "std": self.distribution.std,
            "low": self.distribution.quantile(0.5 - level / 2),
            "high": self.distribution.quantile(0.5 + level / 2),
        }
        several = self.distribution.mean.ndim == 2
        return pd.DataFrame(
            {
                (f"{target}_{name}" if several else name): (values[:, i] if several else values)
                for i, target in enumerate(self.targets)
                for name, values in parts.items()
            }
        )

    def codes(self, y: np.ndarray) -> np.ndarray:
        """Class labels as indices into the classes."""
        return np.searchsorted(np.asarray(self.classes), y)

    def scores(self, y: np.ndarray) -> dict[str, Any]:
        """Scores against the true values, which `fit_output` puts into words."""
        from .. import metrics

        if self.probs is not None:
            codes = self.codes(y)
            return {
                "rows": len(y),
                "accuracy": 1 - metrics.error_rate(codes, self.probs),
                "accuracy_of_commonest": float(np.bincount(codes).max() / len(codes)),
                "log_score": metrics.class_log_score(codes, self.probs),
                "ece": metrics.ece(codes, self.probs),
            }
        assert self.distribution is not None
        parts = y, self.distribution.mean, self.distribution.std, self.distribution.dof
        targets = np.stack([np.reshape(a, (len(y), -1)) for a in parts]).transpose(2, 0, 1)
        each = [_regression(*target) for target in targets]
        log_score = sum(metrics.log_score(*target) for target in targets)
        if len(each) == 1:
            return {"rows": len(y), **each[0], "log_score": log_score}
        return {
            "rows": len(y),
            "r2": _mean([one["r2"] for one in each]),
            "coverage_95": _mean([one["coverage_95"] for one in each]),
            "log_score": log_score,
            "by_target": dict(zip(self.targets, each, strict=True)),
        }

    def to_json(self, y: np.ndarray) -> dict[str, Any]:
        """Predictions and true values as JSON for the model folder: all rows, or as many as STORED_NUMBERS allow."""
        parts: dict[str, np.ndarray]
        if self.probs is not None:
            parts = {"y": self.codes(y), "probs": self.probs}
        else:
            assert self.distribution is not None
            parts = {"y": y, **self.distribution._asdict()}
        rows = max(1, STORED_NUMBERS // sum(part[:1].size for part in parts.values()))
        return {name: _short(part[:rows].tolist()) for name, part in parts.items()}


def held_from_json(stored: dict[str, Any], where: str) -> Held:
    """Predictions of held-out rows for the report, from what `Predictions.to_json` returned."""
    from ..report import Held

    parts = {name: np.asarray(values) for name, values in stored.items()}
    return Held(**parts, where=where)


def with_feature_names(estimator: Estimator, x: np.ndarray) -> Any:
    """Rows with the names of the inputs, if the estimator knows them."""
    import pandas as pd

    names = getattr(estimator, "feature_names_in_", None)
    return x if names is None else pd.DataFrame(x, columns=names)


def _regression(y: np.ndarray, mean: np.ndarray, std: np.ndarray, dof: np.ndarray) -> dict[str, float | None]:
    from .. import metrics

    spread = float(np.std(y))
    rmse = metrics.rmse(y, mean)
    return {
        "r2": 1 - (rmse / spread) ** 2 if spread > 0 else None,
        "rmse": rmse,
        "rmse_of_mean": spread,
        "coverage_95": metrics.coverage(y, mean, std, 0.95, dof),
    }


def _mean(values: list[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _short(values: Any) -> Any:
    """Numbers rounded to seven digits, with which the network computes."""
    if isinstance(values, list):
        return [_short(value) for value in values]
    return float(f"{values:.7g}") if isinstance(values, float) else values
