"""Faults of a training are detected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdamp import Network, Settings, fit
from tdamp_bench.suites.soak import faults


def test_faults_are_detected():
    """contract: each is put into a sound state."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((20, 3)).astype(np.float32), rng.standard_normal((20, 1)).astype(np.float32)
    fitted = fit(Network((3, 4, 1)), x, y, Settings(max_epochs=1, batch_size=8))
    assert faults.of_fitted(fitted) == []
    first = fitted.state.layers[0]

    def result(**change):
        return faults.of_state(fitted.state._replace(layers=(first._replace(**change), *fitted.state.layers[1:])))

    assert result(weight=first.weight._replace(mean=first.weight.mean * np.nan)) == [
        "layer 0 weight mean is not finite"
    ]
    assert "not positive" in result(bias=first.bias._replace(var=0 * first.bias.var))[0]
    assert "float64" in result(centre=np.asarray(first.centre, np.float64))[0]
    assert faults.of_state(fitted.state._replace(noise_var=np.float32([-1.0])))
    record = {**fitted.history[-1], "log_evidence": float("nan")}
    assert faults.of_fitted(replace(fitted, history=(record,))) == ["history log_evidence is not finite"]
