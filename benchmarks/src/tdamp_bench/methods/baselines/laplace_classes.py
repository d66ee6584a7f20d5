"""Laplace's approximation by laplace-torch 0.3, put on a network that Adam has trained: N(weights, inverse curvature).

Last layer, Kronecker-factored generalised Gauss-Newton of all training rows, one prior precision by the marginal
likelihood, as the library's authors recommend for trained classifiers (Daxberger et al., 2021). Class probabilities of
the linearised network: by the probit formula, or as means over samples of its outputs.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from ...core.problems import Problem
from .laplace_library import laplace, torch
from .start import Params

Link = Literal["probit", "mc"]
CHUNK = 1000
"""Rows taken at a time: a row's derivatives are (classes, weights of the last layer) floats."""


def network_of(params: Params) -> Any:
    """A PyTorch network with these weights, (inputs, outputs) each, and biases."""
    layers: list[Any] = []
    for weight, bias in params:
        linear = torch.nn.Linear(*weight.shape)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(np.array(weight).T.copy()))
            linear.bias.copy_(torch.from_numpy(np.array(bias)))
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


class Laplace:
    """The approximation, fitted to the problem's training rows."""

    def __init__(self, params: Params, problem: Problem, samples: int, seed: int) -> None:
        self.samples, self.seed = samples, seed
        x, y = torch.from_numpy(np.array(problem.x)), torch.from_numpy(np.array(problem.y, np.int64))
        rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=CHUNK)
        with warnings.catch_warnings():  # the library warns of its defaults
            warnings.simplefilter("ignore")
            self.model = laplace.Laplace(
                network_of(params), "classification", subset_of_weights="last_layer", hessian_structure="kron"
            )
            self.model.fit(rows)
            self.model.optimize_prior_precision(pred_type="glm", method="marglik", prior_structure="scalar")

    @property
    def prior_precision(self) -> float:
        """As the marginal likelihood has it."""
        return float(self.model.prior_precision)

    def predictive(self, x: np.ndarray, link: Link) -> np.ndarray:
        """Class probabilities; the samples of "mc" are the same in every call."""
        torch.manual_seed(self.seed)
        probs = [
            self.model(torch.from_numpy(np.array(x[i : i + CHUNK], np.float32)), "glm", False, link, self.samples)
            for i in range(0, len(x), CHUNK)
        ]
        return torch.cat(probs).detach().numpy()
