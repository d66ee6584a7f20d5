"""The wheel: what is in it, that the core works from it without extras, and that its types reach a user."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_dependencies import BENCH, BENCH_SOURCE, CORE, PROJECT, ROOT, SOURCE, closure, declared

SMOKE = Path(__file__).with_name("smoke.py")

ONLY_THE_CORE = """
import importlib.metadata, runpy, sys

allowed = set({allowed!r})
owners = importlib.metadata.packages_distributions()
hidden = {{m for m, names in owners.items() if not allowed & {{name.lower().replace("_", "-") for name in names}}}}
hidden.add("tdamp_bench")  # installed in place, it is not among the owners

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hide())
sys.path.insert(0, {folder!r})
runpy.run_path({smoke!r}, run_name="__main__")
"""
"""Libraries that no core dependency asks for cannot be imported: as if the extras were not installed."""

USER = """
import tdamp

model = tdamp.TDAMPRegressor((8,), keep=0.5)
reveal_type(model.fit([[0.0]], [0.0]))
reveal_type(tdamp.Outcome.OK)
tdamp.Network(widths="wrong")
"""


def built(project: Path, folder: Path) -> Path:
    """The wheel of a project of this checkout, built by the hatchling that is installed."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of tdamp."""
    return built(ROOT, tmp_path_factory.mktemp("dist"))


def files_of(source: Path) -> set[str]:
    """The files of a package, as a wheel names them."""
    results = {str(path.relative_to(source.parent)) for path in source.rglob("*") if path.is_file()}
    return {name for name in results if "__pycache__" not in name}


def content(wheel: Path) -> tuple[set[str], dict[str, str]]:
    """The files of a wheel, and the text of those that describe it by name."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        described = {Path(name).name: archive.read(name).decode() for name in names if ".dist-info/" in name}
    return {name for name in names if ".dist-info/" not in name}, described


def required(metadata: str) -> set[str]:
    """Names of what a wheel requires without extras."""
    lines = [line.split(": ", 1)[1] for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    return {canonicalize_name(r.name) for r in map(Requirement, lines) if "extra ==" not in str(r.marker)}


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """contract: every file of src/tdamp, with py.typed and style sheet; no benchmarks, no tests, no leftovers."""
    names, described = content(wheel)
    assert names == files_of(SOURCE) >= {"tdamp/py.typed", "tdamp/report/style.css"}
    assert all(name.startswith("tdamp/") for name in names)
    assert not any("bench" in name for name in names)
    assert required(described["METADATA"]) == CORE


def test_the_wheel_of_the_benchmarks(tmp_path: Path) -> None:
    """contract: every file of tdamp_bench and nothing else; the two commands; tdamp of the same version."""
    names, described = content(built(ROOT / "benchmarks", tmp_path))
    assert names == files_of(BENCH_SOURCE) and all(name.startswith("tdamp_bench/") for name in names)
    assert required(described["METADATA"]) == declared(BENCH["dependencies"])
    for command in ("bench", "reproduce"):
        assert f"{command} = tdamp_bench.cli.{command}" in described["entry_points.txt"]


def test_the_core_works_without_extras(wheel: Path, tmp_path: Path) -> None:
    """contract: the script of `make wheel`, on the wheel's files, where nothing but the core can be imported."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "there")
    allowed = sorted(closure(PROJECT["dependencies"]) | {"tdamp"})
    code = ONLY_THE_CORE.format(allowed=allowed, folder=str(tmp_path / "there"), smoke=str(SMOKE))
    around = {**os.environ, "TDAMP_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, cwd=tmp_path, env=around)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"from {tmp_path}/there/tdamp: fine without extras\n")


def test_types_reach_the_user(wheel: Path, tmp_path: Path) -> None:
    """twin: mypy knows the installed package's types and finds a wrong call; without py.typed it would not look."""
    venv.EnvBuilder(with_pip=False).create(tmp_path / "user")
    packages = next((tmp_path / "user").glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (tmp_path / "script.py").write_text(USER)
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\n")
    command = [sys.executable, "-m", "mypy", "--python-executable", str(tmp_path / "user/bin/python"), "script.py"]
    around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # mypy looks there, too

    def checked() -> str:
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=around).stdout

    result = checked()
    assert re.search(r'script.py:5: note: Revealed type is "tdamp.estimators.[\w.]*TDAMPRegressor"', result), result
    assert re.search(r'script.py:6: note: Revealed type is "Literal\[tdamp.[\w.]*Outcome.OK\]\?"', result), result
    assert 'script.py:7: error: Argument "widths" to "Network" has incompatible type "str"' in result, result
    (packages / "tdamp/py.typed").unlink()
    assert "missing library stubs or py.typed marker" in checked()


@pytest.mark.soak
def test_a_clean_environment() -> None:
    """contract: `make wheel` installs the wheel with its dependencies alone, and the same script runs there."""
    done = subprocess.run(["make", "wheel"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"from {ROOT}/build/clean/" in done.stdout and done.stdout.endswith(": fine without extras\n")
