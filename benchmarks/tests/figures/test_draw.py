"""Pictures: lines, styles, and reproducible files."""

import math

import pandas as pd
import pytest

from tdamp_bench.figures import curves, draw, tidy
from tdamp_bench.figures.sparsity import METHODS


def points(rows: list[tuple]) -> pd.DataFrame:
    """A summary from (data, method, keep, mean, standard error)."""
    full = [(data, method, keep, 30, mean, se, 10, 1.0) for data, method, keep, mean, se in rows]
    return pd.DataFrame(full, columns=[*tidy.POINT, "mean", "se", "n", "units"])


def panels(lines: list[draw.Line]) -> list[draw.Panel]:
    """Two of them, linear and logarithmic."""
    return [
        draw.Panel("a", "epoch", "loss", lines, log_y=False),
        draw.Panel("b", "keep", "loss", lines, log_x=True, x_ticks=(1, 2), y_top=5.0),
    ]


def test_the_same_drawing_is_the_same_file(tmp_path):
    """twin: drawn twice, SVG and PNG agree byte for byte; infinite values and unknown names are drawn too."""
    lines = [
        draw.Line("tdamp", "ours", [1, 2], [1.0, 0.5], [0.1, math.nan]),
        draw.Line("adam", "Adam", [1, 2], [math.inf, 9.0]),
        draw.Line("something", "else", [1, 2], [1.0, 2.0]),
    ]
    for name in ("one", "two"):
        draw.figure(panels(lines), tmp_path / name)
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


ROWS = [
    ("mnist", "tdamp", 1.0, 2.0, 0.3),
    ("mnist", "adam", 1.0, 2.2, 0.4),
    ("mnist", "amp", 1.0, 9.0, 0.4),
    ("mnist", "tdamp", 0.5, 3.0, 0.3),
    ("mnist", "adam", 0.5, 6.0, 0.4),
    ("mnist", "tdamp", 0.1, 5.0, 0.3),
    ("mnist", "adam", 0.1, 20.0, 0.4),
]


def test_lines_of_a_summary():
    """contract: sorted by x, scaled, in the order of the labels; absent methods are left out."""
    result = draw.lines(points(ROWS), "keep", {"adam": "Adam", "sgd": "SGD", "tdamp": "ours"}, scale=100.0)
    assert [(line.label, list(line.x), list(line.mean)) for line in result] == [
        ("Adam", [0.1, 0.5, 1.0], [2000.0, 600.0, pytest.approx(220.0)]),
        ("ours", [0.1, 0.5, 1.0], [500.0, 300.0, 200.0]),
    ]


def test_every_method_has_its_own_style():
    """contract: colours are distinct, and so are dashes with markers, for those who see no colour."""
    for drawn in (METHODS, [curve.method for curve in curves.PLAN.curves]):
        styles = [draw.STYLES[name] for name in drawn]
        assert len({style.color for style in styles}) == len({(style.dashes, style.marker) for style in styles})
        assert len(styles) == len({style.color for style in styles})
