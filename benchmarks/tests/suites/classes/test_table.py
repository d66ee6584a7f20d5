"""Tables of `tdamp bench classes`."""

from tdamp_bench.suites.classes import table
from tdamp_bench.suites.classes.sets import TITLES


def test_tables_of_a_part():
    """identity: cells by hand, with and without a standard error."""
    test = {"error": 0.0174, "nll": 0.057, "ece": 0.003, "adaptive_ece": 0.002, "brier": 0.026, "aurc": 0.0004}
    mean = {
        "test": test,
        "turned": {str(angle): {"error": 0.5, "nll": 2.0, "entropy": 0.7} for angle in range(0, 181, 15)},
        "outside": {name: {"entropy": 0.9, "max_prob": 0.8} for name in TITLES},
        "small_digits": {"error": 0.25, "nll": 1.0, "entropy": 0.5},
        "seconds": {"processor": 20.0},
    }
    wide = {key: value / 10 for key, value in test.items()}
    results = {"seeds": [0, 1], "methods": {"tdamp": {"mean": mean, "standard_error": wide}}, "verdicts": []}
    first, *_, outside, small = table.tables(results)
    assert first.rows[0][1:4] == ["1.74 (0.17)", "0.0570 (0.0057)", "0.30 (0.03)"] and first.rows[0][-1] == "1.00"
    assert outside.rows[0][1] == "0.9000 / 0.8000" and small.rows[0][1:] == ["25.0", "1.000", "0.500"]
    turned = table.tables(results)[1]
    assert turned.columns[1:] == [f"{angle}°" for angle in range(0, 181, 30)]
    assert "| tdamp | 1.74 (0.17) |" in table.markdown(results, quick=False)
