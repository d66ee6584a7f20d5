"""A table and a seed: all units, a share of them, and as few as the fit finds, on the same rows."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.training.outcome import TrainingWarning

from .tables import Rows, Table

TEST_SHARE = 0.3
KEEP = 0.3
WARNING = "pruning to "
"""What the warning of a loss begins with."""


def run(table: Table, seed: int, rows: int | None = None, epochs: int | str = "auto") -> dict[str, Any]:
    """The line of a trial; of at most so many rows."""
    drawn = table.draw(seed)
    drawn = Rows(drawn.x[:rows], drawn.y[:rows], drawn.groups)
    split = train_test_split(drawn.x, drawn.y, test_size=TEST_SHARE, random_state=seed)
    full, full_scores = _fitted(table, None, drawn, split, seed, epochs)
    line = {"table": table.name, "seed": seed, "classes": table.classes, "full": full}
    for name, keep in (("pruned", KEEP), ("auto", "auto")):
        fit, scores = _fitted(table, keep, drawn, split, seed, epochs)
        lost = full_scores - scores
        fit |= {"lost": full["quality"] - fit["quality"], "lost_log_score": float(lost.mean())}
        line[name] = fit | {"lost_log_score_se": float(lost.std(ddof=1) / np.sqrt(len(lost)))}
    return line


def _fitted(
    table: Table, keep: float | str | None, drawn: Rows, split: list[np.ndarray], seed: int, epochs: int | str
) -> tuple[dict[str, Any], np.ndarray]:
    """What a fit left and warned of, and the log scores of the test rows."""
    x, x_test, y, y_test = split
    kind: Any = TDAMPClassifier if table.classes else TDAMPRegressor
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrainingWarning)
        model = kind(table.hidden, keep=keep, groups=drawn.groups, max_epochs=epochs, random_state=seed).fit(x, y)
    texts = [str(one.message) for one in caught if WARNING in str(one.message)]
    left, total = model.n_groups_
    fit = {"quality": model.score(x_test, y_test), "groups": left, "total": total, "warned": bool(texts)}
    fit |= {"widths": model.fitted_.network.widths, "seconds": round(time.perf_counter() - started, 1)}
    return fit, _log_scores(model, x_test, y_test)


def _log_scores(model: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of each row."""
    if isinstance(model, TDAMPRegressor):
        return np.asarray(model.predict_distribution(x).log_density(y), np.float64)
    return model.predict_log_proba(x)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
