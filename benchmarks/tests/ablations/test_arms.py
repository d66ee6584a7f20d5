"""The arms of the ablations are methods."""

import pytest

from tdamp import Settings
from tdamp_bench.ablations import arms
from tdamp_bench.core.jobs import Job
from tdamp_bench.figures import methods as listed
from tdamp_bench.methods.tdamp_configurations import Tdamp


@pytest.mark.parametrize("curve", [curve for part in arms.PARTS.values() for curve in part], ids=lambda c: c.name)
def test_every_arm_is_a_listed_method(blobs, curve):
    """contract: its settings can be made at every share, with what the arm is about in them."""
    method = listed.load(curve.method)
    assert method.name == curve.method and isinstance(method, Tdamp) and len(method.grid("mnist", 0.5)) == 1
    for keep in curve.keeps:
        made = method.settings(Job(blobs, 0, keep, curve.config), 20, 2)
        assert made.max_epochs == 2 and made.keep == (None if keep == 1 or curve.method == "tdamp_rho" else keep)
        assert (made.prior == "group") == (curve in (*arms.TURBO, *arms.RHO[:3], arms.PASP[2]))
        if curve.method in ("tdamp_printed", "tdamp_rho") or curve.name.endswith("_printed"):
            prob = made.init_active_prob
            assert made == Settings.paper(keep=made.keep, batch_size=20, max_epochs=2, init_active_prob=prob)
            assert prob == (1.0 if curve.name == "as_printed" else 0.5)
        assert (made.noise_update == "fixed") == (curve in arms.NOISE[1:])
        if curve.name not in ("whole", "averaged", "alone"):
            assert (made.pasp == "paper") == (curve in (*arms.TURBO[3:], *arms.RHO[:4], *arms.PASP[1:3]))
