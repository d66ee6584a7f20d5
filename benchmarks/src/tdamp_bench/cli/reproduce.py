"""`tdamp reproduce FIGURE`: a figure of the paper's evaluation, or a study, from the runs up."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from tdamp.cli.arguments import count
from tdamp.cli.exit_codes import CommandError
from tdamp.cli.output import print_status

FEDERATED = ("federated-curves", "federated-sparsity", "federated-skew")
STUDIES = ("probit-sweep", "sweeps", "hmc", "state-evolution", "shift")
FIGURES = ("curves", "sparsity", "margins", "noise", "ablations", *FEDERATED, *STUDIES)
DATA = ("boston", "mnist")


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "reproduce",
        help="repeat a figure of the paper's evaluation, or a study",
        description="Runs that are finished are kept and never run again: a figure may be interrupted, and made in "
        "parts over several nights. What is drawn always shows every run that the folder holds.",
    )
    command.add_argument("figure", metavar="FIGURE", nargs="?", choices=FIGURES, help=", ".join(FIGURES))
    command.add_argument("--list", action="store_true", help="show the figures and which are in the folder")
    command.add_argument("--seeds", type=count, help="repetitions of every run; 10 by default, as in the paper")
    command.add_argument("--data", nargs="+", choices=DATA, help="data sets to run now; both by default")
    command.add_argument("--methods", nargs="+", metavar="METHOD", help="methods to run now; all by default")
    command.add_argument("--quick", action="store_true", help="a small run that only shows that everything works")
    command.add_argument("--out", type=Path, help="folder; by default results, or results/quick for quick runs")
    command.set_defaults(command=run)


def run(chosen: argparse.Namespace) -> None:
    """Make a figure, or list them."""
    from rich.console import Console

    from ..figures import registry
    from ..figures.options import Options, WrongOption

    options = Options.of(chosen.seeds, chosen.quick, chosen.out, chosen.data, chosen.methods)
    if chosen.list or chosen.figure is None:
        registry.show(options.out, Console())
        return
    try:
        registry.run(chosen.figure, options, Console())
    except WrongOption as error:
        raise CommandError(str(error)) from error
    except KeyboardInterrupt:
        print_status(f"finished runs are kept in {options.folder(chosen.figure)}. Go on with: {same_command(chosen)}")
        raise


def same_command(chosen: argparse.Namespace) -> str:
    """What to type to go on."""
    words = ["tdamp", "reproduce", chosen.figure]
    words += ["--seeds", str(chosen.seeds)] if chosen.seeds else []
    words += ["--data", *chosen.data] if chosen.data else []
    words += ["--methods", *chosen.methods] if chosen.methods else []
    words += ["--quick"] if chosen.quick else []
    words += ["--out", str(chosen.out)] if chosen.out else []
    return shlex.join(words)
