"""One problem of the soak."""

from __future__ import annotations

import numpy as np

from tdamp_bench.suites.soak import configuration, problem
from tdamp_bench.suites.soak.plan import QUICK


def test_runtime_warnings_are_faults_and_refusals_are_recorded(monkeypatch):
    """contract: an overflow in NumPy, the engine's own refusal, and another error."""
    drawn = configuration.draw(0)

    def warn(*_):
        np.float32(1e30) * np.float32(1e30)

    def refuse(*_):
        raise ValueError(f"x or y is {problem.REFUSAL}: bring them to a scale near one")

    def fail(*_):
        raise ValueError("something else")

    for act, outcome, wrong in ((refuse, "REFUSED", []), (fail, "REFUSED", ["ValueError: something else"])):
        monkeypatch.setattr(problem, "_by_engine", act)
        monkeypatch.setattr(problem, "_by_estimator", act)
        result = problem.run(drawn, 0, 0, QUICK)
        assert (result["outcome"], result["faults"]) == (outcome, wrong)
    monkeypatch.setattr(problem, "_by_engine", warn)
    monkeypatch.setattr(problem, "_by_estimator", warn)
    assert "RuntimeWarning" in problem.run(drawn, 0, 0, QUICK)["faults"][0]
