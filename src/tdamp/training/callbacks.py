"""Callbacks of the estimators: a function of (epoch, fitted, record), or an object that is told of start and end too.

An error in a callback ends the training and reaches the caller of `fit` unchanged, with a note that names the callback.
The estimator is then as it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .fitted import Fitted


class TrainingCallback(Protocol):
    """What a callback may have. `__call__` is all that it needs: a plain function is a callback.

    Where a fit consists of several trainings, the epochs are those of the one whose posterior is kept.
    """

    def on_start(self, info: dict[str, Any]) -> Any:
        """Called before the first epoch with one dictionary: the network's fields, number of rows, every setting."""

    def __call__(self, epoch: int, fitted: Fitted, record: dict[str, Any]) -> Any:
        """Called after every epoch, counted from 1, with its row of the history; True ends the training."""

    def on_end(self, fitted: Fitted) -> Any:
        """Called at the end with the result, whose history may hold scores that were found after the epochs."""


class ScalarLogger:
    """A callback that hands every number of an epoch to `write(name, value, step)`.

    It fits `SummaryWriter.add_scalar` of TensorBoard and `mlflow.log_metric` as they are. A list becomes `name/0`,
    `name/1`, ..., unless it has one entry. `start(info)` is called before the first epoch; `mlflow.log_params` fits.
    Clones of an estimator write to the same place.
    """

    def __init__(
        self, write: Callable[[str, float, int], Any], start: Callable[[dict[str, Any]], Any] | None = None
    ) -> None:
        self.write, self.start = write, start
        self._unscored: set[int] = set()  # epochs whose held-out score is found later, if at all

    def __deepcopy__(self, memo: dict[int, Any]) -> ScalarLogger:
        """Itself: a file or a connection cannot be copied."""
        return self

    def on_start(self, info: dict[str, Any]) -> None:
        """Hand the settings on."""
        self._unscored.clear()
        if self.start is not None:
            self.start(info)

    def __call__(self, epoch: int, fitted: Fitted, record: dict[str, Any]) -> None:
        """Hand the numbers on."""
        if "held_out" not in record:
            self._unscored.add(epoch)
        for name, value in record.items():
            if name != "epoch":
                self._write(name, value, epoch)

    def on_end(self, fitted: Fitted) -> None:
        """Hand on the scores that were found after the epochs."""
        for record in fitted.history:
            if record["epoch"] in self._unscored and "held_out" in record:
                self._write("held_out", record["held_out"], record["epoch"])

    def _write(self, name: str, value: Any, step: int) -> None:
        values = value if isinstance(value, list | tuple) else [value]
        for i, number in enumerate(values):
            self.write(name if len(values) == 1 else f"{name}/{i}", float(number), step)


class Callbacks:
    """The callbacks of one training, called in turn."""

    def __init__(self, callbacks: Sequence[Any]) -> None:
        self.callbacks = callbacks

    def on_start(self, info: dict[str, Any]) -> None:
        """Call `on_start` of the callbacks that have one."""
        for one in self.callbacks:
            if hasattr(one, "on_start"):
                _called(one.on_start, info, of=one, when="before the first epoch")

    def __call__(self, epoch: int, fitted: Fitted, record: dict[str, Any]) -> bool:
        """Call each after an epoch; True if one of them wants to end the training."""
        return any(
            [_called(one, epoch, fitted, record, of=one, when=f"after epoch {epoch}") is True for one in self.callbacks]
        )

    def on_end(self, fitted: Fitted) -> None:
        """Call `on_end` of the callbacks that have one."""
        for one in self.callbacks:
            if hasattr(one, "on_end"):
                _called(one.on_end, fitted, of=one, when="after the training")


def _called(function: Callable[..., Any], *arguments: Any, of: Any, when: str) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        error.add_note(f"Raised by the callback {of!r} of the estimator, {when}.")
        raise
