"""Laplace's approximation of a regression network."""

import numpy as np
import pytest

from tdamp_bench.methods.baselines import laplace_net


def test_laplace_of_a_line_is_bayesian_regression(line):
    """identity: a network without hidden layer, for centred inputs, has the exact Gaussian posterior."""
    task, _ = line
    laplace_net.torch.manual_seed(0)
    net = laplace_net.torch.nn.Sequential(laplace_net.torch.nn.Linear(2, 1))
    posterior = laplace_net.fit(net, task.x, task.y, laplace_net.Effort(300, 6, 20, 32))
    result = laplace_net.predictive(posterior, task.x_test)
    noise_var = float(posterior.sigma_noise) ** 2
    weight_prec, bias_prec = posterior.prior_precision.tolist()
    cov = np.linalg.inv(task.x.T @ task.x / noise_var + weight_prec * np.eye(2))
    var = np.einsum("ni,ij,nj->n", task.x_test, cov, task.x_test) + 1 / (len(task.x) / noise_var + bias_prec)
    np.testing.assert_allclose(result.std**2, var + noise_var, rtol=1e-3)
    slope = cov @ task.x.T @ task.y / noise_var
    np.testing.assert_allclose(result.mean, task.x_test @ slope, atol=0.01)
    residual_std = np.std(task.y - task.x @ slope)
    assert float(posterior.sigma_noise) == pytest.approx(residual_std, rel=0.1)
