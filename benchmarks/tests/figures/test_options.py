"""Options of a figure."""

from pathlib import Path

from tdamp_bench.figures.options import Options


def test_usual_options():
    """identity: ten seeds into results; quick runs stay apart."""
    assert Options.of() == Options(10, False, Path("results"), ("boston", "mnist"), None)
    assert Options.of(quick=True) == Options(2, True, Path("results/quick"), ("boston", "mnist"), None)
