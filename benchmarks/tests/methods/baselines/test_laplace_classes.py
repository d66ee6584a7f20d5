"""Laplace's approximation around a classifier trained by Adam."""

import numpy as np

from tdamp import metrics
from tdamp_bench.methods.baselines.adam import Adam
from tdamp_bench.suites.classes import scores


def test_laplace_stands_on_the_weights_of_adam(digits):
    """twin: the PyTorch network says what Adam's does; Laplace is less sure, and keeps its samples."""
    from tdamp_bench.methods.baselines.laplace_classes import Laplace, network_of, torch

    adam = Adam("optax", digits, (784, 16, 10), 1e-2, 100, seed=0)
    list(adam.epochs(3))
    params = adam.learner.state.params
    with torch.no_grad():
        outputs = network_of(params)(torch.from_numpy(digits.x_test)).numpy()
    np.testing.assert_allclose(outputs, adam.point(digits.x_test), atol=1e-4)
    fitted = Laplace(params, digits, samples=20, seed=0)
    assert fitted.prior_precision > 0 and fitted.prior_precision != 1
    for link in ("probit", "mc"):
        probs = fitted.predictive(digits.x_test, link)
        np.testing.assert_allclose(probs.sum(1), 1, rtol=1e-4)
        assert scores.entropy(probs).mean() > scores.entropy(adam.predictive(digits.x_test)).mean()
        np.testing.assert_array_equal(probs, fitted.predictive(digits.x_test, link))
        assert metrics.error_rate(digits.y_test, probs) < 0.3
