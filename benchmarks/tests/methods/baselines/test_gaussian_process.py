"""The Gaussian process."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor

from tdamp_bench.methods.baselines import gaussian_process
from tdamp_bench.suites.uci.tasks import Gaussian


def test_evidence_of_the_process_and_its_gradient():
    """twin: scikit-learn's log marginal likelihood."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((25, 3)), rng.standard_normal(25)
    twin = GaussianProcessRegressor(gaussian_process.kernel(3), alpha=gaussian_process.JITTER, optimizer=None).fit(x, y)
    theta = np.log([1.7, 0.6, 2.0, 30.0, 0.05])
    value, gradient = gaussian_process.negative_evidence(theta, x, y)
    twin_value, twin_gradient = twin.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(-twin_value)
    np.testing.assert_allclose(gradient, -twin_gradient, rtol=1e-6, atol=1e-8)


def test_density_of_the_process(line):
    """identity: p(y_test | y) is p(y_test, y) / p(y) under the kernel that was found."""
    task, y_test = line
    (answer,) = gaussian_process.predict([task])
    x = np.concatenate([task.x, task.x_test[:1]]).astype(np.float64)
    process = gaussian_process.kernel(2)
    climb = gaussian_process.climber(task.x.astype(np.float64), task.y.astype(np.float64), gaussian_process.CLIMB)
    theta, _ = climb(None, process.theta, process.bounds)
    joint = process.clone_with_theta(theta)(x)
    both = multivariate_normal(cov=joint).logpdf(np.append(task.y, y_test[0]))
    mean, std = (a[:1] for a in answer.predictive)
    known = multivariate_normal(cov=joint[:-1, :-1]).logpdf(task.y)
    assert Gaussian(mean, std).log_score(y_test[:1]) == pytest.approx(both - known, abs=1e-3)
    assert answer.chosen["noise_var"] == pytest.approx(np.exp(theta[-1]))
