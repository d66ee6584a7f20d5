"""Any value as JSON can hold it."""

from __future__ import annotations

import math
from typing import Any


def jsonable(value: Any) -> Any:
    """Dictionaries, lists, strings and finite numbers; other numbers are None, other objects their text."""
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
