"""The limits of docs/architecture.md, on every module of the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from helpers.source_tree import MODULES, ROOT, SOURCE, functions, tree_of

MOST_AT_ROOT = 5
MOST_LINES = 250
LONGEST_FUNCTION = 60
MOST_PARAMETERS = 8
PUBLIC_SIGNATURES = ("training.fit.fit", "report.from_estimator.report_of")
"""As `federated_fit` they may have more parameters: people read these signatures in an editor and in the documentation,
and a bundle of options would hide the names there."""
FREE = ("factors.likelihoods", "estimators")
"""Where the task and the kind of noise may be asked for."""
TESTS = ROOT / "tests"


def test_few_modules_at_the_root() -> None:
    """contract: the folders are the architecture; at the root lie the public names, the algorithm, and little else."""
    at_root = [path.name for path in SOURCE.glob("*.py")]
    assert len(at_root) <= MOST_AT_ROOT, at_root


def none_above(limit: int, result: dict[str, int]) -> None:
    """Fails with a line for each that is beyond the limit."""
    beyond = [f"{name}: {n}" for name, n in result.items() if n > limit]
    assert not beyond, "\n".join(beyond)


def test_modules_are_short() -> None:
    """contract: lines of each module."""
    none_above(MOST_LINES, {module: path.read_text().count("\n") for module, path in MODULES.items()})


def test_functions_are_short() -> None:
    """contract: lines of each function from `def` to its end, without decorators and docstring."""
    results = {f"{m}.{name}": length(node) for m in MODULES for name, node in functions(m) if not takes_all(m, name)}
    none_above(LONGEST_FUNCTION, results)


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Of a function without its docstring."""
    first = node.body[0]
    described = ast.get_docstring(node) is not None
    return node.end_lineno - node.lineno + 1 - (first.end_lineno - first.lineno + 1 if described else 0)  # type: ignore[operator]


def test_functions_have_few_parameters() -> None:
    """contract: parameters of each function but `self`; estimators' constructors, `federated_fit` and two more public
    functions take more."""
    results = {
        f"{m}.{name}": parameters(node)
        for m in MODULES
        for name, node in functions(m)
        if not takes_all(m, name) and f"{m}.{name}" not in PUBLIC_SIGNATURES
    }
    none_above(MOST_PARAMETERS, results)


def takes_all(module: str, name: str) -> bool:
    """`federated_fit` and estimators' constructors, which have a line and more for every parameter."""
    constructor = module.startswith("estimators.") and name.endswith(".__init__")
    return constructor or name == "federated_fit"


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller may give."""
    args = node.args
    every = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return len([name for name in every if name not in ("self", "cls")])


def test_only_likelihoods_and_estimators_ask_for_the_task() -> None:
    """contract: no comparison of `task` or `noise` with a word, and no match on one, anywhere else."""
    places = [f"{m}:{line}" for m in MODULES if not m.startswith(FREE) for line in asks(tree_of(m))]
    assert not places, "\n".join(places)


def asks(tree: ast.Module) -> Iterator[int]:
    """Lines with `task == "..."`, `network.noise != "..."`, `task in ("...", ...)`, `match task` and the like."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            if any(map(is_kind, operands)) and any(map(is_words, operands)):
                yield node.lineno
        elif isinstance(node, ast.Match) and is_kind(node.subject):
            yield node.subject.lineno


def is_kind(node: ast.AST) -> bool:
    """`task`, `noise`, or an attribute, an entry (`["task"]`, `.get("task")`) of that name."""
    name = getattr(node, "attr", getattr(node, "id", ""))
    if isinstance(node, ast.Subscript):
        name = getattr(node.slice, "value", "")
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("get", "pop") and node.args:
        name = getattr(node.args[0], "value", "")
    return str(name).lstrip("_") in ("task", "noise")


def is_words(node: ast.AST) -> bool:
    """A string, or several of them."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(is_words(element) for element in node.elts)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_the_search_sees_branches() -> None:
    """contract: each form on a line of its own, and comparisons with numbers, which are none."""
    source = """
if task == "regression": ...
x = 1 if network.task != "regression" else 2
y = self._task in ("regression", "classification")
ok = "varying" == noise
if noise != 1 or task is None: ...
match network.task:
    case _: ...
if facts["task"] == "regression": ...
z = 3 if "varying" != MODEL["network"]["noise"] else 4
ok = facts.get("task", "") == "classification"
ok = facts["other"] == "regression" or facts[0] == "varying"
"""
    assert sorted(asks(ast.parse(source))) == [2, 3, 4, 5, 7, 9, 10, 11]


def test_every_module_has_its_test() -> None:
    """contract: tests/a/test_b.py for a/b.py, or a line `covers: a.b` in the docstring of a module of tests."""
    covered = covers()
    unknown = {name for name in covered if name not in MODULES}
    assert not unknown, f"covers: names no module: {unknown}"
    missing = [m for m, path in MODULES.items() if not has_test(path) and m not in covered]
    assert not missing, "\n".join(missing)


def has_test(path: Path) -> bool:
    """Whether a test lies where the module's name says; `test_fit_random.py` is one of `fit.py`."""
    if path.stem in ("__init__", "__main__"):
        return True
    folder = TESTS / path.parent.relative_to(SOURCE)
    stem = path.stem.lstrip("_")
    return (folder / f"test_{stem}.py").exists() or any(folder.glob(f"test_{stem}_*.py"))


def covers() -> set[str]:
    """Modules that the docstrings of test modules claim, as `covers: training.epoch, training.outcome`."""
    result: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        words = ast.get_docstring(ast.parse(path.read_text())) or ""
        for line in re.findall(r"^covers: (.+?)\.?$", words, re.MULTILINE):
            result |= {name.strip() for name in line.split(",")}
    return result
