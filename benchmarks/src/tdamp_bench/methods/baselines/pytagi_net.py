"""TAGI by pytagi 0.1.12: 784-128-11 with hierarchical softmax, as its MNIST example has it.

Ten classes need a binary tree of eleven nodes, so the network has eleven outputs, of which a label observes four.
"""

from __future__ import annotations

import os

import numpy as np

from tdamp._optional import need

from ...core.problems import Problem

pytagi = need("pytagi", "peers", "tdamp-bench")
nn = need("pytagi.nn", "peers", "tdamp-bench")

OBSERVATION_STD = 0.1


class Learner:
    """A TAGI network in training; the labels' tree codes are prepared before the clock starts."""

    def __init__(self, problem: Problem, hidden: int, batch: int, seed: int) -> None:
        classes = int(problem.y.max()) + 1
        pytagi.manual_seed(seed)
        self.metric = pytagi.HRCSoftmaxMetric(num_classes=classes)
        self.x, self.batch, self.classes = np.asarray(problem.x, np.float32), batch, classes
        self.net = nn.Sequential(
            nn.Linear(problem.x.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, self.metric.hrc_softmax.len)
        )
        self.net.set_threads(os.cpu_count() or 1)
        self.updater = nn.OutputUpdater(self.net.device)
        codes, nodes, count = pytagi.Utils().label_to_obs(np.asarray(problem.y), classes)
        self.codes = codes.astype(np.float32).reshape(-1, int(count))
        self.nodes = nodes.astype(np.int32).reshape(-1, int(count))

    def epoch(self, order: np.ndarray) -> None:
        """Train on the rows in this order; a short last minibatch is left out."""
        for i in range(0, len(order) - self.batch + 1, self.batch):
            rows = order[i : i + self.batch]
            codes = self.codes[rows].ravel()
            self.net(self.x[rows].ravel())
            self.updater.update_using_indices(
                output_states=self.net.output_z_buffer,
                mu_obs=codes,
                var_obs=np.full(codes.shape, OBSERVATION_STD**2, np.float32),
                selected_idx=self.nodes[rows].ravel(),
                delta_states=self.net.input_delta_z_buffer,
            )
            self.net.backward()
            self.net.step()

    def labels(self, x: np.ndarray) -> np.ndarray:
        """Predicted labels; rows beyond the last full minibatch are left out."""
        predicted = []
        for i in range(0, len(x) - self.batch + 1, self.batch):
            mean, var = self.net(np.ascontiguousarray(x[i : i + self.batch], np.float32).ravel())
            predicted.append(self.metric.get_predicted_labels(mean, var))
        return np.concatenate(predicted)
