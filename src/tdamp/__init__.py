"""tdamp: neural networks trained by message passing (EM-TDAMP)."""

from . import datasets, export, metrics
from .beliefs import Message, Moments
from .estimators import Distribution, TDAMPClassifier, TDAMPRegressor
from .export.store import ModelFileError
from .network import Network
from .outcome import Outcome, TrainingWarning
from .path import SparsityPath, sparsity_path
from .predict import class_probs, log_class_probs, mean_network, output_moments, predictive
from .saving import load, save
from .settings import Settings
from .training import Fitted, fit

__all__ = [
    "Distribution",
    "Fitted",
    "Message",
    "ModelFileError",
    "Moments",
    "Network",
    "Outcome",
    "Settings",
    "SparsityPath",
    "TDAMPClassifier",
    "TDAMPRegressor",
    "TrainingWarning",
    "class_probs",
    "datasets",
    "export",
    "fit",
    "load",
    "log_class_probs",
    "mean_network",
    "metrics",
    "output_moments",
    "predictive",
    "save",
    "sparsity_path",
]
__version__ = "0.1.0"
