"""The command line `tdamp`: the parser, and how a command ends."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from . import data, demo, export, federate, fit, inspect, plugins, predict, report
from .arguments import Parser
from .exit_codes import (
    BROKEN_PIPE,
    INTERRUPTED,
    OK,
    CommandError,
    error_message,
    exit_code,
    is_interrupt,
    repeat_lost_interrupts,
)
from .output import print_status, print_warnings_plainly

COMMANDS = (fit, predict, report, inspect, export, federate, data, demo)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code. Without arguments it is the program, with those of the command line."""
    code = _run(arguments)
    if code == INTERRUPTED and arguments is None:
        # XLA may still be compiling in threads of its own, and they crash an interpreter that shuts down in order
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a letter that the terminal lacks is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    try:
        with print_warnings_plainly(), repeat_lost_interrupts():
            args = parser().parse_args(arguments)
            args.command(args)
        sys.stdout.flush()
        return OK
    except SystemExit as end:  # --help and --version
        return end.code if isinstance(end.code, int) else OK
    except BrokenPipeError:
        _forget_output()
        return BROKEN_PIPE
    except (Exception, KeyboardInterrupt) as error:
        if is_interrupt(error) and not isinstance(error, CommandError):
            print_status("interrupted.")
            return INTERRUPTED
        code = exit_code(error)
        if code is None:
            raise
        print_status(error_message(error))
        return code


def parser() -> argparse.ArgumentParser:
    """Every command adds itself here; a command is a function of the parsed arguments."""
    root = Parser(
        prog="tdamp",
        description="Neural networks trained by message passing: predictions with error bars, and exact pruning.",
        epilog="begin with: tdamp fit DATA.csv --target COLUMN --out model",
    )
    root.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    root.set_defaults(command=lambda args: root.print_help())
    commands = root.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    plugins.add_all(commands)
    return root


class Version(argparse.Action):
    """Asks the package only when it is wanted."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: object, **more: object) -> None:
        """Print the version and exit."""
        from .. import __version__

        print(f"tdamp {__version__}")
        parser.exit()


def _forget_output() -> None:
    """Nobody reads on: without this Python would complain once more when it flushes at the end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
