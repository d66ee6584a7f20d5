"""Commands of other distributions: `tdamp-bench` brings `tdamp bench` and `tdamp reproduce`.

A plug-in is an entry point of the group `tdamp.commands` that names a module with `add(commands)`, as here.
"""

from __future__ import annotations

import argparse
from importlib.metadata import entry_points
from typing import Any

from .exit_codes import USAGE, CommandError

GROUP = "tdamp.commands"
BENCHMARKS = "reproduce", "bench"
"""Commands of tdamp-bench, which are named in the help even where it is not installed."""


def add_all(commands: Any) -> None:
    """Add the command of every installed plug-in, and a hint for those of tdamp-bench where it is not installed."""
    installed = {point.name: point for point in entry_points(group=GROUP)}
    for name in sorted(installed):
        installed[name].load().add(commands)
    for name in BENCHMARKS:
        if name not in installed:
            _add_missing(commands, name)


def _add_missing(commands: Any, name: str) -> None:
    parser = commands.add_parser(name, help="benchmarks (not installed: pip install tdamp-bench)", add_help=False)
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    parser.set_defaults(command=_refuse_missing, missing=name)


def _refuse_missing(args: argparse.Namespace) -> None:
    raise CommandError(
        f"tdamp {args.missing} comes with the distribution tdamp-bench, which is not installed: install it with "
        "`pip install tdamp-bench`, or in a checkout with `pip install -e benchmarks`.",
        USAGE,
    )
