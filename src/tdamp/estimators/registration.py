"""What the folders of saved regressors and classifiers hold beyond what both have (see persistence.registry)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.network import Network
from ..io.errors import ModelFileError
from ..persistence.registry import SavedForm, register
from ..training.data import check_groups
from .classifier import TDAMPClassifier
from .parameters import group_ids_of
from .regressor import TDAMPRegressor

X_ARRAYS = ("x_mean_", "x_scale_", "lost_log_likelihood_")


def _restore_regressor(estimator: Any, config: dict[str, Any], network: Network) -> None:
    _check_groups(estimator, network)
    single = config["single_output"]
    if not isinstance(single, bool) or (single and network.n_targets != 1):
        raise ModelFileError(f"single_output is {single!r}, with {network.n_targets} outputs")
    estimator.single_output_ = single


def _restore_classifier(estimator: Any, config: dict[str, Any], network: Network) -> None:
    _check_groups(estimator, network)
    if estimator.fitted_.calibration is not None:
        raise ModelFileError("the calibration does not fit the network")
    classes = np.asarray(config["classes"])
    if classes.shape != (network.n_targets,) or len(np.unique(classes)) != network.n_targets:
        raise ModelFileError("there are more or fewer classes than outputs")
    estimator.classes_ = classes


def _check_groups(estimator: Any, network: Network) -> None:
    check_groups(group_ids_of(estimator, network.widths[0]), network.widths[0])


register(SavedForm(TDAMPRegressor, "regression", (*X_ARRAYS, "y_mean_", "y_scale_"), _restore_regressor))
register(SavedForm(TDAMPClassifier, "classification", X_ARRAYS, _restore_classifier))
