"""Writes the tables of docs/results.md, compression.md and studies/ from results/: `python docs/results.py`.

Text between `<!-- NAME -->` and `<!-- end -->` is replaced; everything else on a page is written by hand. `--check`
compares, and judges every figure anew from its runs: verdicts in results/ that were made by older rules are an error.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from tdamp_bench.core.tables import verdict_word
from tdamp_bench.figures import registry
from tdamp_bench.figures.options import Options
from tdamp_bench.figures.sparsity_contest import is_small
from tdamp_bench.suites.compression import table

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / f"docs/{name}.md" for name in ("results", "compression")]
PAGES += sorted((ROOT / "docs" / "studies").glob("*.md"))
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
STRONG_CLAIMS = {
    "strong-better": "Its final loss, unpruned, is below AdamW's with cosine decay, weight decay and dropout",
    "magnitude-compressed": "Pruned, it is better than gradual magnitude pruning at every size",
    "magnitude-gap": "The gap to gradual magnitude pruning widens as the network is compressed",
    "magnitude_adamw-compressed": "Pruned, it is better than gradual magnitude pruning with AdamW at every size",
    "magnitude_adamw-gap": "The gap to gradual magnitude pruning with AdamW widens as the network is compressed",
    "strong-federated": "In federated learning its final loss, unpruned, is below FedAvg's with AdamW and FedProx's",
}
"""What is measured here against stronger rivals than the paper's."""


def figure(name: str) -> dict[str, Any]:
    """The JSON file of a figure, empty where it was not made."""
    path = RESULTS / name / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def conclusions() -> Iterator[dict[str, Any]]:
    """The verdicts of all figures."""
    for path in sorted(RESULTS.glob("*/*.json")):
        yield from json.loads(path.read_text()).get("verdicts", [])


def claims(head: str, texts: dict[str, str]) -> Callable[[], str]:
    """A line for each claim: for tdamp, and for the method as printed."""

    def block() -> str:
        found = list(conclusions())
        lines = [f"| {head} | tdamp | as printed |", "|---|---|---|"]
        for claim, text in texts.items():
            words = [word([f for f in found if f.get("claim") == claim and f["variant"] == v]) for v in VARIANTS]
            lines.append(f"| {text} | {words[0]} | {words[1]} |")
        return "\n".join(lines)

    return block


VARIANTS = ("tdamp", "tdamp_paper")


def word(found: list[dict[str, Any]]) -> str:
    """confirmed where all checks hold, partly where some do, tied where none holds or fails clearly, else not."""
    if not found:
        return "not measured"
    met, tied = (sum(bool(conclusion.get(key)) for conclusion in found) for key in ("met", "tied"))
    short = "confirmed" if met == len(found) else "partly" if met else "tied" if tied == len(found) else "not"
    ties = f", {tied} tied" if tied else ""
    return f"**{short}** ({met} of {len(found)} checks{ties})"


def picture(name: str, title: str) -> Callable[[], str]:
    """The figure, and what was found in words."""

    def block() -> str:
        made = figure(name)
        if not made:
            return "Not made yet."
        lines = [f"- {MARKS[verdict_word(one)]} {one['sentence']}" for one in made["verdicts"]]
        return "\n".join([f"![{title}](figures/{name}/{name}.png)", "", *lines]).strip()

    return block


MARKS = {"kept": "✓", "tied": "=", "missed": "✗"}


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
    "magnitude_adamw": "gradual magnitude pruning, AdamW",
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


def compression(part: str) -> Callable[[], str]:
    """Plot, tables and verdicts of a part of `tdamp bench compression`."""

    path = RESULTS / "compression.json"
    return lambda: table.block(json.loads(path.read_text()), part) if path.exists() else table.NOT_MADE


BLOCKS: dict[str, Callable[[], str]] = {
    "claims": claims("the paper's claim", CLAIMS),
    "strong-claims": claims("against stronger rivals", STRONG_CLAIMS),
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
    "compression-digits": compression("mnist"),
    "compression-tables": compression("tables"),
    "probit-sweep": picture("probit-sweep", "Errors of one EP sweep by the number of classes"),
    "sweeps": picture("sweeps", "Test NLL by number of sweeps"),
    "hmc": picture("hmc", "Posterior against HMC, by data weight"),
    "state-evolution": picture("state-evolution", "Mean squared error by sweep, and deviation from theory by size"),
    "shift": picture("shift", "Scores by size of the shift"),
}


def filled(page: Path) -> str:
    """The page with its tables made anew; pictures are found from its own folder."""
    up = "../" * (len(page.relative_to(ROOT / "docs").parts) - 1)

    def block(match: re.Match[str]) -> str:
        made = BLOCKS[match[1]]().replace("](figures/", f"]({up}figures/")
        return f"<!-- {match[1]} -->\n\n{made}\n\n<!-- end -->"

    return BLOCK.sub(block, page.read_text())


def judged_anew(name: str, results: Path = RESULTS) -> dict[str, Any]:
    """The JSON file of a figure as its runs and the present rules make it; nothing is run."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, name)
        shutil.copytree(results / name, copy, ignore=shutil.ignore_patterns("*.png", "*.svg", "*.csv"))
        made = json.loads((copy / f"{name}.json").read_text())
        seeds = max(cell["seeds"] for cell in made["cells"])
        study = registry.FIGURES[name].folder == "studies"
        options = Options(seeds, out=Path(folder)) if study else Options(out=Path(folder), data=())
        registry.run(name, options, Console(quiet=True))
        return json.loads((copy / f"{name}.json").read_text())


def stale(results: Path = RESULTS) -> list[str]:
    """Figures whose JSON file is not what their runs and the present rules make of it."""
    names = [name for name in registry.FIGURES if (results / name / f"{name}.json").exists()]
    return [n for n in names if judged_anew(n, results) != json.loads((results / n / f"{n}.json").read_text())]


def check() -> str:
    """What is wrong with the pages and with results/, and what to do; nothing if all is well."""
    for page in PAGES:
        if filled(page) != page.read_text():
            return f"{page.relative_to(ROOT)} differs from results/: run `python docs/results.py`."
    old = stale()
    wrong = f"results/ has verdicts by other rules than the present ones: run `tdamp reproduce` for {', '.join(old)}."
    return wrong if old else ""


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(check() or None)
    for page in PAGES:
        page.write_text(filled(page))
