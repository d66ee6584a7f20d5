"""The scikit-learn face of Algorithm 1: `TDAMPRegressor`, `TDAMPClassifier`, `sparsity_path`."""

from ..numerics.distribution import Distribution
from .classifier import TDAMPClassifier
from .regressor import TDAMPRegressor

__all__ = ["Distribution", "TDAMPClassifier", "TDAMPRegressor"]
