"""Tuning of tdamp on validation rows."""

from dataclasses import replace

import numpy as np
import pytest

from tdamp_bench.core.scoring import nll
from tdamp_bench.methods import tdamp as ours
from tdamp_bench.suites.classes import our_tuning
from tdamp_bench.suites.classes.plan import QUICK

PLAN = replace(QUICK, validation_rows=200, hidden=(16,), rates=(3e-3, 1e-2), angles=(0, 90))


def test_tdamp_is_tuned_on_validation_rows(digits, monkeypatch):
    """twin: one choice trained by itself on the same split; the least NLL is chosen; schedules by hand."""
    settings = our_tuning.choices(PLAN)["pace 0.4, noise 0.2"]
    assert settings.data_weight[:2] == (0.4, 0.8) and settings.data_weight[-1] == 12
    assert settings.noise_init == 0.2 and settings.noise_update == "fixed"
    monkeypatch.setattr(our_tuning, "CANDIDATES", (our_tuning.Candidate(0.4, None),))
    result = our_tuning.tune_ours(digits, PLAN)
    losses = {name: one["nll"] for name, one in result["validation"].items()}
    assert list(losses) == ["preset", "annealed", "pace 0.4, noise learned"]
    assert result["chosen"] == min(losses, key=losses.get)
    settings, held_out = our_tuning.choices(PLAN)["pace 0.4, noise learned"], digits.validation(PLAN.validation_rows)
    models = [ours.train(held_out, (784, 16, 10), settings, seed, lambda *_: None) for seed in our_tuning.SEEDS]
    each = [nll(model.predictive(held_out.x_test), held_out.y_test) for model in models]
    assert losses["pace 0.4, noise learned"] == pytest.approx(np.mean(each), rel=1e-5)
