"""A fit that was stopped goes on from its checkpoint, to the same bits; another fit does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import tdamp
from helpers.stopped import in_pieces, same
from tdamp import CheckpointError, Fitted, Network, Settings, TDAMPClassifier, TDAMPRegressor, fit
from tdamp.engine import compact
from tdamp.selection import refit
from tdamp.training import checkpoint
from tdamp.training.checkpoint import clear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3)).astype(np.float32)
Y = (np.sin(2 * X[:, :1]) + 0.2 * RNG.normal(size=(150, 1))).astype(np.float32)
NOISE = np.random.default_rng(2).normal(size=150)
NETWORK, SETTINGS = Network((3, 8, 1)), Settings(max_epochs=4, batch_size=32)
WIDE = Network((40, 16, 1))
WIDE_X = RNG.normal(size=(128, 40)).astype(np.float32)
WIDE_Y = np.tanh(WIDE_X[:, :6].sum(1, keepdims=True))

Folder = Path | None


@pytest.fixture
def every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each epoch is written."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)


def regressor(**more: Any) -> TDAMPRegressor:
    """Of few rows: five twins, then a training on all of them."""
    return TDAMPRegressor((8,), max_epochs=6, batch_size=32, random_state=0, **more)


def chosen(folder: Folder) -> Fitted:
    """Judged in folds."""
    return regressor(checkpoint_dir=folder).fit(X, Y[:, 0]).fitted_


def classes(folder: Folder) -> Fitted:
    """Pruned, and stopped early by rows held out, which do not like the last epoch best."""
    labels = np.digitize(X[:, 0] + 0.8 * NOISE, [-0.5, 0.5])
    pruned = {"keep": 0.6, "prior": "group"}
    model = TDAMPClassifier((8,), **pruned, max_epochs=40, patience=2, random_state=1, checkpoint_dir=folder)
    return model.fit(X, labels).fitted_


def pruned(folder: Folder) -> Fitted:
    """Arrays become smaller during training, compiled in the background; inputs have groups."""
    settings = Settings(max_epochs=12, batch_size=32, keep=0.2, prune_start=0.0, prune_end=0.5)
    return fit(WIDE, WIDE_X, WIDE_Y, settings, seed=3, groups=np.arange(40) // 2, checkpoint=folder)


def paper(folder: Folder) -> Fitted:
    """The published rule, which puts units in question at the start and after it acted."""
    settings = Settings(max_epochs=5, batch_size=32, prior="group", pruning="paper", keep=0.6, sweeps=2)
    return fit(NETWORK, X, Y, settings, checkpoint=folder)


def going_on(folder: Folder) -> Fitted:
    """From another training's posterior."""
    start = fit(NETWORK, X, Y, SETTINGS)
    return fit(NETWORK, X, Y, SETTINGS, start=start, sample_weight=X[:, 0] ** 2, checkpoint=folder)


def going_on_to_fewer(folder: Folder) -> Fitted:
    """From another training's posterior, with units that are to go."""
    start = fit(NETWORK, X, Y, SETTINGS)
    return fit(
        NETWORK, X, Y, replace(SETTINGS, keep=0.5, prune_start=0.3, prune_end=0.8), start=start, checkpoint=folder
    )


@pytest.mark.usefixtures("every_epoch")
@pytest.mark.parametrize("kind", [classes, pruned, paper, going_on, going_on_to_fewer])
def test_stopped_after_every_epoch(kind: Callable[[Folder], Fitted], tmp_path: Path, monkeypatch: Any) -> None:
    """twin: one that nobody stopped, bit for bit; no epoch is trained twice, and its end is kept too."""
    monkeypatch.setattr(compact, "COMPILATION", 2.5 * compact.PRODUCTS * 128 * WIDE.n_multiply_adds)
    whole, _, trained, _ = in_pieces(lambda: kind(None), 1)
    again, starts, epochs, headers = in_pieces(lambda: kind(tmp_path), 1)
    same(again, whole)
    if kind in (going_on, going_on_to_fewer):  # the training before it is done at every start
        trained, epochs = 4, epochs - 4 * starts
    assert epochs == trained and starts > trained and headers[-1]["ended"] is not None
    if kind is classes:
        assert whole.epoch < len(whole.history) < 40 and whole.n_units < 11 and headers[-2]["best"] is not None
    if kind is pruned:
        assert headers[0]["widths"] == WIDE.widths != headers[-2]["widths"] and any(
            words["smaller"] for words in headers
        )


