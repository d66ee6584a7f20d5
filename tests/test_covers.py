"""What a module of tests claims to cover by a line `covers:`, it reaches by its imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tdamp
from helpers.source_tree import MODULES, SOURCE, imports

TESTS = Path(__file__).parent


def test_claims_are_reached() -> None:
    """contract: a module without a test of its name is imported by one that claims it, or is used by what that imports.

    Used is what a module of the same folder of the package imports, or what that one imports, and so on. What test
    modules import from tests/ counts with them.
    """
    claims = {(name, path) for path in TESTS.rglob("test_*.py") for name in claimed(path) if not own_test(name)}
    missed = {name for name, _ in claims} - {name for name, path in claims if name in reached(path, name.split(".")[0])}
    assert not missed, "\n".join(sorted(missed))


def test_claims_are_made_once() -> None:
    """contract: no module claims what a test of that name, in the mirrored folder, covers already."""
    free = {"exams"}  # an exam covers a whole catalog
    twice = {
        f"{path.relative_to(TESTS)}: {name}"
        for path in TESTS.rglob("test_*.py")
        if path.parent.name not in free
        for name in claimed(path)
        if own_test(name)
    }
    assert not twice, "\n".join(sorted(twice))


def test_the_search_sees_what_is_reached() -> None:
    """contract: by a public name, by a package's own names, by a helper; and what is only near is not reached."""
    here = TESTS / "prediction" / "test_samples.py"
    assert "prediction.samples" in reached(here, "prediction")
    assert "training.fitted" in reached(here, "training") and "training.progress" not in reached(here, "training")
    assert "estimators.fitted_attributes" in reached(TESTS / "training" / "test_events.py", "estimators")
    assert "sources.memmap" in reached(TESTS / "sources" / "test_fit.py", "sources")


def claimed(path: Path) -> list[str]:
    """The modules on the lines `covers:` of a test module's docstring."""
    words = ast.get_docstring(ast.parse(path.read_text())) or ""
    lines = re.findall(r"^covers: (.+?)\.?$", words, re.MULTILINE)
    return [name.strip() for line in lines for name in line.split(",")]


def own_test(name: str) -> bool:
    """Whether tests/a/test_b.py is there for a.b, or tests/a/test_b_more.py."""
    path = MODULES[name]
    folder, stem = TESTS / path.parent.relative_to(SOURCE), path.stem.lstrip("_")
    return (folder / f"test_{stem}.py").exists() or any(folder.glob(f"test_{stem}_*.py"))


def reached(path: Path, folder: str) -> set[str]:
    """The modules of a folder of the package that a test module's imports lead to within it."""
    result: set[str] = set()
    ahead = [name for name in imported(path) if name.split(".")[0] == folder]
    while ahead:
        name = ahead.pop()
        if name not in result:
            result.add(name)
            ahead += [further for further in imports(name) if further.split(".")[0] == folder]
    return result


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules of the package that a test module imports, itself or by a module of tests/ that it imports."""
    result: set[str] = set()
    for name in names_of(path):
        if name.startswith("tdamp."):
            result.add(home_of(name.removeprefix("tdamp.")))
        else:
            helper = next(filter(Path.exists, (TESTS / f"{at}.py" for at in places(name))), path)
            result |= imported(helper) if helper != path else frozenset()
    return frozenset(result)


def names_of(path: Path) -> Iterator[str]:
    """Everything that import statements of a file name: `a.b` for `import a.b` and for `from a import b`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def places(name: str) -> tuple[str, str]:
    """Where in tests/ a dotted name may be: a module, or something inside one."""
    return name.replace(".", "/"), name.rpartition(".")[0].replace(".", "/") or name


def home_of(name: str) -> str:
    """The module of the package that a dotted name is, or lies in; a public name's is where it is at home."""
    name = f"{tdamp._HOME[name]}.{name}" if name in tdamp._HOME else name
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name
