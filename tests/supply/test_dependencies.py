"""Dependencies: the core imports what it declares and nothing else, and every version is pinned."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import tdamp

ROOT = Path(__file__).parents[2]
SOURCE = Path(tdamp.__file__).parent
BENCH_SOURCE = ROOT / "benchmarks/src/tdamp_bench"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BENCH = tomllib.loads((ROOT / "benchmarks/pyproject.toml").read_text())["project"]
PINS = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if line[0] != "#")


def declared(lines: list[str]) -> set[str]:
    """The names of requirements."""
    return {canonicalize_name(Requirement(line).name) for line in lines}


CORE = declared(PROJECT["dependencies"])


owners = cache(packages_distributions)
"""The distributions that a module may come from."""
BEHIND_JAX = {"flatbuffers"}
"""`jax.export` imports it, and JAX does not declare it."""


def imported(path: Path) -> set[str]:
    """Foreign modules that a file imports, by its syntax tree: statements alone, as `need` takes a string."""
    result = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            result |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            result.add((node.module or "").split(".")[0])
    return result - set(sys.stdlib_module_names) - {"tdamp", "tdamp_bench"}


def for_types_only(path: Path) -> set[str]:
    """Foreign modules that are imported under `if TYPE_CHECKING`: nobody needs them to run the file."""
    result = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for inner in node.body:
                names = [alias.name for alias in inner.names] if isinstance(inner, ast.Import) else [inner.module or ""]
                result |= {name.split(".")[0] for name in names}
    return result


def closure(requirements: list[str]) -> set[str]:
    """All that an installation of these pulls in here, by the metadata of what is installed."""
    result: set[tuple[str, str]] = set()  # a name, and an extra of it or none
    left = [Requirement(line) for line in requirements]
    while left:
        wanted = left.pop()
        for extra in ("", *wanted.extras):
            if (wanted.name, extra) not in result:
                result.add((wanted.name, extra))
                parts = [Requirement(line) for line in distribution(wanted.name).requires or ()]
                left += [part for part in parts if part.marker is None or part.marker.evaluate({"extra": extra})]
    return {canonicalize_name(name) for name, _ in result}


def test_the_core_imports_its_dependencies_and_no_others() -> None:
    """contract: import statements of every file of tdamp, against the list in pyproject.toml.

    Both ways: nothing undeclared is imported, and nothing is declared that no file imports.
    """
    assert used_by(SOURCE, CORE) == CORE - BEHIND_JAX


def test_the_benchmarks_import_their_dependencies_and_no_others() -> None:
    """contract: import statements of every file of tdamp_bench, against its list and that of tdamp."""
    own = declared(BENCH["dependencies"]) - {"tdamp"}
    assert used_by(BENCH_SOURCE, CORE | own) >= own


def used_by(source: Path, allowed: set[str]) -> set[str]:
    """Distributions that the files of a package import, all of them among those allowed."""
    used = set()
    for path in sorted(source.rglob("*.py")):
        modules = imported(path) - for_types_only(path)
        names = {canonicalize_name(name) for module in modules for name in owners().get(module, [module])}
        undeclared = names - allowed
        assert not undeclared, f"{path.relative_to(ROOT)} imports {undeclared}: declare it, or use _optional.need"
        used |= names
    return used


def test_extras_are_declared() -> None:
    """contract: every library that `need` is asked for in tdamp comes with the extra it names."""
    asked = set()
    for path in SOURCE.rglob("*.py"):
        asked |= set(re.findall(r'\bneed\("([\w.]+)", "(\w+)"\)', path.read_text()))
    assert len(asked) > 5
    for module, extra in asked:
        names = {canonicalize_name(name) for name in owners()[module.split(".")[0]]}
        assert names <= closure(PROJECT["optional-dependencies"][extra]) - CORE, f"need({module!r}, {extra!r})"


def test_peers_are_declared() -> None:
    """contract: every library that `need` is asked for in tdamp_bench is a peer; versions of the two agree."""
    asked = set()
    for path in BENCH_SOURCE.rglob("*.py"):
        asked |= set(re.findall(r'\bneed\("(\w+)[\w.]*", "peers", "tdamp-bench"\)', path.read_text()))
    names = {canonicalize_name(name) for module in asked for name in owners()[module]}
    assert names == declared(BENCH["optional-dependencies"]["peers"])
    assert BENCH["version"] == PROJECT["version"] and f"tdamp=={PROJECT['version']}" in BENCH["dependencies"]


def test_pins_are_names_and_versions() -> None:
    """contract: no address, no hash, no range; sorted, each once."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines[1:]) and lines[0].startswith("#")
    assert lines[1:] == sorted(set(lines[1:])) and len(PINS) == len(lines) - 1


def test_all_that_the_core_pulls_in_is_pinned() -> None:
    """contract: a walk over installed metadata, from the declared dependencies on; and the pins meet the bounds."""
    pulled = closure(PROJECT["dependencies"])
    assert {"jaxlib", "joblib", "pygments"} <= pulled  # the walk goes deep
    assert pulled <= set(PINS), f"pin {sorted(pulled - set(PINS))} in constraints.txt"
    everything = [
        line
        for project in (PROJECT, BENCH)
        for lines in (project["dependencies"], *project["optional-dependencies"].values())
        for line in lines
    ]
    for requirement in map(Requirement, everything):
        name = canonicalize_name(requirement.name)
        assert name == "tdamp" or requirement.specifier.contains(PINS[name]), f"{requirement} and {PINS.get(name)}"


def test_each_dependency_has_its_reason() -> None:
    """contract: docs/reliability.md has a row for every core dependency, and for no other."""
    page = (ROOT / "docs/reliability.md").read_text()
    table = page.split("| core dependency |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == CORE


def test_bill_of_materials(tmp_path: Path) -> None:
    """contract: the command of `make sbom` lists the core with its versions, and nothing else.

    It reads metadata alone, so its environment here has only that of what the core pulls in.
    """
    pulled = closure(PROJECT["dependencies"])
    venv.EnvBuilder(with_pip=False).create(tmp_path / "core")
    packages = next((tmp_path / "core").glob("lib/python*/site-packages"))
    for name in pulled:
        metadata = next(path for path in distribution(name).files or () if path.name == "METADATA").parent
        shutil.copytree(str(distribution(name).locate_file(metadata)), packages / metadata)
    dry = ["make", "--no-print-directory", "-n", "-B", "sbom"]
    make = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    command = make[make.index("-m cyclonedx_py") :].replace("\\\n", " ").split()
    place = {"build/sbom.json": str(tmp_path / "sbom.json"), "build/sbom": str(tmp_path / "core")}
    command = [sys.executable, *(place.get(word, word) for word in command)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    bill = json.loads((tmp_path / "sbom.json").read_text())
    assert bill["bomFormat"] == "CycloneDX" and bill["metadata"]["component"]["name"] == "tdamp"
    listed = {canonicalize_name(part["name"]): part["version"] for part in bill["components"]}
    assert listed == {name: distribution(name).version for name in pulled}
