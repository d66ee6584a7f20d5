"""A trained network as plain NumPy arrays: what every export starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from ..engine.network import Network, Noise, Task
from ..engine.turbo import posterior
from ..factors.likelihoods.base import ExportForm
from ..training.fitted import Fitted


class PlainLayer(NamedTuple):
    """Moments of one layer's posterior, its spikes included; no variances where its mean alone predicts."""

    centre: np.ndarray  # (units,), subtracted from the layer's input
    w_mean: np.ndarray  # (units, outputs)
    w_var: np.ndarray
    b_mean: np.ndarray  # (outputs,)
    b_var: np.ndarray


@dataclass(frozen=True)
class Plain:
    """A trained network with all a prediction needs and nothing else: posterior moments and scales.

    The network sees (x[:, inputs] - x_mean) / x_scale; a regression predicts y_mean + y_scale z. Where its noise is
    "varying" the second half of the outputs are the logs of the noise variances, relative to noise_var.
    """

    task: Task
    activation: str
    n_features: int  # columns of the table the user gives
    inputs: np.ndarray  # indices of the columns that are read
    x_mean: np.ndarray  # of those columns, as is x_scale
    x_scale: np.ndarray
    layers: tuple[PlainLayer, ...]
    noise_var: np.ndarray  # (targets,) for regression, () for classification, in the network's units, calibrated
    y_mean: np.ndarray  # (targets,)
    y_scale: np.ndarray
    classes: tuple[Any, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    noise: Noise = "constant"
    stretch: np.ndarray | None = None  # (targets,), of a regression's epistemic variance; None: one
    dof: np.ndarray | None = None  # (targets,), of the Student's t that a regression predicts; None: a Gaussian
    likelihood: str | None = None  # where it is another than the one that task and noise stand for

    @property
    def network(self) -> Network:
        """Shape of the network, without what pruning removed."""
        widths = (len(self.inputs), *(len(layer.b_mean) for layer in self.layers))
        return Network(widths, self.task, self.activation, self.noise, self.likelihood)

    @property
    def form(self) -> ExportForm:
        """What the outputs are, as the likelihood says; every exporter goes by it."""
        return form_of(self.network)


def form_of(network: Network) -> ExportForm:
    """The likelihood's export form, or ValueError if it has none."""
    output = network.output
    if output.export_form is None:
        raise ValueError(
            f"likelihood={output.name!r} has no export yet: predict in Python, from a folder of tdamp.save"
        )
    return output.export_form


def plain_of(
    fitted: Fitted,
    *,
    n_features: int,
    x_mean: np.ndarray,
    x_scale: np.ndarray,
    y_mean: np.ndarray | None = None,
    y_scale: np.ndarray | None = None,
    classes: Any = None,
    feature_names: Any = None,
) -> Plain:
    """The plain form of a training's result.

    `x_mean` and `x_scale` are those of all `n_features` columns; the ones that the network reads are picked here.
    Oracle: tdamp.predictive and class_probs, through every export.
    """
    n_outputs, calibration = fitted.network.n_targets, fitted.calibration
    inputs = np.asarray(fitted.inputs)
    if inputs.size and not 0 <= inputs.min() <= inputs.max() < n_features:
        raise ValueError(f"n_features={n_features}: the network reads column {inputs.max()} (counted from 0)")
    network = fitted.network
    network.check_dense("only dense layers have an export yet: predict in Python, from a folder of tdamp.save")
    form_of(network)
    if network.output.has_classes and (y_mean is not None or y_scale is not None):
        raise ValueError("y_mean and y_scale belong to a regression: leave them out for a classification")
    scales = y_mean is not None and np.any(y_mean), y_scale is not None and np.any(np.not_equal(y_scale, 1))
    if not network.output.scales_targets and any(scales):
        raise ValueError(f"y_mean, y_scale: {network.output.name!r} takes targets in their own units: leave them out")
    labels = None if classes is None else tuple(_label(label) for label in classes)
    names = None if feature_names is None else tuple(map(str, feature_names))
    if labels is not None and len(labels) != n_outputs:
        raise ValueError(f"classes: expected {n_outputs} labels, one for each output, got {len(labels)}")
    if names is not None and len(names) != n_features:
        raise ValueError(f"feature_names: expected {n_features} names, one for each column, got {len(names)}")
    layers = []
    for layer in fitted.state.layers:
        weight, bias = posterior(layer)
        if fitted.prediction == "mean":
            weight, bias = (part._replace(var=jax.numpy.zeros_like(part.var)) for part in (weight, bias))
        layers.append(PlainLayer(*jax.device_get((layer.centre, *weight, *bias))))
    return Plain(
        task=fitted.network.task,
        activation=fitted.network.activation,
        n_features=int(n_features),
        inputs=inputs,
        x_mean=_vector("x_mean", x_mean, n_features)[inputs],
        x_scale=_vector("x_scale", x_scale, n_features, positive=True)[inputs],
        layers=tuple(layers),
        noise_var=np.asarray(fitted.state.noise_var) * (1 if calibration is None else calibration.noise),
        y_mean=_vector("y_mean", np.zeros(n_outputs) if y_mean is None else y_mean, n_outputs),
        y_scale=_vector("y_scale", np.ones(n_outputs) if y_scale is None else y_scale, n_outputs, positive=True),
        classes=labels,
        feature_names=names,
        noise=fitted.network.noise,
        stretch=None if calibration is None else calibration.epistemic,
        dof=None if calibration is None else calibration.dof,
        likelihood=network.likelihood,
    )


def describe(plain: Plain) -> dict[str, Any]:
    """The metadata of an exported file."""
    from .. import __version__  # here, as the package is still being imported when this module is

    metadata: dict[str, Any] = {"tdamp": __version__, "task": plain.task, "activation": plain.activation}
    metadata["likelihood"] = plain.network.output.name
    metadata["inputs"] = plain.inputs.tolist()
    if plain.classes is not None:
        metadata["classes"] = list(plain.classes)
    if plain.dof is not None:
        metadata["dof"] = plain.dof.tolist()
    if plain.feature_names is not None:
        metadata["feature_names"] = list(plain.feature_names)
    return metadata


def _vector(name: str, values: Any, length: int, positive: bool = False) -> np.ndarray:
    array = np.asarray(values, np.float64)
    if array.shape not in ((), (length,)):
        raise ValueError(f"{name}: expected one number or {length} numbers, got shape {array.shape}")
    if not np.isfinite(array).all() or (positive and not (array > 0).all()):
        raise ValueError(f"{name}: expected {'positive' if positive else 'finite'} numbers only")
    return np.broadcast_to(array, (length,)).copy()


def _label(label: Any) -> str | int | float | bool:
    """A class label as the plain Python value that JSON can hold."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"classes: {label!r} is a {type(label).__name__}; expected text, numbers or booleans")
    return value
