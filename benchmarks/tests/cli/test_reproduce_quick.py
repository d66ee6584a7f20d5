"""The quick run of every figure, with the real methods and data."""

import json

import numpy as np
import pandas as pd
import pytest

from tdamp.cli import main
from tdamp_bench.figures import tidy
from tdamp_bench.figures.registry import FIGURES


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One folder, so that the second figure takes over the runs of the first."""
    return tmp_path_factory.mktemp("results")


FEDERATED = {"tdamp_federated", "tdamp_federated_paper", "fedavg_adam", "fedavg_adamw", "fedprox"}


FEDERATED |= {"fedavg_group_lasso", "fedavg_group_snip"}


LINES = {
    "curves": {"tdamp", "tdamp_paper", "amp", "adam", "early_stop", "group_lasso", "group_snip", "adamw"},
    "sparsity": {
        "tdamp",
        "tdamp_paper",
        "amp",
        "adam",
        "early_stop",
        "group_lasso",
        "group_snip",
        "magnitude",
        "magnitude_adamw",
    },
    "noise": {"em_minibatch", "numerical_minibatch", "fixed", "em_printed"},
    "ablations": {"turbo", "ep", "anchored", "whole", "rho_fixed", "exact", "learned", "noise_1"}
    | {"as_printed", "turbo_printed", "ep_printed"},
    "federated-curves": FEDERATED,
    "federated-sparsity": FEDERATED,
    "federated-skew": {
        "tdamp_skewed",
        "tdamp_sites",
        "tdamp_waa",
        "fedavg_adam_skewed",
        "fedavg_adamw_skewed",
        "fedprox_skewed",
    },
}


STUDIES = {
    "probit-sweep": {"sweep", "exact"},
    "sweeps": {"onsager", "no_onsager"},
    "hmc": {"hmc", "sweeps-1", "sweeps-4", "usual"},
    "state-evolution": {"onsager", "no_onsager"},
    "shift": {"tdamp", "ensemble", "laplace", "adamw", "ensemble_adamw"},
}
"""Methods that a figure shows at least."""


DATA = {name: ["--data", "boston"] for name in ("federated-curves", "federated-sparsity")}
"""Where one data set is enough; federated-skew has the other."""


@pytest.mark.parametrize("figure", FIGURES)
def test_quick_figure(results, figure, capsys):
    """contract: every line of the figure has two seeds, and all files are written."""
    assert main.main(["reproduce", figure, "--quick", "--out", str(results), *DATA.get(figure, [])]) == 0
    result = pd.read_csv(results / figure / f"{figure}.csv")
    if figure in LINES:
        assert set(result["method"]) >= LINES[figure] and set(result["n"]) == {2} and (result["mean"] > 0).all()
    if figure in STUDIES:
        assert (
            set(result["method"]) == STUDIES[figure] and set(result["n"]) == {2} and np.isfinite(result["mean"]).all()
        )
    report = json.loads((results / figure / f"{figure}.json").read_text(), parse_constant=pytest.fail)
    assert report["quick"] and report["verdicts"]
    assert (results / figure / f"{figure}.png").stat().st_size > 10_000
    assert (results / figure / f"{figure}.svg").exists()
    printed = " ".join(capsys.readouterr().out.split())
    assert all(" ".join(one["sentence"].split()) in printed for one in report["verdicts"])
    CHECKS.get(figure, lambda *_: None)(result, report)


def check_noise(points, report):
    """The fixed noise stays at its first value while the others fall, as printed too; four verdicts."""
    assert list(points.columns) == [*tidy.POINT, "mean", "se", "n", "units", "noise_var", "noise_var_se"]
    assert set(tidy.pick(points, method="fixed")["noise_var"]) == {100.0}
    for name in ("em_minibatch", "numerical_minibatch", "em_printed"):
        fallen = tidy.pick(points, method=name)["noise_var"]
        assert fallen.is_monotonic_decreasing and fallen.iloc[0] < 100
    assert len(report["verdicts"]) == 4


def check_bytes(points, report):
    """Losses fall, and bytes are both ways of four clients' parameters."""
    weights = 14 * 64 + 65 * 64 + 65
    cost = {row["method"]: row["bytes"] for row in report["bytes_per_round"]}
    assert cost["fedavg_adam"] == cost["fedprox"] == 2 * 4 * 4 * weights > cost["fedavg_group_snip"] > 0
    for _, curve in points.groupby("method"):
        assert curve["mean"].iloc[-1] < curve["mean"].iloc[0]


CHECKS = {"noise": check_noise, "federated-curves": check_bytes}
