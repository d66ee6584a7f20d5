"""The command `tdamp bench classes`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from ...core import problems, record
from ...core.progress import bar
from ...methods.baselines.strong_grids import STRONG
from . import figure, table
from .contenders import FAMILIES
from .our_tuning import choices, preset, tune_ours
from .plan import FULL, QUICK, SEEDS, Plan
from .scores import scores
from .sets import sets
from .summary import summary, verdicts
from .tuning import tune, tune_strong

SUMMARY = "summary"
TUNINGS = {"tuning": tune, "tuning of AdamW": tune_strong, "tuning of tdamp": tune_ours}
NEEDS = {
    "adam": "tuning",
    "adamw": "tuning of AdamW",
    "ensemble": "tuning",
    "ensemble_adamw": "tuning of AdamW",
    "laplace": "tuning",
    "tdamp_tuned": "tuning of tdamp",
}
"""Parts of the file beside those of each family of methods and seed; and which family needs which."""


def run(
    seeds: Sequence[int] | None = None,
    quick: bool = False,
    out: Path = Path("results/classes.json"),
    console: Console | None = None,
    families: Sequence[str] = tuple(FAMILIES),
) -> dict[str, Any]:
    """Train and score what is not in the file yet, then tables and plot of what it holds; may be interrupted."""
    console = console or Console()
    if "laplace" in families:
        importlib.import_module("...methods.baselines.laplace_library", __package__)
    plan = QUICK if quick else FULL
    seeds = seeds if seeds is not None else SEEDS[: 1 if quick else None]
    wanted = [(family, seed) for seed in seeds for family in families]
    _fill(out, plan, wanted, console)
    known = _known(out, plan)
    summarised = summary(known, seeds)
    part = record.part(summarised | {"quick": quick}, verdicts(known, summarised), record.surroundings())
    report = record.save(out, "classes", {SUMMARY: part})
    part = report["parts"][SUMMARY]
    figure.draw(part, out.with_suffix(".png"))
    out.with_suffix(".md").write_text(table.markdown(part, quick))
    table.show(console, part)
    console.print(f"Written: {out}, {out.with_suffix('.md')} and {out.with_suffix('.png')}")
    return report


def _fill(out: Path, plan: Plan, wanted: Sequence[tuple[str, int]], console: Console) -> None:
    """Run what the file does not hold."""
    known = _known(out, plan)
    missing = [(family, seed) for family, seed in wanted if part_name(family, seed) not in known]
    if not missing:
        return
    problem = problems.mnist(plan.rows, plan.test_rows)
    asked = sets(problem.x_test, problem.y_test, plan)
    with bar(console, "classes", _steps(known, plan, missing)) as tick:
        for family, seed in missing:
            first = NEEDS.get(family)
            if first and first not in known:
                known[first] = _save(out, first, plan, TUNINGS[first](problem, plan, tick))
            trained = FAMILIES[family](problem, plan, known[first] if first else {}, seed)
            methods = {
                name: scores(one.probs, asked) | {"seconds": one.seconds._asdict(), "notes": one.notes}
                for name, one in trained.items()
            }
            _save(out, part_name(family, seed), plan, {"seed": seed, "methods": methods})
            tick(part_name(family, seed))


def _steps(known: dict[str, Any], plan: Plan, missing: Sequence[tuple[str, int]]) -> int:
    """How often the bar moves."""
    first = {NEEDS[family] for family, _ in missing if family in NEEDS} - set(known)
    sizes = {
        "tuning": len(plan.rates),
        "tuning of AdamW": len(STRONG["mnist"]),
        "tuning of tdamp": len(choices(plan)),
    }
    return len(missing) + sum(sizes[name] for name in first)


def part_name(family: str, seed: int) -> str:
    """Of the file."""
    return f"{family}, seed {seed}"


def _save(out: Path, name: str, plan: Plan, body: dict[str, Any]) -> dict[str, Any]:
    """Into the file, with what it was run with; as it then stands there."""
    where = record.surroundings()
    where["versions"]["laplace-torch"] = record.version("laplace-torch")
    part = record.part(body | {"run_with": run_with(name, plan)}, [], where)
    return record.save(out, "classes", {name: part})["parts"][name]


def _known(out: Path, plan: Plan) -> dict[str, Any]:
    """The parts of the file that were run as this plan has it."""
    parts = json.loads(out.read_text())["parts"] if out.exists() else {}
    return {name: part for name, part in parts.items() if part.get("run_with") == run_with(name, plan)}


def run_with(name: str, plan: Plan) -> str:
    """All that a part depends on: with other settings tdamp runs again, with another grid AdamW, and nothing else."""
    family = name.partition(",")[0]
    if "tuning of AdamW" in (family, NEEDS.get(family)):
        return f"{plan}, {[str(recipe) for recipe in STRONG['mnist']]}"
    if family == "tdamp":
        return f"{plan}, {preset(plan)}"
    return f"{plan}, {choices(plan)}" if family in ("tdamp_tuned", "tuning of tdamp") else str(plan)
