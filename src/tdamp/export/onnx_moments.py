"""Moments through the activations, as ONNX nodes.

With z ~ N(mean, std^2) and t = (z - mean) / std, the moments taken are those of f(z) - f(mean), which is of the size
of std: nothing of the size of the mean is squared and subtracted. Oracle: factors/activations in float64.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from ..factors.activations.piecewise import Region
from ..numerics.truncated_normal import INV_SQRT_2PI
from . import tails
from .onnx_graph import Graph

NODES, NATS = 24, 18.0
"""Gauss-Legendre nodes on a bounded region; density below exp(-NATS) of its peak there is left out."""

Pair = tuple[str, str]
Triple = tuple[str, str, str]


def activate(g: Graph, regions: tuple[Region, ...], mean: str, var: str) -> Pair:
    """Mean and variance of u = f(z)."""
    if len(regions) == 1:
        return _line(g, regions[0], mean, var)
    if len(regions) == 2:
        return _kink(g, regions[0], regions[1], mean, var)
    return _several(g, regions, mean, var)


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


def _several(g: Graph, regions: tuple[Region, ...], mean: str, var: str) -> Pair:
    """Three lines or more: in each region f is f(mean) + rise + slope std t, and t has moments there."""
    std = g.op("Sqrt", var, name="z_std")
    at_mean = _value(g, regions[0], mean)
    for region in regions[1:]:
        here = g.op("Greater", mean, region.low, name="is_here")
        at_mean = g.op("Where", here, _value(g, region, mean), at_mean, name="f_of_mean")
    rises = _rises(g, regions, mean)
    steps = [g.op("Mul", std, region.slope, name="step") for region in regions]
    moments = [_outer(g, regions[0].high, -1.0, mean, std)]
    moments += [_bounded(g, region, mean, std) for region in regions[1:-1]]
    moments += [_outer(g, regions[-1].low, 1.0, mean, std)]
    parts = list(zip(rises, steps, moments, strict=True))
    first_terms, second_terms = [], []
    for rise, step, (mass, first, _) in parts:
        first_terms += [g.op("Mul", rise, mass), g.op("Mul", step, first)]
    shift = g.total(first_terms, "shift")
    for rise, step, (mass, first, second) in parts:
        away = g.op("Sub", rise, shift, name="away")  # from the mean of f: nothing large is subtracted
        slant = g.op("Add", g.op("Mul", away, mass), g.op("Mul", g.op("Mul", step, first), 2.0))
        second_terms += [g.op("Mul", away, slant), g.op("Mul", g.op("Mul", step, step), second)]
    u_var = g.op("Max", g.total(second_terms, "second"), 0.0, name="u_var")
    return g.op("Add", at_mean, shift, name="u_mean"), u_var


def _value(g: Graph, region: Region, z: str) -> str:
    return g.op("Add", g.op("Mul", z, region.slope), region.intercept, name="line")


def _rises(g: Graph, regions: tuple[Region, ...], mean: str) -> list[str]:
    """f - f(mean) at the point of each region that is nearest the mean.

    It is the sum of the rises on the way there, so that it keeps its digits however close a kink is.
    """
    ups: list[str] = []
    downs = [""]  # on the way to the first region nothing comes from its left
    for region in regions[:-1]:
        left = g.op("Max", g.op("Min", mean, region.high), region.low) if ups else g.op("Min", mean, region.high)
        ups.append(g.op("Mul", g.op("Sub", region.high, left), region.slope, name="up"))
    for region in regions[1:]:
        right = g.op("Max", mean, region.low)
        right = g.op("Min", right, region.high) if region.high < np.inf else right
        downs.append(g.op("Mul", g.op("Sub", region.low, right), region.slope, name="down"))
    return [g.total([*ups[:i], *downs[i + 1 :]], "rise") for i in range(len(regions))]


def _outer(g: Graph, bound: float, side: float, mean: str, std: str) -> Triple:
    """E[t^n; z beyond the bound], n = 0, 1, 2; t counts from the bound, or from the mean where that lies beyond it."""
    sds = g.op("Div", g.op("Mul", g.op("Sub", bound, mean), side), std, name="bound_sds")
    t = g.op("Min", g.op("Abs", sds), tails.FURTHEST)
    mass, first, second = tail_moments(g, t)
    pdf = g.op("Mul", g.op("Exp", g.op("Mul", g.op("Mul", t, t), -0.5)), INV_SQRT_2PI, name="pdf")
    cross = g.op("Mul", t, g.op("Add", g.op("Mul", first, 2.0), g.op("Mul", t, mass)))
    around = g.op("Sub", 1.0, mass), pdf, g.op("Sub", g.op("Sub", 1.0, second), cross)
    is_around = g.op("Less", sds, 0.0, name="mean_is_beyond")
    mass, first, second = (g.op("Where", is_around, *pair) for pair in zip(around, (mass, first, second), strict=True))
    return mass, g.op("Mul", first, side), second


def _bounded(g: Graph, region: Region, mean: str, std: str) -> Triple:
    """E[t^n; z in the region], n = 0, 1, 2; t counts from the peak, the point there that is nearest the mean.

    The integral is over the part that carries mass: a closed form would lose all digits where it is narrow beside std.
    """
    peak = g.op("Clip", mean, region.low, region.high, name="peak")
    ends = [g.op("Div", g.op("Sub", bound, peak), std, name="bound_sds") for bound in (region.low, region.high)]
    away = g.op("Clip", g.op("Div", g.op("Sub", peak, mean), std), -tails.FURTHEST, tails.FURTHEST, name="peak_sds")
    root = g.op("Sqrt", g.op("Add", g.op("Mul", away, away), 2 * NATS))
    reach = g.op("Div", 2 * NATS, g.op("Add", g.op("Abs", away), root), name="reach")
    start = g.op("Max", ends[0], g.op("Neg", reach), name="start")
    width = g.op("Sub", g.op("Min", ends[1], reach), start, name="width")
    nodes, weights = legendre.leggauss(NODES)
    last = np.array([-1])
    wide = {n: g.op("Unsqueeze", t, last, name=f"{n}_wide") for n, t in {"away": away, "at": start, "w": width}.items()}
    t = g.op("Add", wide["at"], g.op("Mul", wide["w"], g.constant("nodes", (nodes + 1) / 2)), name="t")
    exponent = g.op("Mul", g.op("Mul", t, t), -0.5)
    exponent = g.op("Sub", exponent, g.op("Mul", t, wide["away"]))
    density = g.op("Mul", g.op("Exp", exponent), g.constant("weights", INV_SQRT_2PI * weights / 2), name="density")
    at_peak = g.op("Mul", g.op("Exp", g.op("Mul", g.op("Mul", away, away), -0.5)), width)
    mass, first, second = (
        g.op("Mul", g.op("ReduceSum", integrand, last, keepdims=0), at_peak)
        for integrand in (density, g.op("Mul", density, t), g.op("Mul", density, g.op("Mul", t, t)))
    )
    return mass, first, second
