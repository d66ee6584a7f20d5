"""Matplotlib figures as inline SVG: text stays text, colours follow the page, ids are unique to a picture."""

from __future__ import annotations

import io
import re
import threading
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _optional

WIDTH = 4.4
"""Inches of 72 units, so that a picture in a phone's width is shown at its own size and text keeps its points."""

INK, MUTED, GRID = "#1c2733", "#5a6876", "#dde3e9"
SERIES = ("#1f6fb2", "#c4560b", "#2b8259", "#7b4fb6", "#a8325f")
COLOURS = {INK: "ink", MUTED: "muted", GRID: "grid"} | {c: f"series-{i}" for i, c in enumerate(SERIES)}

RC = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a feature may be named "$x$"
    "font.family": "DejaVu Sans",  # for measuring; the page's own font, which is narrower, is shown
    "font.size": 11,
    "axes.labelsize": 10.5,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "legend.handlelength": 1.2,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 6),
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.major.pad": 6,
    "ytick.major.pad": 6,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "xtick.minor.size": 0,
    "lines.linewidth": 1.8,
    "lines.markersize": 4,
}

_lock = threading.Lock()  # matplotlib's settings are global while a picture is drawn


class Picture(NamedTuple):
    """A drawing, with the one sentence that says how to read it."""

    name: str
    title: str
    svg: str
    read: str


def need(module: str) -> Any:
    """Import a part of matplotlib."""
    return _optional.need(module, "report")


def picture(name: str, title: str, read: str, paint: Callable[[Any], None], height: float = 3.0) -> Picture:
    """Have `paint` fill a figure and make it inline SVG; `name` is unique in the page."""
    style, figures, backend = map(need, ("matplotlib.style", "matplotlib.figure", "matplotlib.backends.backend_svg"))
    file = io.StringIO()
    with _lock, style.context(["default", RC | {"svg.hashsalt": name}]), warnings.catch_warnings():
        # letters that the measuring font lacks are drawn by the browser
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = figures.Figure(figsize=(WIDTH, height), layout="constrained")
        backend.FigureCanvasSVG(figure)
        paint(figure)
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return Picture(name, title, inline(file.getvalue(), name, f"{title}. {read}"), read)


def inline(svg: str, name: str, label: str) -> str:
    """An SVG document as an element of an HTML page: no namespaces, metadata or style sheet, only ids that are used."""
    root = ET.fromstring(svg)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_local(key): value for key, value in element.attrib.items()}
        for child in [c for c in element if _local(c.tag) in ("metadata", "style")]:
            element.remove(child)
    values = [value for element in root.iter() for value in element.attrib.values()]
    used = {id for value in values for id in re.findall(r"(?:^#|url\(#)([^\s)]+)", value)}
    for element in root.iter():
        element.tail = None
        if element.tag != "text":
            element.text = None
        if (id := element.attrib.pop("id", None)) in used:
            element.set("id", f"{name}-{id}")
        for key, value in element.attrib.items():
            if key == "style":
                element.set(key, re.sub("#[0-9a-f]{6}", _variable, value))
            elif key == "href" and value.startswith("#"):
                element.set(key, f"#{name}-{value[1:]}")
            elif value.startswith("url(#"):
                element.set(key, f"url(#{name}-{value[5:]}")
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": label}
    return ET.tostring(root, encoding="unicode")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _variable(match: re.Match[str]) -> str:
    colour = match.group()
    return f"var(--{COLOURS[colour]}, {colour})" if colour in COLOURS else colour
