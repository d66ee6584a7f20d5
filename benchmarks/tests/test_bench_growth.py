"""`tdamp bench growth`: the law is a least-squares line, and what is timed is what is said."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import linregress

from tdamp_bench.core import presets
from tdamp_bench.methods.baselines import gemm
from tdamp_bench.suites.growth import epochs, law, run
from tdamp_bench.suites.growth.plan import FULL, QUICK


def test_the_law_is_a_line_in_the_logarithms():
    """twin: SciPy's regression, slope, its standard error, and the intercept."""
    rng = np.random.default_rng(0)
    sizes = np.array([1.0, 3.0, 10.0, 40.0])
    seconds = 2.0 * sizes**1.3 * rng.lognormal(0, 0.1, 4)
    found, other = law.fit(sizes, seconds), linregress(np.log(sizes), np.log(seconds))
    assert found["exponent"] == pytest.approx(other.slope)
    assert found["standard_error"] == pytest.approx(other.stderr)
    assert found["constant"] == pytest.approx(np.exp(other.intercept))


def test_only_the_largest_sizes_count():
    """identity: seconds that are constant for small sizes and linear for the last four give the exponent one."""
    points = [
        {"rows": n, "median": max(n, 800) / 1e3, "least": n / 1e3, "roofline_share": 0.4, "best_roofline_share": 0.5}
        for n in (100, 200, 400, 800, 1600, 3200, 6400)
    ]
    found = law.of("rows", points)
    assert found["fitted_to"] == [800, 1600, 3200, 6400] and found["by_median"]["exponent"] == pytest.approx(1)
    assert [v.met for v in law.verdicts({"rows": found})] == [True]
    found["by_median"]["exponent"] = 1.2
    assert [v.met for v in law.verdicts({"rows": found})] == [False]


def test_cases():
    """enumeration: the series of a full run."""
    cases = epochs.cases_of(FULL)
    by = {name: [case for case in cases if case.series == name] for name in law.SIZES}
    assert [case.rows for case in by["rows"]] == list(FULL.rows) and by["rows"][0].widths == (784, 128, 10)
    assert by["width"][-1].widths == (784, 2048, 10) and len(by["depth"][-1].widths) == 18
    assert by["kept"][-1].kept_widths == (78, 102, 10) and FULL.repeats >= 5


def test_epochs_of_a_pruned_network_run_on_smaller_arrays():
    """enumeration: a quarter of 24 inputs and 32 hidden units; the roofline is that of what is left."""
    x, y = epochs.digits(QUICK)
    case = epochs.Case("kept", 0.25, (24, 32, 10), 100, 0.25)
    timed = epochs.Timed(case, presets.MNIST, x, y)
    assert timed.epoch() > 0 and timed.epoch() > 0
    assert timed.fitted.network.widths == (6, 8, 10) and len(timed.fitted.history) == 2
    found = epochs.measured(timed, [1.0, 2.0, 9.0], rate=1e6)
    assert found["median"] == 2 and found["least"] == 1 and found["weights"] == 6 * 8 + 8 * 10
    assert found["products"] == 4 * 6 * 8 + 9 * 8 * 10 and found["rows"] == 100
    assert found["roofline_share"] == pytest.approx(gemm.epoch_flops((6, 8, 10), 100) / 1e6 / 2)


def test_run_writes_all_series(tmp_path, monkeypatch):
    """identity: seconds proportional to the products give exponents of one, a table, legal JSON and a plot."""
    monkeypatch.setattr(epochs, "Timed", lambda case, *_: type("Made", (), {"case": case})())

    def made_up(timed, plan, tick):
        return [[gemm.epoch_flops(t.case.kept_widths, t.case.rows) / 1e9] * 3 for t in timed], [{"rate": 1e9}]

    monkeypatch.setattr(epochs, "interleaved", made_up)
    out, console = tmp_path / "growth.json", Console(file=io.StringIO(), width=160)
    run.run(quick=True, out=out, console=console)
    report = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert all(verdict["met"] for verdict in report["verdicts"]) and list(report["laws"]) == list(law.SIZES)
    for found in report["laws"].values():
        assert found["by_median"]["exponent"] == pytest.approx(1) and found["roofline_share"] == pytest.approx(1)
    assert report["laws"]["depth"]["by_weights"]["exponent"] != pytest.approx(1, abs=0.01)  # nine products against four
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG" and "Power laws" in console.file.getvalue()
