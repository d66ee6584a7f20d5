"""`tdamp inspect`: what is in a model folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .files import Model, open_model
from .fit_output import format_noise, format_scores, network_sizes, size_rows
from .output import align_columns, format_number, print_json

if TYPE_CHECKING:
    from ..estimators import Estimator

SHOWN = 30


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    inspect = commands.add_parser(
        "inspect",
        help="show what is in a model folder",
        description="Show sizes, the probability that each input is needed, the noise and the training of a model.",
    )
    inspect.add_argument("model", type=Path, metavar="MODEL", help="folder that `tdamp fit` has made")
    inspect.add_argument("--json", action="store_true", help="print one JSON object")
    inspect.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Print what is in a model folder."""
    model = open_model(args.model)
    facts = describe(model)
    if args.json:
        print_json(facts)
    else:
        print(format_text(model, facts))


def describe(model: Model) -> dict[str, Any]:
    """The facts of a model as a dictionary for JSON."""
    estimator = model.estimator
    stored = {k: v for k, v in model.facts.items() if k != "test_predictions"}
    return {
        "model": str(model.folder),
        "task": estimator.network_.task,
        "targets": [],
        **stored,
        "activation": estimator.network_.activation,
        "keep": estimator.keep,
        "prior": estimator.settings_.prior,
        "classes": getattr(estimator, "classes_", None),
        "noise_std": noise_levels(estimator),
        "size": network_sizes(estimator),
        "columns": column_relevance(model),
        "features": list(getattr(estimator, "feature_names_in_", ())),
        "training": training(estimator),
        "notes": [] if model.encoder is None else model.encoder.notes,
    }


def noise_levels(estimator: Estimator) -> list[float]:
    """Standard deviation of the noise of each output, in its units; one for class scores; none for counts."""
    import numpy as np

    if not estimator.network_.output.learns_noise:
        return []
    return np.sqrt(np.atleast_1d(estimator.noise_var_)).tolist()


def column_relevance(model: Model) -> list[dict[str, Any]]:
    """P(needed) of each column (that of its likeliest input), its inputs and how many are left; likeliest first."""
    estimator = model.estimator
    prob = estimator.feature_active_prob_
    left = set(estimator.fitted_.inputs.tolist())
    if model.encoder is not None:
        groups = model.encoder.groups.tolist()
        names = [column.name for column in model.encoder.columns]
    else:
        groups = list(range(len(prob)))
        names = [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{i}" for i in groups])]
    columns = []
    for at, name in enumerate(names):
        inputs = [i for i, group in enumerate(groups) if group == at]
        likely = max(float(prob[i]) for i in inputs)
        columns.append({"name": name, "needed": likely, "inputs": len(inputs), "left": len(left.intersection(inputs))})
    return sorted(columns, key=lambda one: -one["needed"])


def training(estimator: Estimator) -> dict[str, Any]:
    """Summary of the training history."""
    history = estimator.fitted_.history
    held = [record["held_out"] for record in history if record.get("held_out") is not None]
    return {
        "epochs": len(history),
        "seconds": sum(float(record.get("seconds") or 0) for record in history),
        "best_held_out": max(held) if held else None,
        "last_log_evidence": history[-1].get("log_evidence") if history else None,
        "outcome": estimator.fitted_.outcome.name,
        "sentence": str(estimator.fitted_.outcome),
    }


def format_text(model: Model, facts: dict[str, Any]) -> str:
    """The facts of a model as text."""
    history, data = facts["training"], model.facts.get("data", {})
    of = f" of {', '.join(facts['targets'])}" if facts["targets"] else ""
    rows = f" on {facts['train_rows']:,} rows of {data.get('file')}" if "train_rows" in facts else ""
    parts = [
        f"{model.folder}: {facts['task']}{of}, {facts['activation']} network, {facts['prior']} prior",
        f"Trained{rows}: {history['epochs']} epochs, {history['seconds']:.1f} s. {history['sentence']}",
    ]
    if history["best_held_out"] is not None:
        parts.append(
            f"Best log score on the rows held out to stop by: {format_number(history['best_held_out'])} (scaled units)"
        )
    parts += [align_columns(size_rows(model.estimator)), format_noise(model.estimator, facts)]
    if facts.get("test"):
        parts += [
            f"Scores on {facts['test_rows']:,} test rows, which training did not see:",
            format_scores(facts["test"]),
        ]
    rows_ = [("column", "P(needed)", "inputs", "left")]
    for one in facts["columns"][:SHOWN]:
        shown = f"{one['needed']:.3f}" if one["left"] else "removed"
        rows_.append((one["name"], shown, str(one["inputs"]), str(one["left"])))
    parts.append(align_columns(rows_))
    more = len(facts["columns"]) - SHOWN
    if more > 0:
        parts.append(f"  and {more} more: see --json")
    return "\n".join(parts)
