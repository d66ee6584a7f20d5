"""Which score is the largest, as ONNX nodes: the algorithm of numerics.gaussian_argmax.

Places are in double precision, as a wide score may be far from where narrow ones decide; what is summed is in float32,
where a probability has six digits. Oracle: tdamp.class_probs.
"""

from __future__ import annotations

import numpy as np

from ..engine.damp import MIN_VAR
from ..numerics import gaussian_argmax
from .onnx_graph import Graph

DOUBLE, FLOAT = 11, 1
"""ONNX's numbers of the types."""
LEAST_CDF, MOST_SDS = 1e-30, 1e4
"""A class is given up below the one and beyond the other: its share is zero in float32."""


def class_probs(g: Graph, mean: str, var: str, noise_var: float, n_classes: int) -> str:
    """P(y) from the moments of the scores, (rows, classes)."""
    g.at = "classes/"
    var = g.op("Max", g.op("Add", var, 0.5 * noise_var), MIN_VAR, name="score_var")
    if n_classes == 2:
        margin = g.op("MatMul", mean, g.constant("against", np.array([[1.0, -1.0], [-1.0, 1.0]])), name="margin")
        total = g.op("ReduceSum", var, np.array([1]), keepdims=1)
        return _cdf(g, g.op("Div", margin, g.op("Sqrt", total), name="margin_sds"))
    std = g.op("Sqrt", _double(g, var), name="std")
    unit = g.op("ReduceMax", std, axes=[1], keepdims=1, name="unit")
    mean = _double(g, mean)
    behind = g.op("Sub", mean, g.op("ReduceMax", mean, axes=[1], keepdims=1, name="top"))
    z = g.op("Max", g.op("Div", behind, unit), _double(g, -gaussian_argmax.FURTHEST), name="z")
    least = g.op("Mul", z, _double(g, -gaussian_argmax.COARSEST * np.finfo(np.float64).eps))
    least = g.op("Max", least, _double(g, gaussian_argmax.NARROWEST))
    std = g.op("Max", g.op("Div", std, unit), least, name="relative_std")
    edges = _edges(g, z, std, n_classes)
    nodes, weights = gaussian_argmax.panel()
    start, end = (
        g.op("Gather", edges, g.constant(name, np.arange(gaussian_argmax.PANELS) + shift), axis=1, name=name)
        for shift, name in enumerate(("start", "end"))
    )
    size = _wide(g, g.op("Sub", end, start), 2)  # (rows, panels, 1)
    t, weight = (
        g.op("Mul", size, _double(g, g.constant(name, part))) for name, part in (("nodes", nodes), ("weights", weights))
    )
    t, weight = (
        g.op("Reshape", part, np.array([-1, 1, gaussian_argmax.NODES]))
        for part in (g.op("Add", t, _wide(g, start, 2)), g.op("Cast", weight, to=FLOAT))
    )
    sds = g.op("Div", g.op("Sub", t, _wide(g, z, 2)), _wide(g, std, 2))  # (rows, classes, nodes)
    sds = g.op("Clip", g.op("Cast", sds, to=FLOAT), -MOST_SDS, MOST_SDS, name="sds")
    log_cdf = g.op("Log", g.op("Max", _cdf(g, sds), LEAST_CDF), name="log_cdf")
    rivals = g.op("Sub", g.op("ReduceSum", log_cdf, np.array([1]), keepdims=1), log_cdf, name="log_beats_rivals")
    density = g.op("Exp", g.op("Sub", rivals, g.op("Mul", g.op("Mul", sds, sds), 0.5)), name="density")
    mass = g.op("ReduceSum", g.op("Mul", density, weight), np.array([2]), keepdims=0)
    mass = g.op("Div", mass, g.op("Cast", std, to=FLOAT), name="mass")
    return g.op("Div", mass, g.op("ReduceSum", mass, np.array([1]), keepdims=1))


