"""Epochs that are timed, against the sizes asked for."""

from __future__ import annotations

import pytest

from tdamp_bench.core import presets
from tdamp_bench.methods.baselines import gemm
from tdamp_bench.suites.growth import epochs, law
from tdamp_bench.suites.growth.plan import FULL, QUICK


def test_cases():
    """contract: the series of a full run."""
    cases = epochs.cases_of(FULL)
    by = {name: [case for case in cases if case.series == name] for name in law.SIZES}
    assert [case.rows for case in by["rows"]] == list(FULL.rows) and by["rows"][0].widths == (784, 128, 10)
    assert by["width"][-1].widths == (784, 2048, 10) and len(by["depth"][-1].widths) == 18
    assert by["kept"][-1].kept_widths == (78, 102, 10) and FULL.repeats >= 5


def test_epochs_of_a_pruned_network_run_on_smaller_arrays():
    """contract: a quarter of 24 inputs and 32 hidden units; the roofline is that of what is left."""
    x, y = epochs.digits(QUICK)
    case = epochs.Case("kept", 0.25, (24, 32, 10), 100, 0.25)
    timed = epochs.Timed(case, presets.MNIST, x, y)
    assert timed.epoch() > 0 and timed.epoch() > 0
    assert timed.fitted.network.widths == (6, 8, 10) and len(timed.fitted.history) == 2
    result = epochs.measured(timed, [1.0, 2.0, 9.0], rate=1e6)
    assert result["median"] == 2 and result["least"] == 1 and result["weights"] == 6 * 8 + 8 * 10
    assert result["products"] == 4 * 6 * 8 + 9 * 8 * 10 and result["rows"] == 100
    assert result["roofline_share"] == pytest.approx(gemm.epoch_flops((6, 8, 10), 100) / 1e6 / 2)
