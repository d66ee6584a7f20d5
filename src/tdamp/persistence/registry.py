"""Which classes of estimators can be saved: each registers itself, so that saving need not know them.

The estimators stand above this folder; `tdamp.estimators` registers its classes when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..engine.network import Network


@dataclass(frozen=True)
class SavedForm:
    """How the estimators of one class are stored, beyond what all of them store.

    `arrays` names the fitted attributes that are arrays. `restore` sets and
    checks the rest on a new estimator from the config of its folder, for a network of this shape; it raises
    ModelFileError where they do not fit.
    """

    kind: Any
    task: str
    arrays: tuple[str, ...]
    restore: Callable[[Any, dict[str, Any], Network], None]


FORMS: dict[str, SavedForm] = {}
"""The forms by the name of the class, which is how a folder calls it."""


def register(form: SavedForm) -> None:
    """Make the estimators of a class known to `save` and `load`."""
    FORMS[form.kind.__name__] = form
