"""Heavy libraries are imported where they are used, and a missing one names its extra."""

from __future__ import annotations

import importlib
from typing import Any


class MissingExtra(ImportError):
    """A library of an optional extra is not installed."""


def need(module: str, extra: str, distribution: str = "tdamp") -> Any:
    """Import `module`, or say which extra (of which distribution) to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"This needs {module.partition('.')[0]}, which could not be imported ({error}). "
            f"Install it with: pip install '{distribution}[{extra}]'"
        ) from error
