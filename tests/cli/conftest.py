"""Fitted models for the tests of the commands."""

from __future__ import annotations

import pytest

from helpers.command_examples import SMALL, Example, call, csv, houses


@pytest.fixture(scope="session")
def regression(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """Price of 150 houses, pruned."""
    folder = tmp_path_factory.mktemp("regression")
    data = csv(folder, "houses.csv", houses(150).drop(columns="band"))
    return Example(
        data,
        folder / "model",
        call("fit", data, "--target", "price", "--out", folder / "model", "--keep", "0.5", "--json", *SMALL),
    )


@pytest.fixture(scope="session")
def classification(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """Price band of 150 houses."""
    folder = tmp_path_factory.mktemp("classification")
    data = csv(folder, "bands.csv", houses(150).drop(columns="price"))
    return Example(
        data, folder / "model", call("fit", data, "--target", "band", "--out", folder / "model", "--json", *SMALL)
    )
