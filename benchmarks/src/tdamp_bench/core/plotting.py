"""matplotlib drawing into files: no window and no display."""

from __future__ import annotations

import matplotlib
from matplotlib import pyplot as plt
from matplotlib import ticker

matplotlib.use("Agg")

__all__ = ["plt", "ticker"]
