"""A Laplace approximation by laplace-torch: a network trained by Adam in PyTorch, and a Gaussian around where it ends.

y ~ N(f(x, w), noise_std^2), w ~ N(0, 1 / prior_prec) with a precision for each array of weights. All weights take part,
the curvature is Kronecker-factored (GGN), and the prediction is that of the network linearised in its weights:
N(f, J H^-1 J' + noise_std^2). Noise and precisions climb the marginal likelihood by Adam after every few epochs of the
training (Immer and others, 2021), which is for the most probable weights under them. Nothing is tuned on held-out rows;
learning rate (cosine to a hundredth) and epochs are the same for all tables of a size. So it has a schedule, and its
weight decay is the prior's precision, which the evidence chooses; dropout would leave the peak that is approximated.

The marginal likelihood and its gradient are the library's own. Version 0.3 takes a power of 1 / noise_std^2 by
`math.pow`, so that the determinant has no gradient by the noise, which then follows the training residuals alone.
Oracle: Bayesian linear regression, where nothing is approximated.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...suites.uci.tasks import Answer, Gaussian, Task
from .laplace_library import laplace, torch

RATE = 1e-2
HYPER_RATE = 0.1
CHUNK = 1024
"""Rows whose curvature, or prediction, is computed at once."""


class Effort(NamedTuple):
    """Epochs, how often among them the marginal likelihood is climbed, steps of a climb, rows of a minibatch."""

    epochs: int
    climbs: int
    steps: int
    batch: int


def effort(rows: int, quick: bool = False) -> Effort:
    """Large tables have fewer epochs of larger minibatches."""
    if quick:
        return Effort(4, 2, 2, 32)
    return Effort(300, 30, 30, 32) if rows < 2000 else Effort(100, 20, 30, 128)


def predict(tasks: Sequence[Task], quick: bool = False) -> Iterator[Answer]:
    """One task after the other, on one thread: layers of this size are not worth a second one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for task in tasks:
            started = time.perf_counter()
            torch.manual_seed(task.split)
            layers = (torch.nn.Linear(task.x.shape[1], task.hidden), torch.nn.ReLU(), torch.nn.Linear(task.hidden, 1))
            posterior = fit(torch.nn.Sequential(*layers), task.x, task.y, effort(len(task.x), quick))
            distribution = predictive(posterior, task.x_test)
            chosen = {"noise_std": float(posterior.sigma_noise), "prior_prec": posterior.prior_precision.tolist()}
            yield Answer(distribution, time.perf_counter() - started, chosen)
    finally:
        torch.set_num_threads(threads)


def fit(net: Any, x: np.ndarray, y: np.ndarray, work: Effort) -> Any:
    """The network trained, and laplace-torch's posterior around it."""
    rows = Rows(torch.from_numpy(x), torch.from_numpy(y)[:, None])
    log_prec = torch.zeros(len(list(net.parameters())), requires_grad=True)
    log_noise = torch.zeros(1, requires_grad=True)
    climber = torch.optim.Adam([log_prec, log_noise], lr=HYPER_RATE)
    optimizer = torch.optim.Adam([{"params": [array]} for array in net.parameters()], lr=RATE)
    steps = work.epochs * -(-len(x) // work.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, RATE / 100)
    for epoch in range(1, work.epochs + 1):
        # the mean squared error is the log density times -2 noise_var / rows, and the prior is scaled alike
        decay = torch.exp(log_prec.detach() + 2 * log_noise.detach()) * 2 / len(x)
        for group, strength in zip(optimizer.param_groups, decay.tolist(), strict=True):
            group["weight_decay"] = strength
        for some in torch.randperm(len(x)).split(work.batch):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(rows.x[some]), rows.y[some]).backward()
            optimizer.step()
            schedule.step()
        if epoch % (work.epochs // work.climbs) == 0:
            _climb(_posterior(net, rows, log_prec, log_noise), log_prec, log_noise, climber, work.steps)
    return _posterior(net, rows, log_prec, log_noise)


def _climb(posterior: Any, log_prec: Any, log_noise: Any, climber: Any, steps: int) -> None:
    """Towards more marginal likelihood, the network as it is."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Converting a tensor with requires_grad=True")  # of math.pow, see above
        for _ in range(steps):
            climber.zero_grad()
            (-posterior.log_marginal_likelihood(torch.exp(log_prec), torch.exp(log_noise))).backward()
            climber.step()


def predictive(posterior: Any, x: np.ndarray) -> Gaussian:
    """N(f, J H^-1 J' + noise_std^2) of new observations."""
    parts = [posterior(some) for some in torch.from_numpy(x).split(CHUNK)]
    mean, var = (torch.cat(part).detach().numpy().astype(np.float64).ravel() for part in zip(*parts, strict=True))
    return Gaussian(mean, np.sqrt(var + float(posterior.sigma_noise) ** 2))


class Rows:
    """The training rows as laplace-torch wants them: a loader that has a `dataset`."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y
        self.dataset = torch.utils.data.TensorDataset(x, y)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return zip(self.x.split(CHUNK), self.y.split(CHUNK), strict=True)

    def __len__(self) -> int:
        return -(-len(self.x) // CHUNK)


def _posterior(net: Any, rows: Rows, log_prec: Any, log_noise: Any) -> Any:
    posterior = laplace.Laplace(
        net,
        "regression",
        subset_of_weights="all",
        hessian_structure="kron",
        sigma_noise=torch.exp(log_noise.detach()),
        prior_precision=torch.exp(log_prec.detach()),
        backend=laplace.curvature.CurvlinopsGGN,
    )
    posterior.fit(rows)
    return posterior
