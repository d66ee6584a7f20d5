"""One self-contained HTML page for a fitted model: no script, no font and no picture is loaded from elsewhere."""

from .estimator import facts_of, held_of, report_of
from .facts import Facts, Held
from .page import render, write_report

__all__ = ["Facts", "Held", "facts_of", "held_of", "render", "report_of", "write_report"]
