"""Progress in a log."""

import io

from rich.console import Console

from tdamp_bench.figures import waiting


def test_a_log_gets_a_line_now_and_then(console):
    """contract: ticks at 10-second steps speak every 30 seconds, with the time left."""
    times = iter(range(0, 1000, 10))
    with waiting.waiting(console, "toy", 6, clock=lambda: next(times)) as tick:
        for i in range(6):
            tick(f"run {i}")
    printed = console.file.getvalue().splitlines()
    assert printed == ["toy: 3 of 6 runs, 0 min left; run 2", "toy: 6 of 6 runs, 0 min left; run 5"]
    terminal = Console(force_terminal=True, file=io.StringIO(), width=120)
    with waiting.waiting(terminal, "toy", 1) as tick:
        tick("run 0")
    assert "1/1" in terminal.file.getvalue()
