"""`tdamp bench SUITE`: measurements, most of them beside peers."""

from __future__ import annotations

import argparse
from pathlib import Path

from tdamp.cli.arguments import count, seed

PARTS = ("mnist", "boston", "keep", "depth", "depth8", "depth16")
UCI_SETS = ("boston", "concrete", "power_plant", "protein", "wine_red", "yacht")
UCI_METHODS = ("tdamp", "gp", "pytagi", "ensemble", "ensemble_adamw", "laplace")
SOAK_PARTS = ("problems", "streams")
COMPRESSED = (
    "mnist", "tables", "lenet_300_100", "lenet_500_300",
    "airfoil", "compactiv", "puma32h", "satimage", "segment", "spambase",
)  # fmt: skip
PRUNED = (
    "houses", "friedman", "sines", "diabetes", "airfoil", "puma32h",
    "houses, 5 classes", "corners", "moons", "digits", "segment", "spambase",
)  # fmt: skip
RESUMABLE = "What has finished is kept and not run again: the command may be interrupted."


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    bench = commands.add_parser("bench", help="measure against peers")
    bench.set_defaults(command=lambda chosen: bench.print_help())
    kinds = bench.add_subparsers(title="benchmarks", metavar="BENCHMARK")

    accuracy = kinds.add_parser("accuracy", help="error by epoch beside Adam, on MNIST and Boston")
    accuracy.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run; all by default")
    accuracy.add_argument("--seeds", nargs="+", type=int, help="default: 0 1 2 for mnist, 0 for the others")
    _add_common(accuracy)
    accuracy.set_defaults(command=run_accuracy)

    speed = kinds.add_parser("speed", help="seconds per epoch, scaling, compilation, memory")
    _add_common(speed)
    speed.set_defaults(command=run_speed)

    growth = kinds.add_parser("growth", help="seconds per epoch against rows, width, depth and units kept")
    _add_common(growth)
    growth.set_defaults(command=run_growth)

    classes = kinds.add_parser(
        "classes",
        help="class probabilities on MNIST beside Adam, an ensemble of Adams and Laplace",
        description=RESUMABLE,
    )
    classes.add_argument("--seeds", nargs="+", type=seed, help="default: 0 1 2")
    _add_common(classes)
    classes.set_defaults(command=run_classes)

    uci = kinds.add_parser(
        "uci",
        help="RMSE, log score and coverage on six tables, beside published figures and four peers",
        description=RESUMABLE,
    )
    uci.add_argument("--sets", nargs="+", choices=UCI_SETS, help="tables; all by default")
    uci.add_argument("--methods", nargs="+", choices=UCI_METHODS, help="all by default")
    uci.add_argument("--splits", type=count, metavar="N", help="the first N splits only; default: 20, protein 5")
    uci.add_argument("--again", action="store_true", help="run also what has finished, and replace it")
    _add_common(uci)
    uci.set_defaults(command=run_uci)

    _add_of_sizes(kinds)

    simulated = kinds.add_parser(
        "simulated",
        help="epistemic variance against true error, on data drawn from the model",
        description=RESUMABLE,
    )
    simulated.add_argument("--draws", type=count, metavar="N", help="the first N draws only; default: 200")
    _add_common(simulated)
    simulated.set_defaults(command=run_simulated)
    _add_stream_and_soak(kinds)


def _add_of_sizes(kinds: argparse._SubParsersAction) -> None:
    compression = kinds.add_parser(
        "compression",
        help="networks of an exact size: published counts on MNIST, and tables, beside AdamW and LightGBM",
        description=RESUMABLE,
    )
    compression.add_argument("--only", nargs="+", choices=COMPRESSED, help="parts or tasks; all by default")
    compression.add_argument("--seeds", type=count, metavar="N", help="repetitions of every run; default: 3")
    _add_common(compression)
    compression.set_defaults(command=run_compression)

    pruning = kinds.add_parser(
        "pruning",
        help='what keep=0.3 and keep="auto" cost on twelve tables, and whether the fit warns',
        description=RESUMABLE,
    )
    pruning.add_argument("--only", nargs="+", choices=PRUNED, metavar="TABLE", help="tables; all by default")
    pruning.add_argument("--seeds", type=count, metavar="N", help="repetitions of every trial; default: 3")
    _add_common(pruning)
    pruning.set_defaults(command=run_pruning)


def _add_stream_and_soak(kinds: argparse._SubParsersAction) -> None:
    stream = kinds.add_parser("stream", help="memory and seconds of fits from Parquet files of up to 5 million rows")
    stream.add_argument("--folder", type=Path, help="for the files, 3 GB at most; by default that of temporary files")
    _add_common(stream)
    stream.set_defaults(command=run_stream)

    soak = kinds.add_parser(
        "soak",
        help="2,000 random networks on hostile data and hostile streams: is anything not finite?",
        description=RESUMABLE,
    )
    soak.add_argument("--only", nargs="+", choices=SOAK_PARTS, default=SOAK_PARTS, help="parts to run; all by default")
    _add_common(soak)
    soak.set_defaults(command=run_soak)


def run_accuracy(chosen: argparse.Namespace) -> None:
    """Accuracy beside Adam."""
    from ..suites.accuracy.run import run

    run(chosen.only, chosen.seeds, chosen.quick, _out(chosen, "accuracy"))


def run_speed(chosen: argparse.Namespace) -> None:
    """Speed beside the peers."""
    from ..suites.speed.run import run

    run(chosen.quick, _out(chosen, "speed"))


def run_growth(chosen: argparse.Namespace) -> None:
    """The cost of an epoch as problems grow."""
    from ..suites.growth.run import run

    run(chosen.quick, _out(chosen, "growth"))


def run_classes(chosen: argparse.Namespace) -> None:
    """Class probabilities beside the peers."""
    from ..suites.classes.run import run

    run(chosen.seeds, chosen.quick, _out(chosen, "classes"))


def run_uci(chosen: argparse.Namespace) -> None:
    """Regression tables beside published figures and the peers."""
    from ..suites.uci.run import run

    run(chosen.sets, chosen.methods, chosen.splits, chosen.quick, _out(chosen, "uci"), chosen.again)


def run_compression(chosen: argparse.Namespace) -> None:
    """Networks of an exact size beside the peers."""
    from ..suites.compression.run import run

    run(chosen.only, chosen.seeds, chosen.quick, _out(chosen, "compression"))


def run_pruning(chosen: argparse.Namespace) -> None:
    """What pruning costs on tables."""
    from ..suites.pruning.run import run

    run(chosen.only, chosen.seeds, chosen.quick, _out(chosen, "pruning"))


def run_simulated(chosen: argparse.Namespace) -> None:
    """Error bars on data drawn from the model."""
    from ..suites.simulated.run import run

    run(chosen.draws, chosen.quick, _out(chosen, "simulated"))


def run_stream(chosen: argparse.Namespace) -> None:
    """Larger than memory."""
    from ..suites.stream.run import run

    run(chosen.quick, _out(chosen, "stream"), chosen.folder)


def run_soak(chosen: argparse.Namespace) -> None:
    """Random networks on hostile data, and hostile streams."""
    from ..suites.soak.run import run

    run(chosen.only, chosen.quick, _out(chosen, "soak"))


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--quick", action="store_true", help="a small run that only shows that everything works")
    command.add_argument("--out", type=Path, help="JSON file, by default in results/; the plot is put next to it")


def _out(chosen: argparse.Namespace, name: str) -> Path:
    """Quick runs do not overwrite the results of full ones."""
    return chosen.out or Path("results", f"{name}-quick.json" if chosen.quick else f"{name}.json")
