"""Commands of other distributions: `tdamp-bench` brings `tdamp bench` and `tdamp reproduce`.

A plug-in is an entry point of the group `tdamp.commands` that names a module with a function `add(commands)`, which
adds a parser as the modules of this folder do.
"""

from __future__ import annotations

import argparse
from importlib.metadata import entry_points
from typing import Any

from .exit_codes import USAGE, CommandError

GROUP = "tdamp.commands"
BENCHMARKS = "bench", "reproduce"
"""Commands of tdamp-bench, which the help names even where it is not installed."""
INSTALL = "install it with `pip install tdamp-bench`, or in a checkout with `pip install -e benchmarks`."


def add_all(commands: Any) -> None:
    """Add the commands of all installed plug-ins, and placeholders for those that cannot be loaded."""
    unavailable = dict.fromkeys(
        BENCHMARKS, f"comes with the distribution tdamp-bench, which is not installed: {INSTALL}"
    )
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            module = point.load()
        except ImportError as error:
            source = point.dist.name if point.dist else "another distribution"
            unavailable[point.name] = f"comes with the distribution {source}, which cannot be imported ({error})." + (
                f" If it is missing, {INSTALL}" if point.name in BENCHMARKS else ""
            )
        else:
            module.add(commands)
            unavailable.pop(point.name, None)
    for name, reason in unavailable.items():
        _add_placeholder(commands, name, reason)


def _add_placeholder(commands: Any, name: str, reason: str) -> None:
    """A command that is listed in the help and stops with a sentence that says what to install."""
    hint = "benchmarks (not installed: pip install tdamp-bench)" if name in BENCHMARKS else "not available"

    def stop(_: argparse.Namespace) -> None:
        raise CommandError(f"tdamp {name} {reason}", USAGE)

    parser = commands.add_parser(name, help=hint, add_help=False, prefix_chars="\0")  # every word is an argument
    parser.add_argument("arguments", nargs="*")
    parser.set_defaults(command=stop)
