"""Places where values are clipped."""

from __future__ import annotations

import jax
import numpy as np

from tdamp import Network, Settings, fit
from tdamp.engine import damp
from tdamp.factors.layers import base
from tdamp.training.epoch import _e_step
from tdamp_bench.suites.soak import places


def test_places_are_those_where_clips_act(monkeypatch):
    """contract: with clips that always act, each counter is the number of its places."""
    network = Network((5, 9, 2))
    settings = Settings(max_epochs=2, batch_size=8, sweeps=3)
    whole = damp.count
    monkeypatch.setattr(damp, "count", lambda hits: whole(jax.numpy.ones_like(hits)))
    coupling = base._coupling
    monkeypatch.setattr(base, "_coupling", lambda raw: (coupling(raw)[0], jax.numpy.asarray(raw.size, jax.numpy.int32)))
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((21, 5)).astype(np.float32), rng.standard_normal((21, 2)).astype(np.float32)
    before = dict(_e_step.compiled)
    _e_step.compiled.clear()
    monkeypatch.setattr("tdamp.training.compiled.FOLDER", [])  # nothing of this is kept
    try:
        fitted = fit(network, x, y, settings)
    finally:
        _e_step.compiled.clear()
        _e_step.compiled.update(before)
    expected = places.of(network, settings, 21, 2)
    for name in ("negative_prec", "excess_prec", "self_coupling", "min_var"):
        assert sum(record[name] for record in fitted.history) == expected[name], name
