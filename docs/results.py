"""Writes the tables of docs/results.md from results/: `python docs/results.py`, and `--check` only compares.

Text between `<!-- NAME -->` and `<!-- end -->` is replaced; everything else on the page is written by hand.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tdamp.bench.figures.sparsity_contest import is_small

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results.md"
RESULTS = ROOT / "results"
BLOCK = re.compile(r"<!-- ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)

CLAIMS = {
    "faster": "It converges faster than Adam",
    "better": "Its final loss, unpruned, is below Adam's and AMP's",
    "compressed": "Pruned, it is better than the baselines at every size",
    "gap": "The gap widens as the network is compressed",
    "gumbel": "The margins are distributed much like a Gumbel variable",
    "noise-rule": "The Gumbel rule does what the numerical argmax does",
    "noise-learned": "Learning the noise beats fixing it",
    "turbo": "Exact spike-slab messages beat projecting to Gaussians",
    "rho": "The modified rule reaches the size asked for; fixing rho or plain EM does not",
    "pasp": "The posterior as the next prior makes training work",
    "federated": "The same holds in federated learning",
}


def figure(name: str) -> dict[str, Any]:
    """The JSON file of a figure, empty where it was not made."""
    path = RESULTS / name / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def findings() -> Iterator[dict[str, Any]]:
    """The verdicts of all figures."""
    for path in sorted(RESULTS.glob("*/*.json")):
        yield from json.loads(path.read_text()).get("verdicts", [])


def claims() -> str:
    """A line for each claim of the paper: for tdamp, and for the method as printed."""
    found = list(findings())
    lines = ["| the paper's claim | tdamp | as printed |", "|---|---|---|"]
    for claim, text in CLAIMS.items():
        words = [_word([f for f in found if f.get("claim") == claim and f["variant"] == v]) for v in VARIANTS]
        lines.append(f"| {text} | {words[0]} | {words[1]} |")
    return "\n".join(lines)


VARIANTS = ("tdamp", "tdamp_paper")


def _word(found: list[dict[str, Any]]) -> str:
    met = sum(finding["met"] for finding in found)
    if not found:
        return "not measured"
    word = "confirmed" if met == len(found) else "partly" if met else "not"
    return f"**{word}** ({met} of {len(found)} checks)"


def picture(name: str, title: str) -> Callable[[], str]:
    """The figure, and what was found in words."""

    def block() -> str:
        made = figure(name)
        if not made:
            return "Not made yet."
        lines = [f"- {'✓' if one['met'] else '✗'} {one['sentence']}" for one in made["verdicts"]]
        return "\n".join([f"![{title}](figures/{name}/{name}.png)", "", *lines]).strip()

    return block


def sparsity(data: str) -> Callable[[], str]:
    """Mean and standard error by method and share of units."""

    def block() -> str:
        path = RESULTS / "sparsity" / "sparsity.csv"
        if not path.exists():
            return "Not made yet."
        points = pd.read_csv(path)
        points = points[points["data"] == data].copy()
        scale = 100 if data == "mnist" else 1
        keeps = sorted(points["keep"].unique(), reverse=True)
        asked = points.groupby("keep")["units"].transform("min")
        points["larger"] = [not is_small(*sizes) for sizes in zip(points["units"], asked, strict=True)]
        best = points[~points["larger"]].groupby("keep")["mean"].min()
        lines = ["| share of units | " + " | ".join(f"{k:g}" for k in keeps) + " |", "|---|" + "---|" * len(keeps)]
        for method, rows in points.groupby("method", sort=False):
            by_keep = rows.set_index("keep")
            cells = [_cell(by_keep.loc[k], scale, best[k]) if k in by_keep.index else "" for k in keeps]
            lines.append(f"| {LABELS[method]} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    return block


LABELS = {
    "tdamp": "tdamp",
    "tdamp_paper": "EM-TDAMP as printed",
    "amp": "AMP",
    "adam": "Adam, pruned by energy",
    "early_stop": "Adam, early stopping",
    "group_lasso": "Adam + group lasso",
    "group_snip": "group SNIP",
    "magnitude": "gradual magnitude pruning",
}


def _cell(point: pd.Series, scale: float, best: float) -> str:
    if not math.isfinite(point["mean"]):
        return "diverged"
    text = f"{scale * point['mean']:.3g} ± {scale * point['se']:.2g}"
    if point["larger"]:
        return f"({text}, {point['units']:.0f} units)"
    return f"**{text}**" if point["mean"] == best else text


def time() -> str:
    """Hours of computing by figure and method, the number of seeds, and the machine."""
    lines = ["| figure | seeds | hours, tuning included | processor |", "|---|---|---|---|"]
    for path in sorted(RESULTS.glob("*/*.json")):
        made = json.loads(path.read_text())
        spent = sum(s for methods in made["seconds"].values() for roles in methods.values() for s in roles.values())
        seeds: dict[str, set[int]] = {}
        for cell in made["cells"]:
            seeds.setdefault(cell["data"], set()).add(cell["seeds"])
        text = ", ".join(f"{data} {'/'.join(map(str, sorted(found)))}" for data, found in seeds.items())
        where = made["surroundings"]
        lines.append(f"| {made['figure']} | {text} | {spent / 3600:.1f} | {where['cpu']}, {where['cores']} cores |")
    return "\n".join(lines)


BLOCKS: dict[str, Callable[[], str]] = {
    "claims": claims,
    "curves": picture("curves", "Test loss by epoch on Boston and MNIST"),
    "sparsity": picture("sparsity", "Final test loss against the share of units kept"),
    "sparsity-boston": sparsity("boston"),
    "sparsity-mnist": sparsity("mnist"),
    "margins": picture("margins", "Margins and their Gumbel fit"),
    "noise": picture("noise", "Noise variance and test error by epoch"),
    "ablations": picture("ablations", "What each part contributes"),
    "federated-curves": picture("federated-curves", "Federated learning: test loss by round"),
    "federated-sparsity": picture("federated-sparsity", "Federated learning: final loss by share of units"),
    "federated-skew": picture("federated-skew", "Federated learning with skewed labels: loss by round"),
    "time": time,
}


def filled(text: str) -> str:
    """The page with its tables made anew."""
    return BLOCK.sub(lambda match: f"<!-- {match[1]} -->\n\n{BLOCKS[match[1]]()}\n\n<!-- end -->", text)


if __name__ == "__main__":
    text = PAGE.read_text()
    if "--check" not in sys.argv:
        PAGE.write_text(filled(text))
    elif filled(text) != text:
        sys.exit("docs/results.md differs from results/: run `python docs/results.py`.")
