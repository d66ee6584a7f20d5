"""Small faults put into a module's syntax tree, one at a time: what a test suite must see.

Operators, comparisons, conditions, numbers, minimum for maximum, arguments that are swapped or left out, and statements
that are left out. Words for people (docstrings, messages, annotations) are left alone, as no test guards their wording;
so is `strict` of `zip`, an assertion of the code about itself.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
"""The bound itself, and the opposite."""
OPPOSITES = {"maximum": "minimum", "max": "min", "any": "all", "argmax": "argmin", "ceil": "floor", "zeros": "ones"}
OPPOSITES |= {other: name for name, other in OPPOSITES.items()}
SYMMETRIC = {"maximum", "minimum", "max", "min", "isinstance", "logaddexp", "hypot", "allclose", "array_equal"}


class Mutant(NamedTuple):
    """A fault: where it is, the code before and after, and the whole tree with it."""

    line: int
    before: str
    after: str
    tree: ast.Module


def mutants_of(source: str) -> Iterator[Mutant]:
    """All of them, in the order of the source."""
    tree = ast.parse(source)
    for path in list(_places(tree)):
        for variant in _variants(_at(tree, path)):
            mutated = copy.deepcopy(tree)
            old = _at(tree, path)
            _put(mutated, path, variant)
            statement = next(n for i in range(len(path), 0, -1) if isinstance(n := _at(tree, path[:i]), ast.stmt))
            new = mutated_statement(mutated, path, statement, tree)
            line = getattr(old, "lineno", statement.lineno)
            yield Mutant(line, _first_line(statement), _first_line(new), ast.fix_missing_locations(mutated))


Path = tuple[tuple[str, int | None], ...]
"""Field names from the root, with an index where the field is a list."""


def mutated_statement(mutated: ast.Module, path: Path, statement: ast.stmt, tree: ast.Module) -> ast.AST:
    """The statement that `path` lies in, after the change."""
    depth = next(i for i in range(len(path), 0, -1) if _at(tree, path[:i]) is statement)
    return _at(mutated, path[:depth])


def _places(node: ast.AST, path: Path = ()) -> Iterator[Path]:
    """Of every node whose meaning counts."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "names") or _is_words(node, name):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not isinstance(child, (ast.JoinedStr, ast.Raise, ast.Import)):
                here = (*path, (name, index))
                yield here
                yield from _places(child, here)
            elif isinstance(child, ast.Raise):
                yield (*path, (name, index))  # left out, but what it says stays


def _is_words(node: ast.AST, field: str) -> bool:
    """Type aliases and calls of `warn` are for people, and a `Literal` for the type checker; see above for `strict`."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id in ("Literal", "Callable", "Sequence", "dict", "list", "tuple")
    return isinstance(node, ast.Call) and field != "func" and getattr(node.func, "attr", "") in ("warn", "info")


def _at(tree: ast.AST, path: Path) -> ast.AST:
    for name, index in path:
        found = getattr(tree, name)
        tree = found if index is None else found[index]
    return tree


def _put(tree: ast.AST, path: Path, new: ast.AST) -> None:
    parent, (name, index) = _at(tree, path[:-1]), path[-1]
    if index is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[index] = new


def _variants(node: ast.AST) -> Iterator[ast.AST]:
    """The node with one fault."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            yield _changed(node, op=OPERATORS[type(op)]())
        case ast.BoolOp(op=op):
            yield _changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.Compare(ops=[op]):
            for other in COMPARISONS[type(op)]:
                yield _changed(node, ops=[other()])
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1 if abs(value) < 10 else 2 * value)
        case ast.Constant(value=float(value)):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in OPPOSITES:
            yield _changed(node, **{"attr" if isinstance(node, ast.Attribute) else "id": OPPOSITES[name]})
        case ast.Call():
            yield from _calls(node)
    if isinstance(node, (ast.If, ast.IfExp, ast.While)) and not isinstance(node.test, (ast.Compare, ast.UnaryOp)):
        yield _changed(node, test=ast.UnaryOp(ast.Not(), node.test))
    if _can_go(node):
        yield ast.Pass()


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    """Two arguments swapped, or a named one left out."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if len(node.args) > 1 and name not in SYMMETRIC and not any(isinstance(a, ast.Starred) for a in node.args[:2]):
        first, second, *rest = node.args
        if ast.dump(first) != ast.dump(second):
            yield _changed(node, args=[second, first, *rest])
    for index, keyword in enumerate(node.keywords):
        if keyword.arg not in (None, "strict", "dtype", "stacklevel"):
            yield _changed(node, keywords=[k for i, k in enumerate(node.keywords) if i != index])


def _can_go(node: ast.AST) -> bool:
    """Statements that change something, or refuse something."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, (ast.AugAssign, ast.Raise))


def _changed(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _first_line(node: ast.AST) -> str:
    """The statement as one line; of a compound one, its head."""
    shown = copy.deepcopy(node)
    for field in ("body", "orelse", "decorator_list"):
        if isinstance(shown, ast.stmt) and isinstance(getattr(shown, field, None), list):
            setattr(shown, field, [ast.Pass()] if field == "body" else [])
    return " ".join(ast.unparse(ast.fix_missing_locations(shown)).removesuffix("pass").split())
