"""The public names with their signatures, as text. Run as a script it writes tests/public_api.txt (`make api`)."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import tdamp

FILE = Path(__file__).parents[1] / "public_api.txt"
MODULES = ("tdamp", *(f"tdamp.{name}" for name in tdamp._MODULES), "tdamp.federated")
WIDTH = 120


def listing() -> str:
    """Every public name of every public module: a line each, or one for each parameter where they are many."""
    parts = []
    for path in MODULES:
        module = importlib.import_module(path)
        parts += [line for name in names(module) for line in lines(f"{path}.{name}", getattr(module, name))]
    return "".join(f"{part}\n" for part in parts)


def names(module: ModuleType) -> list[str]:
    """What a module promises: its `__all__`, or else what it defines without an underscore."""
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return sorted(getattr(module, "__all__", [name for name in defined if not name.startswith("_")]))


def lines(name: str, value: Any) -> Iterator[str]:
    """A function's signature; a class's, with its public methods and properties; the kind of anything else."""
    if inspect.isfunction(value):
        yield signature(name, value)
    elif not inspect.isclass(value):
        yield f"{name}: {type(value).__name__}"
    elif issubclass(value, Enum):
        yield f"{name}: {', '.join(value.__members__)}"
    else:
        if issubclass(value, BaseException):
            yield f"{name}: {', '.join(base.__name__ for base in value.__bases__)}"
        else:
            yield signature(name, value)
        yield from _members(name, value)


def _members(name: str, kind: type) -> Iterator[str]:
    """Those that this package defines: the ones of foreign base classes change with their library. Fields are in the
    signature."""
    ours = [base for base in kind.__mro__ if base.__module__.split(".")[0] == "tdamp"]
    for member in sorted({member for base in ours for member in vars(base) if not member.startswith("_")}):
        value = inspect.getattr_static(kind, member)
        value = getattr(value, "__func__", value)  # of a class method
        if inspect.isfunction(value):
            yield signature(f"{name}.{member}", value)
        elif isinstance(value, property):
            yield f"{name}.{member}: {_annotation(inspect.signature(value.fget).return_annotation)}"


def signature(name: str, function: Any) -> str:
    """`name(a: int, b: str = 'c') -> float`."""
    result = inspect.signature(function)
    parts, marked = [], False
    for parameter in result.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not marked:
            parts.append("*")
        marked |= parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        plain = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
        typed = "" if parameter.annotation is parameter.empty else f": {_annotation(parameter.annotation)}"
        parts.append(f"{plain}{typed}" + ("" if parameter.default is parameter.empty else f" = {parameter.default!r}"))
    back = "" if result.return_annotation is result.empty else f" -> {_annotation(result.return_annotation)}"
    line = f"{name}({', '.join(parts)}){back}"
    return line if len(line) <= WIDTH else "\n    ".join([f"{name}(", *(f"{part}," for part in parts)]) + f"\n){back}"


def _annotation(result: Any) -> str:
    text = getattr(result, "__forward_arg__", result)
    return text if isinstance(text, str) else inspect.formatannotation(text)


if __name__ == "__main__":
    FILE.write_text(listing(), encoding="utf-8")
