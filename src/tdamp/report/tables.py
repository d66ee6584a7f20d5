"""Tables of the page, each in a box of its own that scrolls sideways where the screen is narrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .facts import Facts
from .plots.units import frontier_rows, kept, known
from .text import DASH, number, percent, safe, short

EPOCHS_SHOWN = 50

NAMES = {
    "keep": "kept",
    "units": "units",
    "params": "parameters",
    "error": "error",
    "rmse": "RMSE",
    "log_score": "log score",
    "calibration_error": "calibration error",
}
MOST_NAMES = 6
"""Removed columns that are named for a step of the path."""
SHARES = ("error", "calibration_error")
FIRST = ("epoch", "seconds", "data_weight", "noise_var", "log_evidence", "held_out", "active_units")


def table(label: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are escaped already; `label` says to a screen reader what scrolls."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    box = f'<div class="scroll" role="region" tabindex="0" aria-label="{safe(label)}">'
    return f"{box}<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def frontier(facts: Facts) -> str:
    """The sparsity path, or nothing."""
    rows = frontier_rows(facts)
    if not rows:
        return ""
    keys = [key for key in NAMES if any(known(row, key) for row in rows)]
    cells = [[_frontier_cell(key, row) if known(row, key) else DASH for key in keys] for row in rows]
    head = [NAMES[key] for key in keys]
    if any(row.get("removed") for row in rows):
        head.append("columns removed")
        cells = [[*cell, _removed(row.get("removed", ()))] for cell, row in zip(cells, rows, strict=True)]
    if any("warned" in row for row in rows):
        head.append("warned")
        cells = [[*cell, "yes" if row.get("warned") else "no"] for cell, row in zip(cells, rows, strict=True)]
    html = table("Sparsity path", head, cells)
    return f'<div class="card"><h3>The path in numbers</h3>{html}</div>'


def epochs(facts: Facts) -> str:
    """The training's records, folded away; evenly picked ones if there are many."""
    if not facts.history:
        return ""
    picked = np.unique(
        np.linspace(0, len(facts.history) - 1, min(len(facts.history), EPOCHS_SHOWN)).round().astype(int)
    )
    seen = {key for record in facts.history for key in record}
    keys = [key for key in FIRST if key in seen] + sorted(seen - set(FIRST))
    rows = [[_value(facts.history[i].get(key)) for key in keys] for i in picked]
    title = "Epoch by epoch" + (
        f" ({len(picked)} of {len(facts.history)} epochs)" if len(picked) < len(facts.history) else ""
    )
    head = [safe(key.replace("_", " ")) for key in keys]
    return f'<details class="card"><summary>{title}</summary>{table("Epoch by epoch", head, rows)}</details>'


def _frontier_cell(key: str, row: Mapping[str, Any]) -> str:
    value, error = row[key], f"{key}_se"
    if key == "keep":
        return safe(kept(value))
    if key in ("units", "params"):
        return f"{round(value):,}"
    written = percent if key in SHARES else partial(number, digits=3)
    return f"{written(value)} ± {written(row[error])}" if known(row, error) else written(value)


def _removed(names: Sequence[str]) -> str:
    """Columns that the next larger network still has."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return safe(", ".join(short(name, 20) for name in names[:MOST_NAMES]) + more) or DASH


def _value(value: object) -> str:
    if value is None:
        return DASH
    if isinstance(value, str):
        return safe(value)
    many = [number(v, 4) for v in np.ravel(np.asarray(value, object))]
    return ", ".join(many[:6]) + (", …" if len(many) > 6 else "")
