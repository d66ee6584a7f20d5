"""pytagi as a regressor."""

import numpy as np
from scipy.stats import norm

from tdamp_bench.methods.baselines import pytagi_regression


def test_pytagi_learns_a_line_and_its_noise(line):
    """calibration: nearly the log score of the line; the density is the Gaussian with the tuned noise in it."""
    task, y_test = line
    (answer,) = pytagi_regression.predict([task])
    slope, *_ = np.linalg.lstsq(task.x, task.y, rcond=None)
    noise_std = np.std(task.y - task.x @ slope)
    truth = norm.logpdf(y_test, task.x_test @ slope, noise_std).mean()
    assert answer.predictive.log_score(y_test) > truth - 0.3
    assert 0.5 < answer.chosen["noise_std"] / noise_std < 2
    assert (answer.predictive.std > answer.chosen["noise_std"]).all()


def test_pytagi_predicts_a_row_alike_in_any_minibatch(line):
    """identity: the rows of zeros that fill the last minibatch change nothing, nor do neighbours."""
    task, _ = line
    learner = pytagi_regression.Learner(task.x, task.y, 5, 0.3, batch=32, seed=0)
    learner.train(2)
    whole, part = learner.predict(task.x_test), learner.predict(task.x_test[35:])
    assert len(whole.mean) == 40
    np.testing.assert_allclose(part, np.array(whole)[:, 35:], rtol=1e-5)
