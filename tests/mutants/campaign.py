"""`make mutants`: faults are put into the modules that hold the mathematics, and their tests must fail.

Each mutant is a child of a process that has imported JAX: it puts the changed module in place of the file (which stays
as it is) and runs the module's tests up to the first failure. Results go to build/mutants.json, where the next call
goes on: results of a module whose source has changed are forgotten, and `--again` tries the survivors anew, after
tests were added. The page is results/mutants.md; survivors with a reason in modules.toml are accepted.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import re
import signal
import sys
import time
import tomllib
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

from mutations import Mutant, mutants_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STORE, PAGE = ROOT / "build" / "mutants.json", ROOT / "results" / "mutants.md"
HEAVY = ("jax.export", "jax.numpy", "jax.scipy.special", "scipy.optimize", "scipy.stats", "scipy.integrate", "pandas")
HEAVY += ("sklearn.base", "sklearn.utils.validation", "hypothesis.extra.numpy", "pytest", "rich.console", "mpmath")
SLOWER = 10
"""A mutant that takes so many times as long as the tests without one, and a minute, hangs: it counts as killed."""
DEAD, ALIVE, HANGS = "killed", "survived", "hangs"


def module_path(name: str) -> Path:
    """The module `engine/pasp`."""
    return ROOT / "src" / "tdamp" / f"{name}.py"


def path_of_tests(name: str) -> Path:
    """The tests `engine/test_pasp`."""
    return ROOT / "tests" / f"{name}.py"


class Replaced(SourceFileLoader):
    """Loads a module from a changed syntax tree, and finds it before all others do."""

    def __init__(self, path: Path, mutant: Mutant) -> None:
        dotted = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        super().__init__(dotted, str(path))
        self.mutant = mutant

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Of this module alone."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> Any:
        """With the fault."""
        return compile(self.mutant.tree, self.path, "exec")


def tried(path: Path, mutant: Mutant | None, tests: list[Path], seconds: float) -> tuple[str, float]:
    """What the tests say of a mutant, in a process of its own, and how long it took."""
    began, child = time.monotonic(), os.fork()
    if child == 0:
        _run(path, mutant, tests)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        spent = time.monotonic() - began
        if done:
            code = os.waitstatus_to_exitcode(status)
            if code in (3, 4, 5):  # pytest's own troubles
                raise RuntimeError(f"pytest ended with {code}: {path.name}, {mutant and mutant.after}")
            return (ALIVE if code == 0 else DEAD), spent
        if spent > seconds:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return HANGS, spent
        time.sleep(0.05)


def _run(path: Path, mutant: Mutant | None, tests: list[Path]) -> None:
    os.setsid()
    log = os.open(ROOT / "build" / "mutants.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 3
    try:
        if mutant is not None:
            sys.meta_path.insert(0, Replaced(path, mutant))  # type: ignore[arg-type]
        import pytest

        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *map(str, tests)]))
    finally:
        os._exit(code)


def named(source: str) -> dict[str, Mutant]:
    """All mutants of a source, by a name that outlives moved lines."""
    every: dict[str, Mutant] = {}
    for mutant in mutants_of(source):
        key = name = f"{mutant.before}  →  {mutant.after}"
        number = 1
        while key in every:
            number += 1
            key = f"{name}  ({number})"
        every[key] = mutant
    return every


def sample_of(name: str, keys: list[str], size: int) -> list[str]:
    """By their hashes: a larger sample begins with the smaller one, and a changed line or a move changes little."""
    stem = Path(name).name
    return sorted(keys, key=lambda key: hashlib.sha256(f"{stem} {key}".encode()).digest())[:size]


def campaign(config: dict[str, Any], names: list[str], again: bool, store: dict[str, Any]) -> None:
    """Try what has not been tried, and write down each result as it comes."""
    for name in names:
        path = module_path(name)
        tests = [path_of_tests(test) for test in config["modules"][name]]
        source = path.read_text()
        digest, every = hashlib.sha256(source.encode()).hexdigest(), named(source)
        old = store.get(name, {})
        before = old["results"] if old.get("digest") == digest else {}
        before = {key: result for key, result in before.items() if key in every}
        results = {key: r for key, r in before.items() if not (again and r["found"] == ALIVE)}
        store[name] = {"digest": digest, "total": len(every), "results": results}
        wanted = dict.fromkeys([*before, *sample_of(name, list(every), config["sample"])])
        left = [key for key in wanted if key not in results]
        if not left:
            continue
        outcome, usual = tried(path, None, tests, 3600)
        if outcome != ALIVE:
            raise SystemExit(f"{name}: its tests fail without a mutant; look into build/mutants.log")
        for number, key in enumerate(left, 1):
            outcome, spent = tried(path, every[key], tests, SLOWER * usual + 60)
            results[key] = {"line": every[key].line, "found": outcome, "seconds": round(spent, 1)}
            print(f"{name} {number}/{len(left)} {outcome} ({spent:.0f} s) {key}", flush=True)
            STORE.write_text(json.dumps(store, indent=1, ensure_ascii=False))


def page(config: dict[str, Any], store: dict[str, Any], before: str) -> str:
    """Figures and survivors, in words; modules that were not tried here keep those of the page before."""
    rows, survivors, figures = [], [], []
    for name in config["modules"]:
        if name in store:
            row, alive = figures_of(name, store[name], config.get("accepted", {}).get(name, {}))
        else:
            row = "".join(re.findall(rf"^\| {re.escape(name)} \| \d.*$", before, re.MULTILINE))
            alive = re.findall(rf"^\| {re.escape(name)} \d+ \|.*$", before, re.MULTILINE)
        if row:
            rows.append(row)
            survivors += alive
            figures.append([int(cell) for cell in row.split("|")[3:5]])
    n_tried, dead = (sum(column) for column in zip(*figures, strict=True)) if figures else (0, 0)
    rows.append(f"| all | | {n_tried} | {dead} | {dead / max(n_tried, 1):.0%} |")
    return config["page"].format(sample=config["sample"], rows="\n".join(rows), survivors="\n".join(survivors))


def figures_of(name: str, found: dict[str, Any], accepted: dict[str, str]) -> tuple[str, list[str]]:
    """A module's row of figures, and a row for each survivor."""
    results = found["results"]
    alive = {key: r for key, r in results.items() if r["found"] == ALIVE}
    dead = len(results) - len(alive)
    survivors = []
    for key, result in sorted(alive.items(), key=lambda item: item[1]["line"]):
        before, after = (f"`{part.strip() or 'left out'}`" for part in key.replace("|", "\\|").split("→"))
        survivors.append(f"| {name} {result['line']} | {before} | {after} | {accepted.get(key, '**open**')} |")
    return f"| {name} | {found['total']} | {len(results)} | {dead} | {dead / len(results):.0%} |", survivors


def main() -> None:
    """All modules, or those that are named."""
    config = tomllib.loads((HERE / "modules.toml").read_text())
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="modules such as engine/pasp; all by default")
    parser.add_argument("--again", action="store_true", help="try survivors anew")
    parser.add_argument("--page", action="store_true", help="only write the page")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(config["modules"]):
        parser.error(f"no such module: {', '.join(sorted(unknown))}; there are {', '.join(config['modules'])}")
    STORE.parent.mkdir(exist_ok=True)
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    if not chosen.page:
        cache = str(ROOT / "build" / "mutants-cache")  # by program: other code is another program
        os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_COMPILATION_CACHE_DIR": cache, "TDAMP_COMPILATION_CACHE": "off"}
        os.environ |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
        sys.path.insert(0, str(ROOT / "src"))
        for heavy in HEAVY:
            importlib.import_module(heavy)
        os.chdir(ROOT)
        campaign(config, chosen.names or list(config["modules"]), chosen.again, store)
    PAGE.write_text(page(config, store, PAGE.read_text()))


if __name__ == "__main__":
    main()
