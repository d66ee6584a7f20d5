"""The code that a test runs: its own, and that of the helpers in tests/ that it reaches by their names.

Docstrings and comments are left out: what is found in the code is done, not said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
Definition = ast.stmt | tuple[Path, str]
"""A statement at the top of a module; or a file and the name that is imported from it, "" for all of it."""


def own_code(node: ast.AST) -> str:
    """The code of a function, class or module without docstrings and comments."""
    copy = ast.parse(ast.unparse(node))
    for part in ast.walk(copy):
        body = getattr(part, "body", None)
        if isinstance(body, list):
            part.body = [line for line in body if not is_string(line)] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(copy)


def is_string(line: ast.stmt) -> bool:
    """Whether a statement is nothing but a string."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)


def reached_code(path: Path, name: str) -> str:
    """The code of a function at the top of a module, and of all that it reaches."""
    return "\n".join(_reached(path, name, set()))


def _reached(path: Path, name: str, seen: set[tuple[Path, str]]) -> Iterator[str]:
    result = definitions(path).get(name)
    if result is None or (path, name) in seen:
        return
    seen.add((path, name))
    if isinstance(result, tuple):
        source, inside = result
        yield from _reached(source, inside, seen) if inside else [own_code(ast.parse(source.read_text()))]
        return
    yield own_code(result)
    for node in ast.walk(result):
        if isinstance(node, ast.Name | ast.arg):  # an argument may be a fixture of the module
            yield from _reached(path, node.id if isinstance(node, ast.Name) else node.arg, seen)


@cache
def definitions(path: Path) -> dict[str, Definition]:
    """What the names at the top of a module are, but for those that come from elsewhere than tests/."""
    results: dict[str, Definition] = {}
    for line in ast.parse(path.read_text()).body:
        if isinstance(line, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            results[line.name] = line
        elif isinstance(line, ast.Assign | ast.AnnAssign):
            targets = line.targets if isinstance(line, ast.Assign) else [line.target]
            results |= {node.id: line for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        elif isinstance(line, ast.ImportFrom) and line.module:
            source = TESTS / line.module.replace(".", "/")
            for alias in line.names:
                module, member = source / f"{alias.name}.py", source.with_suffix(".py")
                if module.exists():
                    results[alias.asname or alias.name] = module, ""
                elif member.exists():
                    results[alias.asname or alias.name] = member, alias.name
    return results
