"""tdamp: neural networks trained by message passing (EM-TDAMP).

Names are loaded when they are first used: `tdamp --help` need not wait for JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _moved

_moved.install()

if TYPE_CHECKING:
    from . import datasets, export, metrics, report, tables
    from .engine.network import Network
    from .engine.predict import class_probs, log_class_probs, mean_network, output_moments, predictive
    from .engine.settings import Settings
    from .estimators import TDAMPClassifier, TDAMPRegressor, load, save
    from .estimators.sparsity_path import SparsityPath, sparsity_path
    from .factors.layers.conv import Conv
    from .factors.layers.dense import Dense
    from .factors.layers.fixed_filter import FixedFilter
    from .factors.layers.maps import AvgPool
    from .factors.layers.residual import Residual
    from .io.errors import ModelFileError
    from .numerics.beliefs import Message, Moments
    from .numerics.distribution import Distribution
    from .sources import Batches, MemMap, Parquet
    from .training.callbacks import ScalarLogger, TrainingCallback
    from .training.checkpoint import CheckpointError, CheckpointWarning
    from .training.fit import fit
    from .training.fitted import Fitted
    from .training.logs import JsonLines
    from .training.outcome import Outcome, TrainingWarning

_HOME = {
    "AvgPool": "factors.layers.maps",
    "Batches": "sources",
    "CheckpointError": "training.checkpoint",
    "CheckpointWarning": "training.checkpoint",
    "Conv": "factors.layers.conv",
    "Dense": "factors.layers.dense",
    "Distribution": "numerics.distribution",
    "Fitted": "training.fitted",
    "FixedFilter": "factors.layers.fixed_filter",
    "JsonLines": "training.logs",
    "MemMap": "sources",
    "Message": "numerics.beliefs",
    "ModelFileError": "io.errors",
    "Moments": "numerics.beliefs",
    "Network": "engine.network",
    "Outcome": "training.outcome",
    "Parquet": "sources",
    "Residual": "factors.layers.residual",
    "ScalarLogger": "training.callbacks",
    "Settings": "engine.settings",
    "SparsityPath": "estimators.sparsity_path",
    "TDAMPClassifier": "estimators",
    "TDAMPRegressor": "estimators",
    "TrainingCallback": "training.callbacks",
    "TrainingWarning": "training.outcome",
    "class_probs": "engine.predict",
    "fit": "training.fit",
    "load": "estimators",
    "log_class_probs": "engine.predict",
    "mean_network": "engine.predict",
    "output_moments": "engine.predict",
    "predictive": "engine.predict",
    "save": "estimators",
    "sparsity_path": "estimators.sparsity_path",
}
_MODULES = ("datasets", "export", "metrics", "report", "tables")

__all__ = [
    "AvgPool",
    "Batches",
    "CheckpointError",
    "CheckpointWarning",
    "Conv",
    "Dense",
    "Distribution",
    "Fitted",
    "FixedFilter",
    "JsonLines",
    "MemMap",
    "Message",
    "ModelFileError",
    "Moments",
    "Network",
    "Outcome",
    "Parquet",
    "Residual",
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
__version__ = "0.2.0"


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
