"""Tables of `tdamp bench speed`."""

from tdamp_bench.suites.speed import compaction, epochs
from tdamp_bench.suites.speed import table as speed_table


def test_speed_tables_show_every_part(console):
    """contract: Made-up numbers of all five parts."""
    seconds = {"tdamp": [1.0], "adam_optax": [1.0], "adam_torch": [1.0], "pytagi": [20.0]}
    epoch = epochs.summary(seconds, (784, 128, 10), 1000, 1e9)
    parts = {
        "epoch": epoch | {"verdicts": [verdict.to_dict() for verdict in epochs.verdicts(epoch)]},
        "width": {"by_hidden": {"64": epoch}, "verdicts": []},
        "compaction": compaction.compare([9.0, 1.0, 0.2], [10, 10, 2])
        | {"units_during": [10, 10, 2], "keep": 0.2, "verdicts": []},
        "compile": {"cases": [{"sweeps": 1, "layers": 2, "compile": 1.0, "steady": 0.1}], "verdicts": []},
        "memory": {"peak_bytes": 1e9, "state_over_weights": 2.0, "verdicts": []},
    }
    speed_table.show(console, parts)
    shown = console.file.getvalue()
    assert all(word in shown for word in ("PyTorch", "roofline", "keep 0.2", "1000 MB", "Share of the GEMM"))