def _edges(g: Graph, z: str, std: str, n_classes: int) -> str:
    """Bounds of the panels, (rows, PANELS + 1), in rising order."""
    steps, chosen = gaussian_argmax.choice(n_classes)
    prec = g.op("Reciprocal", g.op("Mul", std, std), name="prec")
    rival, rival_prec, last, zero = _wide(g, z, 1), _wide(g, prec, 1), np.array([2]), _double(g, 0.0)
    peak = z
    for _ in range(gaussian_argmax.PEAK_STEPS):
        above = g.op("Max", g.op("Sub", rival, _wide(g, peak, 2)), zero, name="above")  # (rows, class, rival)
        pulls = g.op("Where", g.op("Greater", above, zero), rival_prec, zero)
        total = g.op("Add", prec, g.op("ReduceSum", pulls, last, keepdims=0), name="total_prec")
        lift = g.op("ReduceSum", g.op("Mul", above, rival_prec), last, keepdims=0)
        lift = g.op("Add", g.op("Mul", prec, g.op("Sub", z, peak)), lift)
        peak = g.op("Add", peak, g.op("Max", g.op("Div", lift, total), zero), name="peak")
    width = g.op("Reciprocal", g.op("Sqrt", total), name="width")
    own, above = g.op("Sub", peak, z), g.op("Max", g.op("Sub", rival, _wide(g, peak, 2)), zero)
    squares = g.op("ReduceSum", g.op("Mul", g.op("Mul", above, above), rival_prec), last, keepdims=0)
    squares = g.op("Add", squares, g.op("Mul", g.op("Mul", own, own), prec), name="twice_behind")
    peak = g.op("Where", g.op("Greater", squares, _double(g, 2 * gaussian_argmax.HOPELESS)), zero, peak, name="centre")
    reach = _double(g, gaussian_argmax.REACH)
    low = g.op("ReduceMin", g.op("Sub", peak, g.op("Mul", width, reach)), axes=[1], keepdims=1, name="low")
    high = g.op("ReduceMax", g.op("Add", z, g.op("Mul", std, reach)), axes=[1], keepdims=1, name="high")
    down, up = (
        _wide(g, _arcsinh(g, g.op("Min", g.op("Div", away, width), _double(g, gaussian_argmax.SPAN))), 2)
        for away in (g.op("Sub", peak, low), g.op("Sub", high, peak))
    )
    at = g.op("Mul", g.op("Add", down, up), _double(g, g.constant("steps", steps)))
    at = g.op("Sub", at, down)
    sinh = g.op("Mul", g.op("Sub", g.op("Exp", at), g.op("Exp", g.op("Neg", at))), _double(g, 0.5), name="sinh")
    points = g.op("Add", _wide(g, peak, 2), g.op("Mul", _wide(g, width, 2), sinh))
    count = n_classes * len(steps)
    points = g.op("Reshape", points, np.array([-1, count]))
    points = g.op("TopK", points, np.array([count]), outputs=2, axis=1, largest=0, name="sorted")
    points = g.op("Gather", points, g.constant("chosen", chosen), axis=1)
    return g.op("Concat", low, g.op("Min", g.op("Max", points, low), high), high, axis=1, name="edges")


def _arcsinh(g: Graph, x: str) -> str:
    """Inverse hyperbolic sine of a positive number, which ONNX has for float32 only."""
    return g.op("Log", g.op("Add", x, g.op("Sqrt", g.op("Add", g.op("Mul", x, x), _double(g, 1.0)))))


def _cdf(g: Graph, sds: str) -> str:
    return g.op("Add", g.op("Mul", g.op("Erf", g.op("Mul", sds, float(np.sqrt(0.5)))), 0.5), 0.5, name="cdf")


def _double(g: Graph, value: str | float) -> str:
    return g.op("Cast", value, to=DOUBLE)


def _wide(g: Graph, tensor: str, *axes: int) -> str:
    return g.op("Unsqueeze", tensor, np.array(axes))
