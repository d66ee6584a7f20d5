"""The package as syntax: its modules, what they import, and the tree that docs/architecture.md draws of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tdamp"
PAGE = ROOT / "docs" / "architecture.md"


def module_name(path: Path) -> str:
    """`factors.layers.dense` for factors/layers/dense.py, `factors` for its __init__.py, "" for the package itself."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


@cache
def tree_of(module: str) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(MODULES[module].read_text())


@cache
def listed() -> tuple[str, ...]:
    """The page's tree in its order, as dotted names: `factors`, `factors.layers`, ..., without the package itself."""
    (drawn,) = re.findall(r"^```\nsrc/tdamp/\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    names: list[str] = []
    parents: list[str] = []
    for line in drawn.splitlines():
        indent, entry = re.match(r"( +)(\S+)", line).groups()  # type: ignore[union-attr]
        depth = len(indent) // 2 - 1
        parents = [*parents[:depth], entry.removesuffix("/").removesuffix(".py")]
        names.append(".".join(parents))
    return tuple(name for name in names if name != "__init__")


def imports(module: str, *, lazy: bool = True) -> set[str]:
    """Modules of the package that `module` imports; "" is the package itself, of which a name is taken.

    `lazy=False` leaves out imports inside functions and those for the type checker alone.
    """
    path = MODULES[module]
    package = [part for part in module.split(".") if part]
    if path.name != "__init__.py":
        package = package[:-1]
    result: set[str] = set()
    for node in _statements(tree_of(module), lazy):
        if isinstance(node, ast.Import):
            result |= {_known(alias.name.split(".")[1:]) for alias in node.names if _is_ours(alias.name)}
        elif node.level or _is_ours(node.module or ""):
            below = (node.module or "").split(".") if node.module else []
            base = [*package[: len(package) - node.level + 1], *below] if node.level else below[1:]
            # `from . import x` may name a module, `from .x import y` usually a thing inside one
            result |= {_known([*base, alias.name], base) for alias in node.names if alias.name != "__version__"}
    return result - {module}


def foreign_imports(module: str) -> set[str]:
    """Other top-level packages that `module` imports."""
    names: set[str] = set()
    for node in _statements(tree_of(module), lazy=True):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif not node.level:
            names.add((node.module or "").split(".")[0])
    return names - {"tdamp"}


def functions(module: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of a module with its qualified name, methods and inner functions included."""

    def below(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield prefix + child.name, child
            named = isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            yield from below(child, f"{prefix}{child.name}." if named else prefix)  # type: ignore[attr-defined]

    yield from below(tree_of(module), "")


def _is_ours(dotted: str) -> bool:
    return dotted.split(".")[0] == "tdamp"


def _known(parts: list[str], otherwise: list[str] | None = None) -> str:
    name = ".".join(parts)
    return name if name in MODULES or otherwise is None else ".".join(otherwise)


def _statements(node: ast.AST, lazy: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif lazy or not (
            isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            or (isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"))
        ):
            yield from _statements(child, lazy)
