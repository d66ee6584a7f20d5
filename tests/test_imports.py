"""Imports point downward: ground, factors, Algorithm 1, people."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tdamp

ROOT = Path(tdamp.__file__).parent
GROUND = {"beliefs", "numerics", "gumbel", "student", "calibration", "network", "programs", "extras", "files"}
GROUND |= {"devices", "events", "largest", "records", "split"}
ALGORITHM = {"algorithm", "damp", "turbo", "pasp", "mstep", "prune", "predict"}
ALGORITHM |= {"settings", "state", "stored", "checks", "feed", "compact", "outcome", "epoch", "training", "needed"}
ALGORITHM |= {"checkpoint", "problem", "snapshot", "fitted", "run"}
FLOORS = ("ground", "factors", "algorithm", "people", "bench")


def floor(module: str) -> int:
    """Index into FLOORS of a dotted module name inside the package."""
    top = module.split(".")[0]
    if top in GROUND:
        return 0
    if top == "factors":
        return 1
    if top in ALGORITHM:
        return 2
    return 4 if top == "bench" else 3


def module_name(path: Path) -> str:
    """`factors.linear` for factors/linear.py, "" for the package itself."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(module: str, top_level_only: bool = False) -> set[str]:
    """Modules of the package that `module` imports, by its syntax tree."""
    path = MODULES[module]
    tree = ast.parse(path.read_text())
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    package = [part for part in package if part]
    found: set[str] = set()
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".", 1)[1] for alias in node.names if alias.name.startswith("tdamp.")]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            elif (node.module or "").split(".")[0] == "tdamp":
                base = node.module.split(".")[1:]
            else:
                continue
            # `from . import x` names a module, `from .x import y` usually a thing inside one
            deeper = [".".join([*base, alias.name]) for alias in node.names]
            names = [name if name in MODULES else ".".join(base) for name in deeper]
        else:
            continue
        found |= {name for name in names if name}
    return found - {module}


def test_the_walk_sees_imports() -> None:
    """enumeration: relative, absolute and from-package imports are found where they are known to be."""
    assert imports("factors.piecewise") >= {"numerics", "beliefs"}
    assert imports("turbo") >= {"beliefs", "factors.burst", "factors.group_spike_slab", "factors.spike_slab"}


@pytest.mark.parametrize("module", [m for m in MODULES if m])
def test_imports_point_downward(module: str) -> None:
    """enumeration: every import statement of every module."""
    for name in imports(module):
        assert name in MODULES, f"{module} imports {name}, which does not exist"
        if module.split(".")[0] == "commands" and floor(name) == 4:
            assert name not in imports(module, top_level_only=True), "commands import bench lazily only"
            continue
        here, there = floor(module), floor(name)
        assert there <= here, f"{module} ({FLOORS[here]}) imports {name} ({FLOORS[there]})"


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("factors.")])
def test_a_factor_imports_no_other_factor(module: str) -> None:
    """enumeration: the factors know only the ground."""
    assert {name for name in imports(module) if floor(name) > 0} == set()


def test_no_cycles() -> None:
    """enumeration: depth-first search over top-level imports finds no way back."""
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail, module))
        if module not in done:
            for name in sorted(imports(module, top_level_only=True) & set(MODULES)):
                visit(name, (*trail, module))
            done.add(module)

    for module in MODULES:
        visit(module, ())
    assert done == set(MODULES)