@pytest.mark.usefixtures("every_epoch")
@pytest.mark.parametrize("by", ["folds", "held out"])
def test_all_trainings_of_a_fit(by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: one that nobody stopped, bit for bit, calibration and history too, whichever of its trainings it was in."""
    if by == "held out":
        monkeypatch.setattr(refit, "CROSS_VALIDATED_ROWS", 0)
    whole, _, trained, _ = in_pieces(lambda: chosen(None), 1)
    again, starts, epochs, _ = in_pieces(lambda: chosen(tmp_path), 3)
    same(again, whole)
    assert whole.calibration is not None and starts > trained / 6
    assert trained <= epochs <= trained + 2 * starts  # those of the folds that were under way are lost
    stages = {path.name.split("-")[0] for path in tmp_path.iterdir()}
    assert stages == {"start", "training", *({"validation"} if by == "held out" else {f"fold{k}" for k in range(5)})}
    again, starts, epochs, _ = in_pieces(lambda: chosen(tmp_path), 1)
    same(again, whole)
    assert (starts, epochs) == (1, 0)  # it is there at once


def test_writes_are_seldom(tmp_path: Path) -> None:
    """contract: short epochs are not written one by one, only what came of them; two files of each stage at most."""
    result, *_ = in_pieces(lambda: fit(NETWORK, X, Y, SETTINGS, checkpoint=tmp_path), 100)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["start-000000.checkpoint", "training-000004.checkpoint"]
    same(result, fit(NETWORK, X, Y, SETTINGS))


@pytest.mark.usefixtures("every_epoch")
def test_callbacks_of_epochs_done_are_not_called_again(tmp_path: Path) -> None:
    """contract: each epoch is called back once, and one that ends the training has ended it for good."""
    called: list[int] = []

    def callback(epoch: int, *_: object) -> bool:
        called.append(epoch)
        return epoch == 3

    def work() -> Fitted:
        return fit(NETWORK, X, Y, SETTINGS, callback=callback, checkpoint=tmp_path)

    fitted, *_ = in_pieces(work, 1)
    assert called == [1, 2, 3] and len(fitted.history) == 3
    same(work(), fitted)
    assert called == [1, 2, 3]


def test_another_problem_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: each part of a problem changed in its turn is named, with what to do; the same is still there."""
    weight, settings = np.ones(150), replace(SETTINGS, max_epochs=5, trust=1.0)
    asked: dict[str, Any] = {"network": NETWORK, "x": X, "y": Y, "settings": SETTINGS, "sample_weight": weight}
    result = fit(**asked, checkpoint=tmp_path)
    one = X.copy()
    one[7, 1] = np.nextafter(one[7, 1], 9)
    changes: dict[str, dict[str, Any]] = {
        "x differs": {"x": one},
        "y differs": {"y": -Y},
        "sample_weight differs": {"sample_weight": weight / 2},
        "max_epochs was 4 and is 5; trust was 4.0 and is 1.0": {"settings": settings},
        "activation was 'relu' and is 'abs'": {"network": Network((3, 8, 1), activation="abs")},
        "seed differs": {"seed": 1},
        "groups differs": {"groups": np.array([0, 0, 1])},
        "start differs": {"start": result},
    }
    for message, change in changes.items():
        with pytest.raises(CheckpointError, match=rf"another training \({message}\).*choose another folder or delete"):
            fit(**(asked | change), checkpoint=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(tdamp, "__version__", "0.0.9")
        with pytest.raises(CheckpointError, match=r"tdamp was '0\.2\.0' and is '0\.0\.9'"):
            fit(**asked, checkpoint=tmp_path)
    same(fit(**asked, checkpoint=tmp_path), result)
    clear(tmp_path)
    assert not tmp_path.exists()


def test_estimators(tmp_path: Path) -> None:
    """contract: a seed that nobody gave is kept, a model forgets the folder, partial_fit does not use it."""
    model = regressor(checkpoint_dir=tmp_path / "c", early_stopping=False).set_params(random_state=None)
    first, again = clone(model).fit(X, Y[:, 0]), clone(model).fit(X, Y[:, 0])
    same(first.fitted_, again.fitted_)
    with pytest.raises(CheckpointError, match=r"\(seed differs\)"):
        clone(model).set_params(random_state=0).fit(X, Y[:, 0])
    with pytest.raises(CheckpointError, match=r"validation_fraction was None and is 0\.1"):
        clone(model).set_params(early_stopping=True).fit(X, Y[:, 0])
    first.set_params(warm_start=True)
    with pytest.raises(CheckpointError, match=r"\(start differs\)"):
        first.fit(X, Y[:, 0])
    first.save(tmp_path / "m")
    assert tdamp.load(tmp_path / "m").checkpoint_dir is None
    before = sorted((tmp_path / "c").iterdir())
    first.partial_fit(X[:20], Y[:20, 0])
    assert sorted((tmp_path / "c").iterdir()) == before
