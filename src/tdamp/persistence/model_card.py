"""The model card: a page of Markdown that is stored beside a model, for the person who finds it."""

from __future__ import annotations

from typing import Any

import numpy as np


def card(estimator: Any) -> str:
    """Markdown with the size, training and limits of a fitted estimator."""
    fitted, asked = estimator.fitted_, estimator.network_
    left = fitted.network
    last = fitted.history[-1] if fitted.history else {}
    held = [record["held_out"] for record in fitted.history if "held_out" in record]
    lines = [
        f"# {type(estimator).__name__}",
        "",
        f"A Bayesian neural network for {asked.task}, trained by message passing (EM-TDAMP) with tdamp.",
        "",
        "| | asked for | this model |",
        "|---|---|---|",
        f"| widths | {_widths(asked)} | {_widths(left)} |",
        f"| units (inputs and hidden) | {asked.n_units} | {left.n_units} |",
        f"| parameters | {asked.n_params} | {left.n_params} |",
        f"| multiply-adds | {asked.n_multiply_adds} | {left.n_multiply_adds} |",
        "",
        f"- Activation: {asked.activation}",
        f"- Epochs: {len(fitted.history)}",
    ]
    if asked.output.learns_noise:
        lines.append(f"- Noise variance, in standardised units: {np.mean(last.get('noise_var', np.nan)):.3g}")
    lines.append(f"- {fitted.outcome}")
    if held:
        lines.append(f"- Best log score on the rows held out of training: {max(held):.4f} a row (standardised units)")
    if hasattr(estimator, "classes_"):
        lines.append(f"- Classes: {', '.join(map(str, estimator.classes_))}")
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        lines.append(f"- Inputs read: {', '.join(str(names[i]) for i in fitted.inputs)}")
    lines += [
        "",
        "## Limits",
        "",
        "The posterior is approximate: weights are taken to be independent and layers to be wide. Check the",
        "calibration of its predictions on data of your own before you rely on them. It extrapolates where it saw",
        "no data.",
        "",
        "## Use",
        "",
        "```python",
        "import tdamp",
        'model = tdamp.load("this folder")',
        "```",
        "",
    ]
    return "\n".join(lines)


def _widths(network: Any) -> str:
    return "-".join(map(str, network.widths))
