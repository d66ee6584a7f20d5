"""The predictive distribution of a regression, in the units of y."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..numerics import student_t


class Distribution(NamedTuple):
    """A predictive distribution in the units of y: `mean`, the parts of its standard deviation, and its tails.

    It is a Student's t with `dof` degrees of freedom; infinite ones make it a Gaussian.
    """

    mean: np.ndarray
    epistemic_std: np.ndarray  # from not knowing the weights: shrinks with data
    aleatoric_std: np.ndarray  # from the noise: does not
    dof: np.ndarray

    @property
    def std(self) -> np.ndarray:
        """Of a new observation."""
        return np.hypot(self.epistemic_std, self.aleatoric_std)

    def quantile(self, level: float) -> np.ndarray:
        """Of a new observation."""
        return self.mean + self.std * student_t.quantile(level, self.dof)

    def to_frame(self, outputs: Sequence[str] = ("",)) -> pd.DataFrame:
        """A column for each part (and each output, if there are several); a Gaussian's tails need none."""
        columns = {}
        parts = self._asdict()
        if np.isinf(self.dof).all():
            del parts["dof"]
        for name, values in parts.items():
            for i, output in enumerate(outputs):
                columns[f"{output}_{name}" if output else name] = values[:, i] if values.ndim == 2 else values
        return pd.DataFrame(columns)
