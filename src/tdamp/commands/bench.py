"""`tdamp bench accuracy` and `tdamp bench speed`: measurements beside peers (extra `bench`)."""

from __future__ import annotations

import argparse
from pathlib import Path

PARTS = ("mnist", "boston", "keep", "depth")


def add(commands: argparse._SubParsersAction) -> None:
    """On the parser."""
    bench = commands.add_parser("bench", help="measure against peers (extra `bench`)")
    bench.set_defaults(command=lambda chosen: bench.print_help())
    kinds = bench.add_subparsers(title="benchmarks", metavar="BENCHMARK")

    accuracy = kinds.add_parser("accuracy", help="error by epoch beside Adam, on MNIST and Boston")
    accuracy.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run; all by default")
    accuracy.add_argument("--seeds", nargs="+", type=int, help="default: 0 1 2 for mnist, 0 for keep and depth")
    _add_common(accuracy)
    accuracy.set_defaults(command=run_accuracy)

    speed = kinds.add_parser("speed", help="seconds per epoch, scaling, compilation, memory")
    _add_common(speed)
    speed.set_defaults(command=run_speed)


def run_accuracy(chosen: argparse.Namespace) -> None:
    """Accuracy beside Adam."""
    from ..bench.accuracy.run import run

    run(chosen.only, chosen.seeds, chosen.quick, _out(chosen, "accuracy"))


def run_speed(chosen: argparse.Namespace) -> None:
    """Speed beside the peers."""
    from ..bench.speed.run import run

    run(chosen.quick, _out(chosen, "speed"))


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--quick", action="store_true", help="a small run that only shows that everything works")
    command.add_argument("--out", type=Path, help="JSON file, by default in results/; the plot is put next to it")


def _out(chosen: argparse.Namespace, name: str) -> Path:
    """Quick runs do not overwrite the results of full ones."""
    return chosen.out or Path("results", f"{name}-quick.json" if chosen.quick else f"{name}.json")
