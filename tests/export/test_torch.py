"""The PyTorch network against tdamp's posterior-mean network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.random_fitted import mean_network, random_fitted, random_plain, scaled
from tdamp.engine.network import Network
from tdamp.export import load_torch, save_torch, to_torch
from tdamp.factors.activations.catalog import ACTIVATIONS

STANDARD = (torch.nn.Linear, torch.nn.ReLU, torch.nn.LeakyReLU, torch.nn.Hardtanh, torch.nn.Identity)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("widths", [(3, 2), (5, 8, 3), (4, 7, 6, 2)], ids=str)
def test_posterior_mean_network(activation: str, widths: tuple[int, ...], tmp_path: Path) -> None:
    """twin: tdamp.mean_network in float64 to 1e-4 of the output's size, from the raw columns; also saved and loaded."""
    for task, seed in (("regression", 0), ("classification", 1)):
        fitted = random_fitted(Network(widths, task, activation), 7, seed)
        plain, x = random_plain(fitted, 7, seed)
        exact = plain.y_mean + plain.y_scale * np.asarray(
            mean_network(fitted.network, fitted.state.layers, scaled(plain, x))
        )
        model = to_torch(plain)
        assert all(isinstance(module, STANDARD) for module in model)
        save_torch(plain, tmp_path / "network.pt")
        for net in (model, load_torch(tmp_path / "network.pt")):
            ours = net(torch.from_numpy(x[:, net.inputs])).detach().numpy()
            assert np.all(np.abs(ours - exact) < 1e-4 * np.abs(exact).max(0))


def test_the_docstrings_code_rebuilds_the_network(tmp_path: Path) -> None:
    """identity: the code that save_torch gives for machines without tdamp, run as it stands, gives the same bits."""
    plain, x = random_plain(random_fitted(Network((4, 6, 5, 2)), 7, seed=0), 7, seed=0)
    path = tmp_path / "network.pt"
    save_torch(plain, path)
    lines = [line for line in (save_torch.__doc__ or "").splitlines() if line.startswith(" " * 8)]
    assert len(lines) == 7
    scope = {"torch": torch, "path": path, "x": torch.from_numpy(x)}
    exec("\n".join(line[8:] for line in lines[:-1]), scope)
    ours = eval(lines[-1].strip(), scope)
    model = to_torch(plain)
    assert torch.equal(ours, model(torch.from_numpy(x)[:, model.inputs]))


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    """contract: another dictionary of tensors is not taken for a network."""
    torch.save({"a": torch.zeros(2)}, tmp_path / "other.pt")
    with pytest.raises(ValueError, match="not a network of save_torch"):
        load_torch(tmp_path / "other.pt")
