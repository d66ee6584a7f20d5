"""Moments through the activations, as ONNX nodes.

With z ~ N(mean, std^2) and t = (z - mean) / std, the moments taken are those of f(z) - f(mean), which is of the size
of std: nothing of the size of the mean is squared and subtracted. Oracle: factors/piecewise in float64.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from ..factors.activations.piecewise import ACTIVATIONS, Region
from ..numerics.truncated_normal import INV_SQRT_2PI
from . import tails
from .onnx_graph import Graph

NODES, NATS = 24, 18.0
"""Gauss-Legendre nodes on a bounded region; density below exp(-NATS) of its peak there is left out."""

Pair = tuple[str, str]


def activate(g: Graph, activation: str, mean: str, var: str) -> Pair:
    """Mean and variance of u = f(z)."""
    regions = ACTIVATIONS[activation]
    if len(regions) == 1:
        return _line(g, regions[0], mean, var)
    if len(regions) == 2:
        return _kink(g, regions[0], regions[1], mean, var)
    if len(regions) == 3 and regions[0].slope == 0 == regions[2].slope:
        return _clamp(g, regions[1], mean, var)
    raise NotImplementedError(f"activation {activation!r}: no ONNX form for its {len(regions)} regions")


def _line(g: Graph, region: Region, mean: str, var: str) -> Pair:
    if (region.slope, region.intercept) == (1.0, 0.0):
        return mean, var
    scaled = g.op("Mul", mean, region.slope)
    return g.op("Add", scaled, region.intercept, name="u_mean"), g.op("Mul", var, region.slope**2, name="u_var")


def tail_moments(g: Graph, a: str) -> tuple[str, str, str]:
    """E[(t - a)^n; t > a] for n = 0, 1, 2 and a >= 0, see tails."""
    a = g.op("Min", a, tails.FURTHEST, name="tail/a")
    square = g.op("Mul", a, a)
    pdf = g.op("Mul", g.op("Exp", g.op("Mul", square, -0.5)), INV_SQRT_2PI, name="tail/pdf")
    far = g.op("Add", a, tails.CENTRE)
    y = g.op("Div", g.op("Sub", a, tails.CENTRE), far, name="tail/y")
    series = tails.series(tails.DEGREE["float32"])
    total = g.op("Add", g.op("Mul", y, series[-1], name="tail/series"), series[-2], name="tail/series")
    for c in reversed(series[:-2]):
        total = g.op("Add", g.op("Mul", total, y, name="tail/series"), c, name="tail/series")
    second = g.op("Div", total, g.op("Mul", far, g.op("Mul", far, far)))
    over = g.op("Div", pdf, g.op("Add", square, 1.0))
    zeroth = g.op("Mul", over, g.op("Add", second, a), name="tail/mass")
    first = g.op("Mul", over, g.op("Sub", 1.0, g.op("Mul", a, second)), name="tail/first")
    return zeroth, first, g.op("Mul", pdf, second, name="tail/second")


def _kink(g: Graph, left: Region, right: Region, mean: str, var: str) -> Pair:
    """f is the line on the mean's side, plus the change of slope times the tail beyond the kink."""
    std = g.op("Sqrt", var, name="z_std")
    past = g.op("Sub", mean, left.high) if left.high else mean
    mass, first, second = tail_moments(g, g.op("Div", g.op("Abs", past), std))
    is_right = g.op("Greater", past, 0.0, name="is_right")
    near = g.op("Where", is_right, right.slope, left.slope, name="near_slope")
    change = right.slope - left.slope
    at_kink = left.slope * left.high + left.intercept
    at_mean = g.op("Add", g.op("Mul", near, past), at_kink, name="f_of_mean")
    u_mean = g.op("Add", at_mean, g.op("Mul", g.op("Mul", std, first), change), name="u_mean")
    # Var(near t + change tail) = near^2 + 2 near change Cov(t, tail) + change^2 Var(tail); Cov = mass by Stein
    jump = g.op("Where", is_right, -change, change, name="jump")
    tail_var = g.op("Sub", second, g.op("Mul", first, first))
    cross = g.op("Mul", g.op("Mul", near, jump), g.op("Mul", mass, 2.0))
    unit = g.total([g.op("Mul", near, near), cross, g.op("Mul", tail_var, change**2)], "unit_var")
    return u_mean, g.op("Mul", var, g.op("Max", unit, 0.0), name="u_var")


def _clamp(g: Graph, middle: Region, mean: str, var: str) -> Pair:
    """f is constant outside an interval. Moments about f(peak), peak being the point of the interval nearest the mean.

    The interval's share is an integral over the part of it that carries mass: a closed form would lose all digits
    when the interval is narrow beside std.
    """
    std = g.op("Sqrt", var, name="z_std")
    peak = g.op("Clip", mean, middle.low, middle.high, name="peak")
    ends, first_terms, second_terms = {}, [], []
    for side, bound, sign in (("high", middle.high, 1.0), ("low", middle.low, -1.0)):
        beyond = g.op("Mul", g.op("Sub", bound, mean), sign)  # from the mean to the bound
        mass, _, _ = tail_moments(g, g.op("Div", g.op("Max", beyond, 0.0), std))
        gap = g.op("Sub", bound, peak, name=f"{side}_gap")  # zero where the mean lies beyond: the mass has no weight
        ends[side] = g.op("Div", gap, std, name=f"{side}_sds")
        rise = g.op("Mul", gap, middle.slope)
        first_terms.append(g.op("Mul", mass, rise))
        second_terms.append(g.op("Mul", mass, g.op("Mul", rise, rise)))
    away = g.op("Clip", g.op("Div", g.op("Sub", peak, mean), std), -tails.FURTHEST, tails.FURTHEST, name="peak_sds")
    root = g.op("Sqrt", g.op("Add", g.op("Mul", away, away), 2 * NATS))
    reach = g.op("Div", 2 * NATS, g.op("Add", g.op("Abs", away), root), name="reach")
    start = g.op("Max", ends["low"], g.op("Neg", reach), name="start")
    width = g.op("Sub", g.op("Min", ends["high"], reach), start, name="width")
    nodes, weights = legendre.leggauss(NODES)
    last = np.array([-1])
    wide = {n: g.op("Unsqueeze", t, last, name=f"{n}_wide") for n, t in {"away": away, "at": start, "w": width}.items()}
    t = g.op("Add", wide["at"], g.op("Mul", wide["w"], g.constant("nodes", (nodes + 1) / 2)), name="t")
    exponent = g.op("Mul", g.op("Mul", t, t), -0.5)
    exponent = g.op("Sub", exponent, g.op("Mul", t, wide["away"]))
    pieces = g.op("Mul", g.op("Exp", exponent), g.constant("weights", INV_SQRT_2PI * weights / 2), name="density")
    at_peak = g.op("Mul", g.op("Exp", g.op("Mul", g.op("Mul", away, away), -0.5)), width)
    for terms, power in ((first_terms, t), (second_terms, g.op("Mul", t, t))):
        inside = g.op("ReduceSum", g.op("Mul", pieces, power), last, keepdims=0)
        scale = g.op("Mul", std, middle.slope) if terms is first_terms else g.op("Mul", var, middle.slope**2)
        terms.append(g.op("Mul", g.op("Mul", inside, at_peak), scale))
    first, second = g.total(first_terms, "first"), g.total(second_terms, "second")
    at = g.op("Add", g.op("Mul", peak, middle.slope), middle.intercept, name="f_of_peak")
    u_var = g.op("Max", g.op("Sub", second, g.op("Mul", first, first)), 0.0, name="u_var")
    return g.op("Add", at, first, name="u_mean"), u_var
