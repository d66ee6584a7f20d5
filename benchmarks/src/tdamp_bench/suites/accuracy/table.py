"""Tables of the accuracy benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from ...core.scoring import at
from ...core.tables import grid, show_verdicts
from ...methods.baselines.recipe import Recipe
from .contest import STRONG_ADAM

EPOCHS = 1, 3, 5, 10, 20, 25, 30
BOSTON_EPOCHS = 5, 10, 20, 50, 100
TITLES = {
    "mnist": "MNIST 784-128-10, test error in %, mean over seeds",
    "depth": "MNIST 784-256-256-256-256-10, test error in %",
    "depth8": "MNIST 784-256x8-10, test error in %",
    "depth16": "MNIST 784-256x16-10, test error in %",
    "keep": "MNIST 784-128-10 pruned, test error in %",
    "boston": "Boston 13-64-64-1, test NMSE, mean over splits",
}


def show(console: Console, name: str, part: dict[str, Any]) -> None:
    """The curves of one part at a few epochs, then its verdicts."""
    lines = list(curves(name, part))
    longest = max(len(curve) for _, curve, _ in lines)
    epochs = [epoch for epoch in (BOSTON_EPOCHS if name == "boston" else EPOCHS) if epoch <= longest]
    rows = [[label, *(_text(name, curve, epoch) for epoch in epochs), extra] for label, curve, extra in lines]
    console.print(grid(TITLES[name], ["epoch", *map(str, epochs), "last NLL"], rows))
    show_verdicts(console, part["verdicts"])


def curves(name: str, part: dict[str, Any]) -> Iterator[tuple[str, Sequence[float], str]]:
    """Label, error by epoch, and the last negative log-likelihood as text, of every contender of a part."""
    if name == "keep":
        for keep, scored in part["by_keep"].items():
            yield f"tdamp, keep {keep} ({scored['units']} units)", scored["mean"]["error"], _last(scored["mean"])
        return
    key = "nmse" if name == "boston" else "error"
    for contender, mean in part["mean"].items():
        known = part.get("learning_rates", {})
        chosen = known.get(contender) or known.get(contender.removeprefix("adam_"))  # older files name the library
        yield _label(contender, chosen) if chosen else contender, mean[key], _last(mean)
        if contender.startswith("tdamp"):
            yield f"{contender}, predictive", mean[f"{key}_predictive"], ""
    for library, scored in part.get("adam", {}).items():
        name = library if library == STRONG_ADAM else f"adam_{library}"
        yield f"{_label(name, scored)}, by validation", scored["chosen_test_mean"], ""
        yield f"{_name(name)}, best recipe at each epoch", scored["envelope"], ""


def _name(contender: str) -> str:
    if contender.startswith(STRONG_ADAM):
        ends = contender.removeprefix(STRONG_ADAM).removeprefix("_")
        return f"AdamW ending at {ends}" if ends else "AdamW"
    return f"Adam ({contender.removeprefix('adam_')})"


def _label(contender: str, chosen: dict[str, Any]) -> str:
    return f"{_name(contender)}, {Recipe.of(chosen.get('recipe', chosen['chosen']))}"


def _text(name: str, curve: Sequence[float], epoch: int) -> str:
    if epoch > len(curve):
        return ""
    value = at(curve, epoch)
    return f"{value:.4f}" if name == "boston" else f"{100 * value:.2f}"


def _last(mean: dict[str, Any]) -> str:
    return f"{mean['nll'][-1]:.4f}" if "nll" in mean else ""
