"""The network as data: its counts, its likelihood, and the network that pruning leaves."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tdamp.engine.network import Network, name_of
from tdamp.factors.layers.base import Linear
from tdamp.factors.layers.catalog import LAYERS
from tdamp.factors.likelihoods.catalog import LIKELIHOODS


def test_counts() -> None:
    """enumeration: weights and biases counted one by one, a multiplication and addition for each weight."""
    network = Network((3, 4, 5, 2))
    weights = sum(len(list(product(range(a), range(b)))) for a, b in ((3, 4), (4, 5), (5, 2)))
    assert network.n_params == weights + 4 + 5 + 2
    assert network.n_multiply_adds == weights
    assert network.n_units == 3 + 4 + 5 and network.n_layers == 3


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_named_likelihood_says_the_task(name: str) -> None:
    """contract: task and noise follow from the name, and targets are outputs over outputs a target."""
    likelihood = LIKELIHOODS[name]
    network = Network((3, 6), likelihood=name)
    assert (network.task, network.noise) == (likelihood.task, likelihood.noise) and network.output is likelihood
    assert network.n_targets * likelihood.outputs_per_target == 6


def test_task_and_noise_stand_for_a_likelihood() -> None:
    """contract: the first of the catalog that has both; None if there is none."""
    assert Network((3, 2), noise="varying").output.name == name_of("regression", "varying") == "heteroscedastic"
    assert name_of("regression", "none") != "gaussian" and name_of("ranking", "constant") is None


def test_layers_by_name_are_objects() -> None:
    """contract: by name, as JSON's fields, or as they are; not named they are dense."""
    fields: Any = {"name": "dense"}
    assert all(isinstance(one, Linear) for one in Network((3, 4, 2), layers=("dense", fields)).linear)
    assert Network((3, 4, 2)).linear == Network((3, 4, 2), layers=(LAYERS["dense"](), "dense")).linear


@pytest.mark.parametrize("layers", [None, ("dense", "dense")])
def test_what_pruning_leaves(layers: Any) -> None:
    """contract: widths are the numbers of units left, the outputs stay."""
    left = Network((5, 4, 2), layers=layers).take([np.array([0, 3]), np.array([1, 2, 3])])
    assert left.widths == (2, 3, 2) and left.linear == Network((2, 3, 2), layers=layers).linear


def test_layers_that_are_not_dense_are_refused() -> None:
    """contract: the sentence of who cannot do others, with the layer's name."""

    class Sparse(Linear):
        name = "sparse"

    Network((3, 4, 2)).check_dense("no reason")
    with pytest.raises(ValueError, match=r"Sparse.*: exports know no other"):
        Network((3, 4, 2), layers=(Sparse(), "dense")).check_dense("exports know no other")
