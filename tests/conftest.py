"""Both precisions are tested by explicit dtype, so JAX must be able to hold float64."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

if "TDAMP_CACHE" not in os.environ:  # compiled code is shared between the workers, and not with the user's own
    os.environ["TDAMP_CACHE"] = tempfile.mkdtemp(prefix="tdamp-tests-")
    atexit.register(shutil.rmtree, os.environ["TDAMP_CACHE"], ignore_errors=True)

import jax
import pytest
from hypothesis import settings

from helpers.suites import is_core
from tdamp.training.compilation import keep_compiled

jax.config.update("jax_enable_x64", True)
keep_compiled()

settings.register_profile("house", deadline=None, derandomize=True, max_examples=50, database=None)
settings.load_profile("house")


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


MOST_MAPS = 20_000
"""Of memory, of which Linux gives a process 65,530: beyond them XLA ends it."""


@pytest.fixture(autouse=True, scope="module")
def _compiled_code_goes() -> Iterator[None]:
    """What the oracles and benchmarks have compiled, in many shapes, is let go before it is too much."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_text().count("\n") > MOST_MAPS:
        jax.clear_caches()


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    """Every test that takes it runs in both precisions."""
    return request.param
