"""`tdamp demo`: the whole library in half a minute, on embedded digits."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import arguments


def add(commands: argparse._SubParsersAction) -> None:
    """On the parser."""
    demo = commands.add_parser("demo", help="train on embedded digits, prune to 30 %% of the units, compare")
    demo.add_argument("--seed", type=arguments.seed, default=0, help="of the random start and the order of the data")
    demo.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="for the files; here by default")
    demo.set_defaults(command=run)


def run(chosen: argparse.Namespace) -> None:
    """The digits demo."""
    from . import demo_run as demo

    demo.run(seed=chosen.seed, out=chosen.out)
