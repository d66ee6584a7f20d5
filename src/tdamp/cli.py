"""The command line: `tdamp demo`, `tdamp bench accuracy | speed`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

PARTS = ("mnist", "boston", "keep", "depth")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    from .bench.extras import MissingExtra
    from .datasets import DataNotFound

    chosen = parser().parse_args(arguments)
    try:
        return chosen.command(chosen) or 0
    except (MissingExtra, DataNotFound) as error:
        print(f"tdamp: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """Every command adds itself here; a command is a function of the parsed arguments."""
    root = argparse.ArgumentParser(prog="tdamp", description="Neural networks trained by message passing.")
    commands = root.add_subparsers(title="commands", required=True)
    add_demo(commands)
    add_bench(commands)
    return root


def add_demo(commands: argparse._SubParsersAction) -> None:
    """`tdamp demo`."""
    demo = commands.add_parser("demo", help="train on embedded digits, prune to 30 %% of the units, compare")
    demo.add_argument("--seed", type=int, default=0, help="of the random start and the order of the data")
    demo.set_defaults(command=run_demo)


def run_demo(chosen: argparse.Namespace) -> None:
    """The digits demo."""
    from .demo import run

    run(seed=chosen.seed)


def add_bench(commands: argparse._SubParsersAction) -> None:
    """`tdamp bench accuracy` and `tdamp bench speed`."""
    bench = commands.add_parser("bench", help="measure against peers (extra `bench`)")
    kinds = bench.add_subparsers(title="benchmarks", required=True)

    accuracy = kinds.add_parser("accuracy", help="error by epoch beside Adam, on MNIST and Boston")
    accuracy.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run; all by default")
    accuracy.add_argument("--seeds", nargs="+", type=int, help="default: 0 1 2 for mnist, 0 for keep and depth")
    _add_common(accuracy)
    accuracy.set_defaults(command=bench_accuracy)

    speed = kinds.add_parser("speed", help="seconds per epoch, scaling, compilation, memory")
    _add_common(speed)
    speed.set_defaults(command=bench_speed)


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--quick", action="store_true", help="a small run that only shows that everything works")
    command.add_argument("--out", type=Path, help="JSON file, by default in results/; the plot is put next to it")


def _out(chosen: argparse.Namespace, name: str) -> Path:
    """Quick runs do not overwrite the results of full ones."""
    return chosen.out or Path("results", f"{name}-quick.json" if chosen.quick else f"{name}.json")


def bench_accuracy(chosen: argparse.Namespace) -> None:
    """Accuracy beside Adam."""
    from .bench.accuracy.run import run

    run(chosen.only, chosen.seeds, chosen.quick, _out(chosen, "accuracy"))


def bench_speed(chosen: argparse.Namespace) -> None:
    """Speed beside the peers."""
    from .bench.speed.run import run

    run(chosen.quick, _out(chosen, "speed"))


if __name__ == "__main__":
    sys.exit(main())
