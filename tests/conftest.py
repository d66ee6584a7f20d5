"""The core suite, a word about a missing browser, and the precisions that tests run in."""

from pathlib import Path

import pytest

from helpers.suites import is_core

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the marker `extended` on what is not in the core suite."""
    for item in items:
        here = item.path.relative_to(HERE).as_posix() if item.path.is_relative_to(HERE) else ""  # or of the benchmarks
        if not is_core(here, getattr(item, "originalname", item.name)):
            item.add_marker(pytest.mark.extended)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line that says which tests a missing browser has cost."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if "chromium" in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"No browser: {len(skipped)} tests of the report were skipped (make browser).")


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    """Every test that takes it runs in both precisions."""
    return request.param
