"""A module imports only from its own folder and those listed above it in docs/architecture.md."""

from __future__ import annotations

from pathlib import Path

from helpers.source_tree import MODULES, SOURCE, foreign_imports, imports, listed

FACTORS = ("layers", "activations", "likelihoods", "priors")
SHARED = ["maps", "patches", "base", "catalog"]
"""Modules of a folder of factors that its members may import, and each of them those before it: what layers read their
inputs through, the protocol, and the list of members."""


def place(module: str) -> tuple[int, ...]:
    """Where the module stands on the page: the position of each of its folders."""
    parts = module.split(".")
    ancestors = [".".join(parts[: i + 1]) for i in range(len(parts))]
    return tuple(listed().index(name) for name in ancestors if name in listed())


def is_below(name: str, module: str) -> bool:
    """Whether the folder of `name` is listed below that of `module`.

    Folders are compared with folders beside them, so that those inside `federated/` and its own modules may import each
    other, but `federated/privacy` nothing from `federated/flower`.
    """
    for here, there in zip(place(module), place(name), strict=False):
        if here != there:
            return there > here
    return False


def test_the_walk_sees_imports() -> None:
    """contract: relative, absolute, from-package and lazy imports are found where they are known to be."""
    assert imports("factors.activations.piecewise") >= {"numerics.truncated_normal", "numerics.beliefs"}
    assert "_optional" in imports("tables.errors")  # from .. import _optional
    lazy = imports("cli.main") - imports("cli.main", lazy=False)
    assert "cli.fit" in lazy or "cli.fit" in imports("cli.main")
    assert "numpy" in foreign_imports("metrics")


def test_the_order_of_folders() -> None:
    """contract: the page's order, at the root and inside a folder."""
    assert is_below("training.fit", "engine.damp") and not is_below("engine.damp", "training.fit")
    assert is_below("federated.flower.app", "federated.privacy.central")
    assert not is_below("federated.server", "federated.aggregation.step")


def test_the_page_lists_every_folder() -> None:
    """contract: the page's tree against the folders on disk, and the modules at the package's root."""
    folders = {".".join(path.relative_to(SOURCE).parts) for path in SOURCE.rglob("*") if holds_modules(path)}
    at_root = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    assert set(listed()) == folders | at_root
    assert len(listed()) == len(set(listed()))


def holds_modules(path: Path) -> bool:
    """Whether it is a folder with Python modules."""
    return path.is_dir() and any(path.glob("*.py"))


def test_every_import_is_there() -> None:
    """contract: what is imported from the package exists, and nothing but the version is taken from its root."""
    wrong = [f"{m or 'tdamp'} -> {n or 'tdamp'}" for m in MODULES for n in imports(m) if n not in MODULES or not n]
    assert not wrong, "\n".join(wrong)


def test_imports_come_from_above() -> None:
    """contract: no module imports from a folder listed below its own, neither at its top nor inside a function."""
    wrong = [f"{m} -> {n}" for m in MODULES if m for n in sorted(imports(m)) if is_below(n, m)]
    assert not wrong, "\n".join(wrong)


def test_a_factor_imports_no_other_factor() -> None:
    """contract: numerics, the protocol and the catalog of its own folder are all that a factor may import.

    A catalog names the members of its folder, and a protocol none.
    """
    wrong = []
    for module in MODULES:
        if module.startswith("factors."):
            _, folder, *stem = module.split(".")
            before = SHARED[: SHARED.index(stem[0])] if stem and stem[0] in SHARED else SHARED
            own = {f"factors.{folder}"} | {f"factors.{folder}.{name}" for name in before}
            for name in sorted(imports(module)):
                same = name == f"factors.{folder}" or name.startswith(f"factors.{folder}.")
                lists_members = not stem or stem == ["catalog"]
                allowed = (lists_members and same) or name in own
                if name.startswith("factors") and not allowed:
                    wrong.append(f"{module} -> {name}")
    assert not wrong, "\n".join(wrong)
    assert {f"factors.{folder}" for folder in FACTORS} <= set(MODULES)


def test_no_cycles() -> None:
    """contract: a depth-first search over all imports, also those inside functions, finds no way back."""
    inside = set(MODULES) - {""}  # the package's own file names the public things for the type checker
    done: set[str] = set()
    cycles: list[str] = []

    def visit(module: str, trail: tuple[str, ...]) -> None:
        if module in trail:
            cycles.append(" -> ".join((*trail[trail.index(module) :], module)))
        elif module not in done:
            for name in sorted(imports(module) & inside):
                visit(name, (*trail, module))
            done.add(module)

    for module in sorted(inside):
        visit(module, ())
    assert not cycles, "\n".join(cycles)
    assert done == inside


def test_nothing_imports_the_benchmarks() -> None:
    """contract: `tdamp-bench` is another distribution, which the package does not import."""
    assert [m for m in MODULES if "tdamp_bench" in foreign_imports(m)] == []
