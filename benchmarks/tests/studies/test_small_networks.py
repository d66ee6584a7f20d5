"""HMC of small networks."""

import numpy as np
import pytest

from tdamp.engine.predict import mean_network
from tdamp.engine.state import init
from tdamp_bench.studies import small_networks


def test_hmc_samples_the_engines_network():
    """twin: the network of a vector of weights in prior deviations is the engine's, prior and centre included."""
    rows, task = small_networks.problem("4-D", small_networks.QUICK, 0), small_networks.TASKS["4-D"]
    network = small_networks.network_of("4-D")
    state = init(
        network,
        small_networks.settings_of(small_networks.QUICK, 1.0, 1, rows.y),
        np.random.default_rng(0),
        rows.x,
        rows.y,
    )
    assert float(state.noise_var[0]) == pytest.approx(small_networks.NOISE_STD**2, rel=1e-5)
    parts = []
    for layer in state.layers:
        parts += [layer.weight.mean / np.sqrt(layer.base_var), layer.bias.mean / np.sqrt(layer.bias_base_var)]
    theta = np.concatenate([np.ravel(part) for part in parts])
    ours = mean_network(network, state.layers, rows.x)[:, 0]
    np.testing.assert_allclose(small_networks.output(state, task, theta, rows.x), ours, rtol=1e-4, atol=1e-4)
