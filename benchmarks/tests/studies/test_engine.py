"""The engine with a term taken away."""

import numpy as np
import pytest

from tdamp import Network, Settings, fit
from tdamp.factors.layers.base import Linear
from tdamp.training import epoch
from tdamp_bench.studies.engine import replaced, without_onsager


def test_a_term_is_taken_away_and_comes_back(lines):
    """twin: without the Onsager term two sweeps differ and one does not; afterwards all is as before, to the bit."""
    rows, network = lines[0], Network((4, 8, 1))

    def trained(sweeps):
        fitted = fit(network, rows.x, rows.y, Settings(max_epochs=2, sweeps=sweeps, batch_size=20))
        return np.asarray(fitted.state.layers[0].weight.mean)

    before, kept = {sweeps: trained(sweeps) for sweeps in (1, 2)}, epoch._e_step.compiled
    with pytest.raises(KeyError), replaced(Linear, "forward", without_onsager):
        np.testing.assert_array_equal(trained(1), before[1])
        assert np.abs(trained(2) - before[2]).max() > 1e-4
        raise KeyError
    assert Linear.forward is not without_onsager and epoch._e_step.compiled is kept
    np.testing.assert_array_equal(trained(2), before[2])
