"""The plot: what each trial lost and whether the fit said so, and how far keep="auto" went at what cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.plotting import plt
from .summary import MEAN_LOST, MOST_LOST, share

MARKERS = {True: ("tab:orange", "v", "warned of"), False: ("tab:blue", "o", "nothing said")}


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """Write the PNG."""
    names = list(dict.fromkeys(line["table"] for line in lines))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
    for warned, (color, marker, label) in MARKERS.items():
        some = [line for line in lines if line["pruned"]["warned"] is warned]
        places = [names.index(line["table"]) for line in some]
        left.plot([line["pruned"]["lost"] for line in some], places, marker, color=color, label=label, alpha=0.7)
    left.axvline(0, color="black", lw=0.8)
    for bound in (MEAN_LOST, MOST_LOST):
        left.axvline(bound, color="grey", ls=":", lw=1)
    left.set(xlabel="R2 or accuracy lost by keep=0.3", yticks=range(len(names)), yticklabels=names)
    left.legend(fontsize=8)
    places = [names.index(line["table"]) for line in lines]
    right.plot([share(line["auto"]) for line in lines], places, "o", color="tab:green", alpha=0.7)
    right.axvline(0.5, color="grey", ls=":", lw=1)
    right.set(xlabel='share of the groups left by keep="auto"', xlim=(0, 1.03))
    left.invert_yaxis()
    for axes in (left, right):
        axes.grid(alpha=0.25)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
