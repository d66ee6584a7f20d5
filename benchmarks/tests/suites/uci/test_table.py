"""Tables beside published figures."""

from tdamp_bench.suites.uci import table


def test_the_best_figure_is_bold_before_rounding():
    """identity: 2.969 rounds to MC dropout's 2.97 and is better; a method that did not run is a dash."""
    mean = {"rmse": 2.969, "nll": 2.411, "coverage": 0.95, "width": 9.5, "seconds": 2.0}
    one = {"splits": 20, "mean": mean, "error": dict.fromkeys(mean, 0.1)}
    results = {"boston": {"tdamp": one}, "protein": {"pytagi": one | {"splits": 5, "mean": mean | {"rmse": 4.5}}}}
    by_rmse, by_nll, covered, seconds = table.tables(results)
    assert by_rmse.rows[0] == ["Boston", "3.01", "2.97", "3.28", "**2.97 ± 0.10**", "-"]
    assert by_rmse.rows[1] == ["Protein", "4.73", "**4.36**", "4.71", "-", "4.50 ± 0.10"]
    assert by_nll.rows[0][3:] == ["**2.41**", "2.411 ± 0.100", "-"]
    assert covered.rows[0] == ["Boston", "95.0 (9.5)", "-"] and seconds.rows[1] == ["Protein", "-", "2.0"]
