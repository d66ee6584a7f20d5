"""Values as JSON can hold them."""

from __future__ import annotations

import numpy as np

from tdamp.io.jsonable import jsonable


def test_json_of_odd_values() -> None:
    """contract: NumPy's types become plain ones, and what is not finite null."""
    odd = {"a": np.float32(0.5), "b": np.array([1, 2]), "c": (float("nan"), float("inf")), 3: np.bool_(True)}
    assert jsonable(odd) == {"a": 0.5, "b": [1, 2], "c": [None, None], "3": True}
