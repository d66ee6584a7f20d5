"""The scikit-learn face of Algorithm 1: `TDAMPRegressor`, `TDAMPClassifier`, `sparsity_path`."""

from typing import TypeAlias

from ..numerics.distribution import Distribution
from ..persistence.save import load, save
from . import registration  # noqa: F401  what can be saved
from .classifier import TDAMPClassifier
from .regressor import TDAMPRegressor

Estimator: TypeAlias = TDAMPRegressor | TDAMPClassifier

ESTIMATORS = {kind.__name__: kind for kind in (TDAMPRegressor, TDAMPClassifier)}
ESTIMATOR_OF_TASK: dict[str, type[Estimator]] = {kind._task: kind for kind in ESTIMATORS.values()}
"""The estimators by the names of their classes."""

__all__ = ["Distribution", "TDAMPClassifier", "TDAMPRegressor", "load", "save"]
