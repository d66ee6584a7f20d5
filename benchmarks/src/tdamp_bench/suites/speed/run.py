"""The command `tdamp bench speed`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from tdamp._optional import need

from ...core import presets, problems, record
from ...core.progress import Tick, bar
from ...methods.baselines import gemm
from ...methods.baselines.adam import LIBRARIES
from . import compaction, epochs, figure, probe, table
from .plan import FULL, QUICK, Plan

PEAK_LIMIT = 1.5e9
STATE_LIMIT = 4.0
COMPILE_LIMIT = 2.5


def run(quick: bool = False, out: Path = Path("results/speed.json"), console: Console | None = None) -> dict[str, Any]:
    """Measure everything, print it, write it; the JSON file holds what is done so far."""
    console = console or Console()
    for module in ("torch", "pytagi"):
        need(module, "peers", "tdamp-bench")
    plan = QUICK if quick else FULL
    where = record.surroundings() | {"quick": quick}
    problem = problems.mnist(plan.rows)
    report: dict[str, Any] = {}
    with bar(console, "speed", steps(plan)) as tick:
        for name, measure in PIECES.items():
            body, verdicts = measure(problem, plan, tick)
            report = record.save(out, "speed", {name: record.part(body, verdicts, where)})
    figure.draw(report["parts"], out.with_suffix(".png"))
    table.show(console, report["parts"])
    console.print(f"Written: {out} and {out.with_suffix('.png')}")
    return report


def steps(plan: Plan) -> int:
    """How often a run ticks."""
    rounds = plan.warmup + plan.epochs + len(plan.hidden) * (plan.warmup + plan.width_epochs)
    return rounds + plan.keep_epochs + len(plan.compile_cases) + 1


Piece = tuple[dict[str, Any], list[record.Verdict]]


def _epoch(problem: problems.Problem, plan: Plan, tick: Tick) -> Piece:
    from ...methods.baselines.adam_torch import choose_threads

    widths = (784, probe.HIDDEN, 10)
    threads = choose_threads(problem, widths, plan.batch)
    peers = epochs.adam_peers(LIBRARIES, problem, widths, plan.batch)
    peers["pytagi"] = epochs.pytagi_peer(problem, probe.HIDDEN, plan.batch, plan.pytagi_rows)
    before = gemm.measure(plan.gemm_size, plan.gemm_repeats)
    seconds = epochs.interleaved(problem, widths, presets.MNIST, peers, plan.epochs, plan.warmup, tick)
    gemms = gemm.better(before, gemm.measure(plan.gemm_size, plan.gemm_repeats))
    body = epochs.summary(seconds, widths, len(problem.x), gemms["rate"])
    config = {"batch": plan.batch, "torch_threads": threads, "pytagi_rows": plan.pytagi_rows, "pytagi_outputs": 11}
    return body | {"config": config, "gemm": gemms, "settings": str(presets.MNIST)}, epochs.verdicts(body)


def _width(problem: problems.Problem, plan: Plan, tick: Tick) -> Piece:
    from ...methods.baselines.adam_torch import choose_threads

    measured, gemms = {}, gemm.measure(plan.gemm_size, plan.gemm_repeats)
    for hidden in plan.hidden:
        some = problem.first(plan.wide_rows) if hidden >= plan.wide_from else problem
        widths = (784, hidden, 10)
        threads = choose_threads(some, widths, plan.batch)
        peers = epochs.adam_peers(LIBRARIES, some, widths, plan.batch)
        seconds = epochs.interleaved(some, widths, presets.MNIST, peers, plan.width_epochs, plan.warmup, tick)
        measured[hidden] = seconds, len(some.x), threads
    gemms = gemm.better(gemms, gemm.measure(plan.gemm_size, plan.gemm_repeats))
    by_hidden = {
        str(hidden): epochs.summary(seconds, (784, hidden, 10), rows, gemms["rate"]) | {"torch_threads": threads}
        for hidden, (seconds, rows, threads) in measured.items()
    }
    return {"gemm": gemms, "by_hidden": by_hidden}, []


def _compaction(problem: problems.Problem, plan: Plan, tick: Tick) -> Piece:
    body = compaction.measure(problem, (784, probe.HIDDEN, 10), presets.sparse(plan.keep), plan.keep_epochs, tick)
    return body | {"keep": plan.keep}, compaction.verdicts(body)


def _compile(problem: problems.Problem, plan: Plan, tick: Tick) -> Piece:
    cases = []
    for sweeps, layers in plan.compile_cases:
        cases.append(probe.ask(what="compile", sweeps=sweeps, layers=layers, rows=plan.probe_rows))
        tick(f"compilation, {sweeps} sweeps, {layers} layers")
    worst = max(case["compile"] for case in cases)
    return {"cases": cases}, [record.Verdict("Compile time, slowest case, seconds", worst, "<=", COMPILE_LIMIT)]


def _memory(problem: problems.Problem, plan: Plan, tick: Tick) -> Piece:
    body = probe.ask(what="memory", rows=plan.rows, epochs=plan.memory_epochs)
    tick("memory")
    return body, [
        record.Verdict("Peak resident memory of an MNIST training, bytes", body["peak_bytes"], "<=", PEAK_LIMIT),
        record.Verdict(
            "Posterior state, arrays the size of the weights", body["state_over_weights"], "<=", STATE_LIMIT
        ),
    ]


PIECES = {"epoch": _epoch, "width": _width, "compaction": _compaction, "compile": _compile, "memory": _memory}
