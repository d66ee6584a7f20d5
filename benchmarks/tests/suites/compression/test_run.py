"""`tdamp bench compression` on made-up data: a quick run, resuming, and its options."""

import json

import numpy as np
import pytest

from tdamp.cli import main
from tdamp.datasets import Table
from tdamp_bench.cli.bench import COMPRESSED
from tdamp_bench.core import problems
from tdamp_bench.suites.compression import contest, published, run, tasks
from tdamp_bench.suites.compression.published import Point


@pytest.fixture
def made_up(monkeypatch, digits):
    """Few digits and a small network for them; tables with the right number of columns; returns nothing."""
    monkeypatch.setattr(problems, "mnist", lambda rows, test_rows: digits.first(300, 150))
    monkeypatch.setattr(tasks, "QUICK_ROWS", (200, 100))
    monkeypatch.setitem(tasks.LENETS, "lenet_300_100", (784, 12, 8, 10))
    monkeypatch.setattr(published, "POINTS", (Point("toy", "lenet_300_100", (40, 6, 4), 0.5),))
    monkeypatch.setattr(tasks, "HIDDEN", (8, 8))

    def load(name):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((250, tasks.TABLES[name].inputs))
        y = x[:, 0] + 0.1 * rng.standard_normal(250)
        labels = (x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0)
        return Table(x, y if name == "airfoil" else labels, ())

    monkeypatch.setattr(tasks, "load_table", load)


def test_quick_run_writes_and_resumes(made_up, tmp_path, monkeypatch, console):
    """contract: legal JSON with every arm at the size asked for, page and plots; a second run trains nothing."""
    out = tmp_path / "compression.json"
    run.run(quick=True, out=out, console=console)
    report = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    rows = {(row["task"], row["arm"]): row for row in report["rows"]}
    arms = {"lenet_300_100": ("tdamp", "tdamp_by_layer", "magnitude", "adamw")}
    arms |= dict.fromkeys(("airfoil", "segment"), ("tdamp", "magnitude", "lightgbm"))
    assert set(rows) == {(task, arm) for task, there in arms.items() for arm in there}
    assert all(np.isfinite([row["loss"]["mean"], row["nll"]["mean"]]).all() for row in rows.values())
    assert all(rows["lenet_300_100", arm]["units"]["mean"] == 50 for arm in arms["lenet_300_100"])
    for arm in ("tdamp_by_layer", "adamw"):
        assert rows["lenet_300_100", arm]["widths"] == [[40, 6, 4, 10]]
    for task in ("airfoil", "segment"):
        assert rows[task, "magnitude"]["units"] == rows[task, "tdamp"]["units"]
        assert rows[task, "lightgbm"]["bytes"]["mean"] <= rows[task, "tdamp"]["bytes"]["mean"]
    assert all(
        (tmp_path / name).read_bytes()[:4] == b"\x89PNG" for name in ("compression.png", "compression-tables.png")
    )
    page = out.with_suffix(".md").read_text()
    assert "50 units (toy: 40-6-4)" in page and "quick run" in page and "| segment, keep 0.5 |" in page

    monkeypatch.setattr(contest.Done, "of", lambda *_, **__: pytest.fail("a finished run was made again"))
    run.run(quick=True, out=out, console=console)
    assert json.loads(out.read_text()) == report


def test_rivals_on_tables_wait_for_ours(made_up, tmp_path):
    """contract: without a model of tdamp's there is no size to ask of them."""
    empty = contest.Contest(contest.Store(tmp_path / "x.jsonl"), True)
    ours, *rivals = empty.cells(tasks.task_of("airfoil", True))
    assert empty.choice(ours) is not None and all(empty.choice(cell) is None for cell in rivals)
    with pytest.raises(contest.NoSize, match="how large"):
        empty.fill(rivals[0], [0], lambda what: None)


def test_options(monkeypatch):
    """contract: the command line knows parts and tasks, and hands on what was chosen."""
    assert (*tasks.PARTS, *(name for names in tasks.PARTS.values() for name in names)) == COMPRESSED
    handed = []
    monkeypatch.setattr(run, "run", lambda *given: handed.append(given))
    assert main.main(["bench", "compression", "--only", "tables", "--seeds", "2", "--quick", "--out", "x.json"]) == 0
    assert handed[0][:3] == (["tables"], 2, True) and handed[0][3].name == "x.json"
    assert run.asked(["tables", "airfoil"], True) == ["airfoil", "segment"]
    assert run.asked(None, False) == [name for names in tasks.PARTS.values() for name in names]
