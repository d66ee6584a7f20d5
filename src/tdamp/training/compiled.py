"""Compiled functions whose traced form is kept on disk, so that a new process need not trace them again.

JAX's own cache saves the compilation; tracing and lowering still take as long as the training of a small table. What is
kept is the exported StableHLO program: data for the compiler, which runs nothing when it is read. The key holds the
package's own source, so that no old program outlives a change.
"""

from __future__ import annotations

import hashlib
import inspect
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import jax
from jax import export
from jax.sharding import NamedSharding, PartitionSpec

from ..factors.activations.catalog import ACTIVATIONS
from ..factors.layers.catalog import LAYERS
from ..factors.likelihoods.catalog import LIKELIHOODS
from ..factors.priors.catalog import PRIORS
from ..io.atomic import write_whole

FOLDER: list[Path] = []
"""Where programs are kept; empty: nowhere. Set by `compilation.keep_compiled`."""

TRACED = "numerics", "factors", "engine"
"""Folders that hold all that is ever compiled, beside algorithm.py: a change elsewhere leaves the cache as it is."""

Like = Callable[..., Any]

MOST = 96
"""Compiled programs that a process holds, those used last. Each takes up to some 350 memory maps, of which Linux gives
a process 65,530: beyond them XLA ends it without a word. What was let go is read from disk when it is used again."""


class Program:
    """A pure function of (static, *arrays), compiled for each static argument and each set of shapes.

    `like` gives, for the same arguments, any tree that has the structure of the result. Where arguments lie on several
    devices all of them get the whole result; such programs are not kept on disk.
    """

    def __init__(self, function: Callable[..., Any], like: Like) -> None:
        self.function, self.like = function, like
        self.compiled: dict[Any, Callable[..., Any]] = {}
        self.locks: dict[Any, Lock] = {}  # of threads that want the same: one compiles, the others wait

    def __call__(self, static: Any, *args: Any) -> Any:
        """The function's value."""
        leaves, compiled = self._find(static, args)
        return jax.tree.unflatten(jax.tree.structure(self.like(static, *args)), compiled(*leaves))

    def prepare(self, static: Any, *args: Any) -> None:
        """Compile for arguments of these shapes and types, without running anything."""
        leaves, compiled = self._find(static, args)
        if hasattr(compiled, "lower"):  # compiled at its first call, unless it has been
            compiled.lower(
                *(jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=_spread(leaf)) for leaf in leaves)
            ).compile()

    def _find(self, static: Any, args: tuple[Any, ...]) -> tuple[list[Any], Callable[..., Any]]:
        leaves, tree = jax.tree.flatten(args)
        shapes = tuple((leaf.shape, leaf.dtype, _spread(leaf)) for leaf in leaves)
        key = (static, tree, shapes, jax.config.jax_enable_x64)  # type: ignore[attr-defined]
        compiled = self.compiled.get(key)
        if compiled is None:
            with self.locks.setdefault(key, Lock()):
                compiled = self.compiled.get(key)
                if compiled is None:
                    compiled = self.compiled[key] = self._compile(static, tree, leaves, key)
        _let_go(self, key)
        return leaves, compiled

    def _compile(self, static: Any, tree: Any, leaves: list[Any], key: Any) -> Callable[..., Any]:
        def flat(*leaves: Any) -> list[Any]:
            return jax.tree.leaves(self.function(static, *jax.tree.unflatten(tree, leaves)))

        meshes = [spread.mesh for spread in map(_spread, leaves) if spread is not None]
        if meshes:
            return jax.jit(flat, out_shardings=NamedSharding(meshes[0], PartitionSpec()))
        traced, members = jax.jit(flat), _members()
        if not FOLDER or members is None:
            return traced
        name = hashlib.sha256(repr((self.function.__name__, key, _versions(), members)).encode()).hexdigest()
        path = FOLDER[0] / f"{name}.stablehlo"
        program = _read(path)
        if program is None:
            program = export.export(traced)(*leaves)
            _write(path, bytes(program.serialize()))
        return jax.jit(program.call).lower(*leaves).compile()  # once: the results come back tied to a device


_used: OrderedDict[tuple[Program, Any], None] = OrderedDict()
_using = Lock()


def _let_go(program: Program, key: Any) -> None:
    """This one was used last; those beyond MOST, which were not for longest, go."""
    with _using:
        _used[program, key] = None
        _used.move_to_end((program, key))
        while len(_used) > MOST:
            (oldest, old_key), _ = _used.popitem(last=False)
            oldest.compiled.pop(old_key, None)


def _spread(leaf: Any) -> NamedSharding | None:
    """How an array lies on a mesh of devices; None for one that does not."""
    sharding = getattr(leaf, "sharding", None)
    return sharding if isinstance(sharding, NamedSharding) else None


def in_background(work: Callable[[], None]) -> Future[None]:
    """Run in a thread of its own, in the precision of this one; `result` waits for it. XLA compiles outside the GIL."""
    x64 = jax.config.jax_enable_x64  # type: ignore[attr-defined]

    def run() -> None:
        with jax.enable_x64(x64):
            work()

    worker = ThreadPoolExecutor(1, "tdamp-compile")
    job = worker.submit(run)
    worker.shutdown(wait=False)  # the thread ends with its work
    return job


@cache
def _versions() -> str:
    """Versions of everything that decides what a program is: JAX, the machine's kind, and our own source."""
    package, source = Path(__file__).parents[1], hashlib.sha256()
    folders = (package / name for name in TRACED)
    for path in sorted([package / "algorithm.py", *(file for folder in folders for file in folder.rglob("*.py"))]):
        source.update(path.read_bytes())
    return f"{jax.__version__} {jax.default_backend()} {source.hexdigest()}"


def _members() -> str | None:
    """The activations, and the source of other members from outside the package; None: it is not known."""
    kinds = [*LAYERS.values(), *(type(one) for one in (*LIKELIHOODS.values(), *PRIORS.values()))]
    try:
        foreign = [inspect.getsource(kind) for kind in kinds if not kind.__module__.startswith("tdamp.")]
    except (OSError, TypeError):
        return None
    return repr((ACTIVATIONS, foreign))


def _read(path: Path) -> export.Exported | None:
    """A program, or None if there is none that can be read: then it is traced anew."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, data = content[:32], content[32:]
    return export.deserialize(bytearray(data)) if hashlib.sha256(data).digest() == digest else None


def _write(path: Path, data: bytes) -> None:
    with suppress(OSError):  # a full or read-only disk: tracing again is all that is lost
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, hashlib.sha256(data).digest() + data)
