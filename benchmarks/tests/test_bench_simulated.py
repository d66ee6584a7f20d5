"""`tdamp bench simulated`: the data are what they are said to be, the ratio is its formula, a run can be resumed."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from tdamp.cli import main
from tdamp_bench.suites.simulated import draws, ratio, run
from tdamp_bench.suites.simulated.draws import FULL, QUICK


def made_up(variances, errors, noise_vars=None):
    """Draws of these epistemic variances and squared errors; the rest is of no matter."""
    noise_vars = np.full(len(errors), 0.04) if noise_vars is None else noise_vars
    return [
        {"epistemic_var": e, "squared_error": s, "noise_var": n, "learned_noise_var": 2 * n}
        | {"total_var": e + n, "total_error": s + n, "coverage": 0.9}
        for e, s, n in zip(variances, errors, noise_vars, strict=True)
    ]


def test_the_function_is_a_relu_network():
    """enumeration: two inputs, two hidden units, by hand."""
    layers = [
        (np.array([[1.0, -1.0], [2.0, 0.5]]), np.array([0.5, 0.0])),
        (np.array([[3.0], [-1.0]]), np.array([0.25])),
    ]
    x = np.array([[1.0, 1.0], [-2.0, 0.0]])  # hidden: (3.5, -0.5) and (-1.5, 2)
    np.testing.assert_allclose(draws.function(layers, x), [3 * 3.5 + 0.25, -2 + 0.25])


def test_a_draw_is_the_same_again_and_its_function_has_no_noise():
    """twin: the same draw with hardly any noise has the same function, and targets on it."""
    one, again = draws.draw(3, FULL), draws.draw(3, FULL)
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a, b)
    still = draws.draw(3, replace(FULL, noise=(1e-9, 1e-9)))
    np.testing.assert_array_equal(one.f_test, still.f_test)
    np.testing.assert_allclose(still.y_test, still.f_test, atol=1e-7)
    assert not np.allclose(draws.draw(4, FULL).x, one.x)
    assert one.x.shape == (300, 8) and one.x_test.shape == (500, 8) and 20 <= one.hidden <= 50


def test_noise_of_a_draw():
    """rate: the mean square of n Gaussians misses their variance by at most 4 sqrt(2 / n); bounds hold."""
    for seed in range(20):
        data = draws.draw(seed, FULL)
        assert 0.1 <= np.sqrt(data.noise_var / data.signal_var) <= 0.5
        assert np.mean((data.y_test - data.f_test) ** 2) == pytest.approx(data.noise_var, rel=4 * np.sqrt(2 / 500))


def test_weights_are_those_of_the_prior():
    """calibration: hidden units have variance 2, so E f^2 = E relu^2 + 1 = 2, within 4 standard errors."""
    plan = replace(FULL, rows=1, test_rows=2)
    squares = np.array([np.mean(draws.draw(seed, plan).f_test ** 2) for seed in range(2000)])
    assert squares.mean() == pytest.approx(2.0, abs=4 * squares.std() / np.sqrt(2000))


def test_ratio_is_that_of_the_sums():
    """identity: 4.4 / 8, where the mean of the draws' own ratios would be 0.7 and their median is 0.5."""
    some = made_up([1.0, 3.0, 0.4], [2.0, 2.0, 4.0])
    found = ratio.summary(some, FULL.noise)
    assert found["ratio"] == pytest.approx(4.4 / 8) and found["median_ratio"] == pytest.approx(0.5)
    assert found["total_ratio"] == pytest.approx((4.4 + 0.12) / (8 + 0.12))
    assert found["noise_ratio"] == pytest.approx(2.0) and found["coverage"] == pytest.approx(0.9)
    assert found["quartiles"] == pytest.approx([0.3, 1.0])


def test_standard_error_of_the_ratio():
    """twin: the delta method, std(e - ratio s) / (mean(s) sqrt(n)), for many draws."""
    rng = np.random.default_rng(0)
    errors = rng.gamma(4.0, 0.25, 400)
    variances = errors * rng.lognormal(0.0, 0.5, 400)
    some = made_up(variances, errors)
    delta = np.std(variances - ratio.pooled(some) * errors) / (errors.mean() * np.sqrt(400))
    assert ratio.standard_error(some) == pytest.approx(delta, rel=0.1)  # 2,000 resamples are good for 1.6 %


def test_ratio_by_noise():
    """enumeration: three parts of 0.1 to 0.5, equal in the logarithm: up to 0.171, 0.292 and 0.5."""
    some = made_up([1.0, 2.0, 3.0, 5.0], [1.0, 1.0, 1.0, 1.0], np.square([0.11, 0.17, 0.28, 0.49]))
    parts = ratio.summary(some, (0.1, 0.5))["by_noise"]
    assert [(part["draws"], part["ratio"]) for part in parts] == [(2, 1.5), (1, 3.0), (1, 5.0)]


@pytest.mark.parametrize("value, met", [(0.79, [False, True]), (0.8, [True, True]), (1.26, [True, False])])
def test_verdicts(value, met):
    """enumeration: too sure, right, not sure enough."""
    assert [verdict.met for verdict in ratio.verdicts({"ratio": value})] == met


def test_quick_run_writes_and_resumes(tmp_path, monkeypatch):
    """identity: legal JSON with both draws, and a plot; one draw more fits that one only; a full run is refused."""
    out, console = tmp_path / "simulated.json", Console(file=io.StringIO(), width=160)
    run.run(draws=1, quick=True, out=out, console=console)
    measure, fitted = run.measure, []
    monkeypatch.setattr(run, "measure", lambda seed, plan: fitted.append(seed) or measure(seed, plan))
    run.run(quick=True, out=out, console=console)
    assert fitted == [1]
    report = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert list(report["draws"]) == ["0", "1"] and report["summary"]["draws"] == 2 and len(report["verdicts"]) == 2
    for seed, one in report["draws"].items():
        assert one["noise_var"] == pytest.approx(np.divide(*draws.draw(int(seed), QUICK)[:-3:-1]), rel=1e-5)
        assert one["epistemic_var"] + one["learned_noise_var"] == pytest.approx(one["total_var"], rel=1e-4)
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    assert "epistemic variance / squared error" in console.file.getvalue()
    with pytest.raises(ValueError, match="another plan"):
        run.run(draws=1, out=out, console=console)


def test_options():
    """identity: what the command line hands on."""
    chosen = main.parser().parse_args(["bench", "simulated", "--draws", "30", "--quick"])
    assert chosen.draws == 30 and chosen.quick and chosen.out is None
