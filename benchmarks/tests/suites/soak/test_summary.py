"""Summary of a soak."""

from __future__ import annotations

import pytest

from tdamp_bench.suites.soak import summary


def test_clips_are_summed_up(line):
    """contract: shares by hand; problems where a clip looked at nothing do not count."""
    lines = [line(), line((5, 0, 0, 0, 0, 0)), line((1, 0, 2, 0, 0, 0)), line(of=(0, 10, 10, 10, 10, 10))]
    result = summary.of_problems(lines)["clips"]
    assert result["negative_prec"]["problems"] == 3 and result["negative_prec"]["acted"] == pytest.approx(2 / 3)
    assert result["negative_prec"]["median_share"] == pytest.approx(0.1)
    assert result["negative_prec"]["median_share_where_acted"] == pytest.approx(0.3)
    assert result["self_coupling"]["most"] == pytest.approx(0.2) and result["excess_prec"]["acted"] == 0
    summed = summary.of_problems([line(wrong=["diverged"], outcome="DIVERGED"), line()])
    assert summed["outcomes"] == {"DIVERGED": 1, "OK": 1} and summed["with_faults"] == 1
    assert [verdict.met for verdict in summary.verdicts(summed, {})] == [False]
