"""Verdicts of the study of shifts."""

import numpy as np
import pandas as pd
import pytest

from tdamp_bench.studies import shift_conclusions, shift_plan


def test_shift_is_judged_seed_by_seed():
    """identity: by hand: 0.5 below with an error of 0.1 is better, 0.1 above with 0.1 a tie, 0.5 above worse."""
    wiggle = np.array([-0.1, 0.1, 0.0]) * np.sqrt(3)  # standard error of the mean: 0.1
    ours = np.array([1.0, 2.0, 3.0])
    rivals = {"ensemble": ours + 0.5 + wiggle, "laplace": ours - 0.1 + wiggle, "ensemble_adamw": ours - 0.5 + wiggle}
    rows = [
        {"data": data, "method": name, "seed": seed, "number": number, "at": 0, "value": value}
        for data, number in (("friedman1", "nll"), ("mnist", "turned nll"))
        for name, values in (rivals | {"tdamp": ours}).items()
        for seed, value in reversed(list(enumerate(values)))
    ]
    rows += [row | {"number": "coverage", "value": 0.95} for row in rows if row["number"] == "nll"]
    plan = shift_plan.Plan(deltas=(0.0,), angles=(0,), noises=(0.0,))
    result = shift_conclusions.conclusions(pd.DataFrame(rows), plan)
    assert len(result) == 1 + 3 + 3 and result[0].verdict.met
    for judged in (result[1:4], result[4:]):
        assert [(one.verdict.met, one.verdict.tied) for one in judged] == [(True, False), (False, True), (False, False)]
        assert [one.verdict.value for one in judged] == pytest.approx([-5, 1, 5])
        assert all(text in one.sentence for text, one in zip(("better", "tied", "worse"), judged, strict=True))
    assert "difference -0.5 ± 0.1" in result[1].sentence
