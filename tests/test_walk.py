"""The walk from `TDAMPRegressor.fit` to Algorithm 1: few frames, few files, and docs/architecture.md shows them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import tdamp
from tdamp import TDAMPRegressor, algorithm
from tdamp.estimators import fitting
from tdamp.selection import cross_validation, refit

SOURCE = f"{Path(tdamp.__file__).parent}/"
PAGE = Path(__file__).parents[1] / "docs/architecture.md"
MOST_FRAMES = 8
MOST_FILES = 25
X = np.random.default_rng(0).normal(size=(60, 3))


class Arrived(Exception):
    """Algorithm 1 is reached: nothing of it is run."""


class Walk(NamedTuple):
    """From the first function of the package to `algorithm.em_iteration`, both included."""

    frames: list[str]  # those on the stack in the end, "file: function"
    files: list[str]  # all that were entered, in this order

    def between(self) -> list[str]:
        """The frames without the two ends."""
        return self.frames[1:-1]


def walk(work: Callable[[], Any]) -> Walk:
    """Profile some work in this thread until Algorithm 1 is reached."""
    frames: list[str] = []
    files: dict[str, None] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(SOURCE) or code.co_name == "<module>":
            return
        files[code.co_filename.removeprefix(SOURCE)] = None
        if code is algorithm.em_iteration.__code__:
            sys.setprofile(None)
            frames.extend(reversed(stack(frame)))
            raise Arrived

    sys.setprofile(profile)
    try:
        with pytest.raises(Arrived):
            work()
    finally:
        sys.setprofile(None)
    return Walk(frames, list(files))


def stack(frame: FrameType | None) -> list[str]:
    """The package's functions that wait for this one, from within."""
    results = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(SOURCE):
            results.append(f"{code.co_filename.removeprefix(SOURCE)}: {code.co_qualname}")
        frame = frame.f_back
    return results


def regressor(**options: Any) -> TDAMPRegressor:
    """A small one."""
    return TDAMPRegressor((4,), max_epochs=2, random_state=0, **options)


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done once in a process is no part of the way: the folder of compiled programs, and JAX's search for
    devices, which asks for modules by name."""
    monkeypatch.setattr(fitting, "FOLDER", ["there"])
    jax.devices()


def check(walked: Walk) -> None:
    """Few frames between the ends, and few files."""
    assert len(walked.between()) <= MOST_FRAMES, "\n".join(walked.frames)
    assert len(walked.files) - 2 <= MOST_FILES, "\n".join(walked.files)


def test_without_held_out_rows() -> None:
    """contract: from fit to em_iteration; the page lists every frame and every file in the order they are entered."""
    model = regressor(early_stopping=False)
    walked = walk(lambda: model.fit(X, X[:, 0]))
    check(walked)
    page = PAGE.read_text()
    frames, files = (block.splitlines() for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL))
    assert [line.strip() for line in frames] == walked.frames, "\n".join(walked.frames)
    assert [line.split()[0] for line in files] == walked.files, "\n".join(walked.files)


def test_with_held_out_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the first training of a fit that holds rows out once."""
    monkeypatch.setattr(refit, "CROSS_VALIDATED_ROWS", 0)
    model = regressor(early_stopping=True)
    check(walk(lambda: model.fit(X, X[:, 0])))


class Here:
    """In place of the threads: the folds in this one."""

    def __init__(self, _: int) -> None:
        pass

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    map = staticmethod(map)


def test_with_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the first training of a fit as it is by default; frames before its thread and in it are counted
    together."""
    monkeypatch.setattr(cross_validation, "ThreadPoolExecutor", Here)
    model = regressor()
    walked = walk(lambda: model.fit(X, X[:, 0]))
    check(walked)
    place = walked.frames.index("training/fit.py: train")
    assert walked.frames[place - 1] == "selection/refit.py: select_by_folds"
    page = PAGE.read_text()
    more = set(walked.files) - {
        line.split()[0] for line in re.findall(r"```text\n(.*?)```", page, re.DOTALL)[1].splitlines()
    }
    assert "`select_by_folds`" in page and all(f"`{file}`" in page for file in more), more
