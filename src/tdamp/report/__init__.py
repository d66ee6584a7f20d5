"""One self-contained HTML page for a fitted model: no script, no font and no picture is loaded from elsewhere."""

from .facts import Facts, Held
from .page import render, write_report

__all__ = ["Facts", "Held", "render", "write_report"]
