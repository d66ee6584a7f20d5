"""Sweeps: the data weight is chosen on validation rows."""

import pandas as pd

from tdamp_bench.studies import sweeps


def test_validation_rows_choose_the_data_weight():
    """contract: the least mean validation NLL of each arm, whatever the test rows say."""
    rows = [
        {"data": "d", "method": m, "sweeps": 1, "epochs": 2, "data_weight": k, "seed": s, "number": n, "value": v}
        for m, flip in (("a", 1), ("b", -1))
        for k in (2.0, 8.0)
        for s in (0, 1)
        for n, v in (("validation", flip * k + s), ("nll", -flip * k))
    ]
    chosen = sweeps.choose(pd.DataFrame(rows))
    assert chosen.groupby("method")["data_weight"].unique().map(list).to_dict() == {"a": [2.0], "b": [8.0]}
    assert len(chosen) == 8
