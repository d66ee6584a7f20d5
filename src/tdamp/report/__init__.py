"""One self-contained HTML page for a fitted model: no script, no font and no picture is loaded from elsewhere."""

from .facts import Facts, Held
from .from_estimator import facts_of, held_of, report_of
from .page import render, write_report

__all__ = ["Facts", "Held", "facts_of", "held_of", "render", "report_of", "write_report"]
