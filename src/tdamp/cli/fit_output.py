"""What `tdamp fit` prints."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .output import align_columns, format_number

if TYPE_CHECKING:
    from ..estimators import Estimator
    from ..tables import Encoder

SHOWN = 8


def print_data_summary(args: argparse.Namespace, encoder: Encoder, n_rows: int, n_usable: int) -> None:
    """Print, before training, what was read and how it is encoded; with --json on standard error."""
    targets = ", ".join(encoder.target_names)
    rows = f"{n_rows:,} rows" if n_rows == n_usable else f"{n_rows:,} rows, {n_usable:,} of them with a target"
    where = sys.stderr if args.json else sys.stdout
    print(f"{args.data}: {rows}; {encoder.task} of {targets} on {len(encoder.columns)} columns", file=where)
    for note in encoder.notes:
        print(f"  - {note}", file=where)
    where.flush()  # the progress bar is on another stream


def network_sizes(estimator: Estimator) -> dict[str, dict[str, Any]]:
    """Widths and counts of the network that was asked for, and of what is left of it."""
    pair = {"asked": estimator.network_, "left": estimator.fitted_.network}
    return {
        name: {
            "widths": list(network.widths),
            "units": network.n_units,
            "parameters": network.n_params,
            "multiply_adds": network.n_multiply_adds,
        }
        for name, network in pair.items()
    }


def size_rows(estimator: Estimator) -> list[tuple[str, ...]]:
    """The sizes as rows of a table."""
    both = network_sizes(estimator)
    asked, left = both["asked"], both["left"]
    rows: list[tuple[str, ...]] = [("", "asked for", "left")]
    rows.append(("network", "-".join(map(str, asked["widths"])), "-".join(map(str, left["widths"]))))
    rows.append(("units (inputs and hidden)", format_number(asked["units"]), format_number(left["units"])))
    if estimator.settings_.prunes:
        groups, total = estimator.n_groups_
        rows.append(("groups (what keep counts)", format_number(total), format_number(groups)))
    rows.append(("parameters", format_number(asked["parameters"]), format_number(left["parameters"])))
    return rows


def format_noise(estimator: Estimator, facts: dict[str, Any]) -> str:
    """The learned noise as a line of text, or that there is none."""
    output = estimator.network_.output
    if not output.learns_noise:
        return f"Noise level: none, the likelihood {output.name} has none to learn"
    levels = ", ".join(format_number(level, 3) for level in facts["noise_std"])
    of = "the class scores" if output.has_classes else ", ".join(facts["targets"]) or "the target"
    return f"Noise level (standard deviation of {of}): {levels}"


def score_lines(scores: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Name, value and meaning of each score."""
    log_score = ("log score", format_number(scores["log_score"]))
    if "accuracy" in scores:
        guess = f"always the commonest class: {scores['accuracy_of_commonest']:.1%}"
        return [
            ("accuracy", f"{scores['accuracy']:.1%}", guess),
            (*log_score, "mean log probability of the true class; 0 is perfect"),
            ("calibration error", f"{scores['ece']:.1%}", "gap between confidence and accuracy (ECE)"),
        ]
    lines = []
    for target, one in scores.get("by_target", {"": scores}).items():
        of = f" of {target}" if target else ""
        lines += [
            (f"R2{of}", format_number(one["r2"], 3), "1 is perfect, 0 as good as the mean"),
            (f"RMSE{of}", format_number(one["rmse"]), f"always the mean: {format_number(one['rmse_of_mean'])}"),
            (f"95 % coverage{of}", f"{one['coverage_95']:.1%}", coverage_meaning(one["coverage_95"], scores["rows"])),
        ]
    return [*lines, (*log_score, "mean log density of the true value; higher is better")]


def coverage_meaning(share: float, rows: int) -> str:
    """What a coverage means; below 95 % by three standard deviations of a count it is too low to be chance."""
    wrong = " (too narrow)" if share < 0.95 - 3 * math.sqrt(0.95 * 0.05 / rows) else ""
    return f"true values inside their 95 % intervals{wrong}"


def format_scores(scores: dict[str, Any]) -> str:
    """Scores as aligned lines with their meaning."""
    lines = score_lines(scores)
    wide, value = max(len(name) for name, _, _ in lines), max(len(text) for _, text, _ in lines)
    return "\n".join(f"  {name:<{wide}}  {text:>{value}}  {meaning}" for name, text, meaning in lines)


def summary(folder: Path, estimator: Estimator, encoder: Encoder, facts: dict[str, Any]) -> str:
    """What is printed after training."""
    trained = f"Trained on {facts['train_rows']:,} rows and {facts['inputs']} inputs"
    parts = [f"{trained}: {facts['epochs']} epochs, {facts['seconds']:.1f} s.", align_columns(size_rows(estimator))]
    if estimator.settings_.prunes or estimator.keep == "auto":
        parts.append(pruning_line(estimator))
    gone = removed_columns(estimator, encoder)
    if gone:
        more = f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""
        hint = " To keep all columns leave out --prune-inputs."
        parts.append(f"Columns that the network does without: {', '.join(gone[:SHOWN])}{more}.{hint}")
    if facts["test"]:
        parts.append(f"Scores on {facts['test_rows']:,} test rows, which training did not see:")
        parts.append(format_scores(facts["test"]))
    else:
        parts.append("No test rows, so no honest score: `tdamp predict` scores a table that has the target.")
    parts.append(format_noise(estimator, facts))
    place = shlex.quote(str(folder))
    parts.append(f"Saved in {folder}. Next:")
    parts.append(f"  tdamp predict {place} NEW.csv --out predictions.csv\n  tdamp report {place} --out report.html")
    parts.append(f"  tdamp inspect {place}\n  tdamp export {place} --to onnx")
    return "\n".join(parts)


def pruning_line(estimator: Estimator) -> str:
    """How many groups remain, and what that cost on rows that were not trained on."""
    if not estimator.settings_.prunes:
        return "Nothing was pruned: no smaller network was as good on rows held out."
    left, total = estimator.n_groups_
    of = "inputs and hidden units" if estimator.settings_.prune_inputs else "hidden units"
    line, loss = (
        f"Pruned to {left} of {total} groups ({of}; the inputs of one column are a group)",
        estimator.pruning_loss_,
    )
    if loss is None:
        judged = any("held_out" in record for record in estimator.fitted_.history)
        return (
            f"{line}; {'no epoch had all units to compare with' if judged else 'no rows were held out'}, so that "
            + ("nothing says what that cost.")
        )
    measure = "accuracy" if estimator.network_.output.has_classes else "R2"
    return (
        f"{line}. By rows held out {measure} was {loss.accuracy_before:.3f} before and {loss.accuracy_after:.3f} after "
        f"(standard error of the difference {loss.accuracy_std_error:.3f})."
    )


def removed_columns(estimator: Estimator, encoder: Encoder) -> list[str]:
    """Columns of the table of which no input remains."""
    left = set(encoder.groups[estimator.fitted_.inputs].tolist())
    return [column.name for i, column in enumerate(encoder.columns) if i not in left]
