"""tdamp: neural networks trained by message passing (EM-TDAMP).

Names are loaded when they are first used: `tdamp --help` need not wait for JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, export, metrics, report, tables
    from .beliefs import Message, Moments
    from .callbacks import ScalarLogger, TrainingCallback
    from .checkpoint import CheckpointError, CheckpointWarning
    from .estimators import Distribution, TDAMPClassifier, TDAMPRegressor
    from .export.store import ModelFileError
    from .fitted import Fitted
    from .logs import JsonLines
    from .network import Network
    from .outcome import Outcome, TrainingWarning
    from .path import SparsityPath, sparsity_path
    from .predict import class_probs, log_class_probs, mean_network, output_moments, predictive
    from .saving import load, save
    from .settings import Settings
    from .sources import Batches, MemMap, Parquet
    from .training import fit

_HOME = {
    "Batches": "sources",
    "CheckpointError": "checkpoint",
    "CheckpointWarning": "checkpoint",
    "Distribution": "estimators",
    "Fitted": "fitted",
    "JsonLines": "logs",
    "MemMap": "sources",
    "Message": "beliefs",
    "ModelFileError": "export.store",
    "Moments": "beliefs",
    "Network": "network",
    "Outcome": "outcome",
    "Parquet": "sources",
    "ScalarLogger": "callbacks",
    "Settings": "settings",
    "SparsityPath": "path",
    "TDAMPClassifier": "estimators",
    "TDAMPRegressor": "estimators",
    "TrainingCallback": "callbacks",
    "TrainingWarning": "outcome",
    "class_probs": "predict",
    "fit": "training",
    "load": "saving",
    "log_class_probs": "predict",
    "mean_network": "predict",
    "output_moments": "predict",
    "predictive": "predict",
    "save": "saving",
    "sparsity_path": "path",
}
_MODULES = ("datasets", "export", "metrics", "report", "tables")

__all__ = [
    "Batches",
    "CheckpointError",
    "CheckpointWarning",
    "Distribution",
    "Fitted",
    "JsonLines",
    "MemMap",
    "Message",
    "ModelFileError",
    "Moments",
    "Network",
    "Outcome",
    "Parquet",
    "ScalarLogger",
    "Settings",
    "SparsityPath",
    "TDAMPClassifier",
    "TDAMPRegressor",
    "TrainingCallback",
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
    "report",
    "save",
    "sparsity_path",
    "tables",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'tdamp' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
