"""The tests mirror the folders of tdamp_bench, whose modules and functions stay small."""

import ast
from pathlib import Path

import tdamp_bench

SOURCE, TESTS = Path(tdamp_bench.__file__).parent, Path(__file__).parent
OF_SEVERAL_MODULES = {"results_page.py", "cli/reproduce_quick.py", "methods/baselines/missing_peers.py", "layout.py"}
MOST_LINES, MOST_LINES_OF_A_FUNCTION, MOST_PARAMETERS = 250, 60, 8


def test_every_test_file_is_named_after_a_module() -> None:
    """contract: benchmarks/tests/FOLDER/test_MODULE.py tests src/tdamp_bench/FOLDER/MODULE.py."""
    tested = {str(path.relative_to(TESTS).with_name(path.name[5:])) for path in TESTS.rglob("test_*.py")}
    modules = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")}
    assert tested - modules == OF_SEVERAL_MODULES


def test_modules_and_functions_are_small() -> None:
    """contract: at most 250 lines in a module, 60 in a function, 8 parameters."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= MOST_LINES, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]]
                where = f"{path}: {node.name}"
                assert len([name for name in names if name not in ("self", "cls")]) <= MOST_PARAMETERS, where
                assert (node.end_lineno or 0) - node.lineno < MOST_LINES_OF_A_FUNCTION, where
