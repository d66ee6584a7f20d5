"""The predictive distribution as an ONNX graph: posterior moments carried through the network.

Oracle: tdamp.predictive and tdamp.class_probs, to 1e-4.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..engine.damp import MIN_VAR
from ..factors.activations.catalog import ACTIVATIONS
from ..factors.likelihoods.base import ExportForm
from ..factors.likelihoods.heteroscedastic import LOG_RANGE
from ..io.atomic import write_whole
from ..numerics.counts import MAX_LOG_RATE
from .onnx_argmax import class_probs
from .onnx_graph import Graph
from .onnx_moments import activate
from .plain import Plain, PlainLayer, describe


def to_onnx(plain: Plain, path: str | Path) -> None:
    """Write the network as one ONNX file (opset 17, float32).

    Input `x` (rows, n_features): the user's table, not scaled. Outputs of a regression: `mean`, `variance` of a new
    observation and `epistemic_variance`, its part that comes from the weights, all (rows, outputs) in y's units; "dof"
    in the metadata are the degrees of freedom of the Student's t that has this variance. Counts ("likelihood" in the
    metadata is "poisson") have a log-normal rate of this mean and the epistemic variance. Of a classification:
    `probabilities` (rows, classes); they take a few times rows x classes x 1536 bytes while they are computed, so
    give many classes few rows at a time. Labels and names are JSON in the model's metadata_props.
    Values that float32 cannot tell apart (a time in seconds since 1970) must be shifted before the fit.
    """
    g = Graph()
    mean, var = _output_moments(g, plain)
    n_outputs = plain.network.n_targets
    outputs = OUTPUTS[plain.form](g, plain, mean, var)
    for name, tensor in outputs.items():
        g.output(name, tensor)
    data = g.model({"x": plain.n_features}, dict.fromkeys(outputs, n_outputs), describe(plain))
    write_whole(path, data)


def _output_moments(g: Graph, plain: Plain) -> tuple[str, str]:
    g.at = "input/"
    columns = g.op("Gather", "x", g.constant("columns", plain.inputs), axis=1, name="read")
    # the mean is subtracted in two steps, so that it has the digits of float64 however large it is
    centre = plain.x_mean + plain.x_scale * plain.layers[0].centre.astype(np.float64)
    high = centre.astype(np.float32)
    shifted = g.op("Sub", g.op("Sub", columns, g.constant("mean", high)), g.constant("mean_rest", centre - high))
    u_mean, u_var = g.op("Div", shifted, g.constant("scale", plain.x_scale), name="scaled"), None
    for l, layer in enumerate(plain.layers):
        g.at = f"layer{l + 1}/"
        if l > 0 and layer.centre.any():
            u_mean = g.op("Sub", u_mean, g.constant("centre", layer.centre), name="u_centred")
        z_mean, z_var = _linear(g, layer, u_mean, u_var)
        if l < len(plain.layers) - 1:
            u_mean, u_var = activate(g, ACTIVATIONS[plain.activation].regions, z_mean, z_var)
    return z_mean, z_var


def _linear(g: Graph, layer: PlainLayer, u_mean: str, u_var: str | None) -> tuple[str, str]:
    w_mean, w_var = g.constant("w_mean", layer.w_mean), g.constant("w_var", layer.w_var)
    z_mean = g.op("Add", g.op("MatMul", u_mean, w_mean), g.constant("b_mean", layer.b_mean), name="z_mean")
    power = g.op("Mul", u_mean, u_mean)
    if u_var is not None:
        power = g.op("Add", power, u_var)
    var = g.op("Add", g.op("MatMul", power, w_var), g.constant("b_var", layer.b_var))
    if u_var is not None:
        var = g.op("Add", var, g.op("MatMul", u_var, g.op("Mul", w_mean, w_mean, name="w_mean_squared")))
    return z_mean, g.op("Max", var, MIN_VAR, name="z_var")


def _class_outputs(g: Graph, plain: Plain, mean: str, var: str) -> dict[str, str]:
    return {"probabilities": class_probs(g, mean, var, float(plain.noise_var), plain.network.n_targets)}


def _mean_outputs(g: Graph, plain: Plain, mean: str, var: str) -> dict[str, str]:
    """The outputs are means; the noise is the same in every row."""
    g.at = "output/"
    return _in_units(g, plain, mean, var, g.constant("noise_var", plain.noise_var))


def _noise_outputs(g: Graph, plain: Plain, mean: str, var: str) -> dict[str, str]:
    """The mean of a log-normal number, as in factors.likelihoods.heteroscedastic; n targets come first, then logs."""
    g.at = "output/"
    n, noise = plain.network.n_targets, g.constant("noise_var", plain.noise_var)
    log_mean, log_var = (
        g.op("Gather", a, g.constant(f"{i}_logs", np.arange(n, 2 * n)), axis=1) for i, a in enumerate((mean, var))
    )
    mean, var = (g.op("Gather", a, g.constant(f"{i}_targets", np.arange(n)), axis=1) for i, a in enumerate((mean, var)))
    log_noise = g.op("Add", log_mean, g.op("Mul", log_var, 0.5))
    noise = g.op("Mul", g.op("Exp", g.op("Max", g.op("Min", log_noise, LOG_RANGE), -LOG_RANGE)), noise)
    return _in_units(g, plain, mean, var, noise)


def _in_units(g: Graph, plain: Plain, mean: str, var: str, noise: str) -> dict[str, str]:
    """Moments in the units of y."""
    scale, square = g.constant("y_scale", plain.y_scale), g.constant("y_scale_squared", plain.y_scale**2)
    if plain.stretch is not None:
        var = g.op("Mul", var, g.constant("stretch", plain.stretch), name="stretched")
    return {
        "mean": g.op("Add", g.op("Mul", mean, scale), g.constant("y_mean", plain.y_mean)),
        "variance": g.op("Mul", g.op("Add", var, noise), square),
        "epistemic_variance": g.op("Mul", var, square),
    }


def _count_outputs(g: Graph, plain: Plain, mean: str, var: str) -> dict[str, str]:
    """Moments of a Poisson count whose rate is log-normal; exp(v) - 1 = 2 exp(v / 2) sinh(v / 2) does not cancel."""
    g.at = "output/"
    log_rate = g.op("Add", mean, g.op("Mul", var, 0.5))
    rate = g.op("Exp", g.op("Min", log_rate, MAX_LOG_RATE), name="rate")
    half = g.op("Mul", g.op("Min", var, MAX_LOG_RATE), 0.5)
    relative = g.op("Mul", g.op("Mul", g.op("Exp", half), g.op("Sinh", half)), 2.0, name="relative_var")
    epistemic = g.op("Mul", g.op("Mul", rate, rate), relative, name="rate_var")
    return {"mean": rate, "variance": g.op("Add", rate, epistemic), "epistemic_variance": epistemic}


Outputs = Callable[[Graph, Plain, str, str], dict[str, str]]
OUTPUTS: dict[ExportForm, Outputs] = {
    "mean": _mean_outputs,
    "mean_and_log_noise": _noise_outputs,
    "log_rate": _count_outputs,
    "class_scores": _class_outputs,
}
"""The function of each export form that makes the outputs of the graph from the moments of the last layer."""
