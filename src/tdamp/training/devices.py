"""Several devices, of one machine or of many: every minibatch is split among them, and all of them hold the rest.

Messages to the parameters are sums over rows, so what a device finds in its rows is added to what the others find. On
one device and on several a training does the same steps on the same rows in the same order: the results are the same
but for rounding. Oracle: the run on one device.

Where there are several processes (`jax.distributed`), each of them runs the whole training on its own host: the same
data, settings and seed make them do the same, and only minibatches are shared.
"""

from __future__ import annotations

import hashlib
from numbers import Integral
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..io.records import digest

AXIS = "rows"


def mesh_of(devices: Any, batch_size: int) -> Mesh | None:
    """The devices asked for: "all", or how many, the first ones; None for one device, which needs no mesh."""
    if devices is None:
        return None
    there = jax.devices()
    is_all = isinstance(devices, str) and devices == "all"
    if not is_all and (not isinstance(devices, Integral) or isinstance(devices, bool) or int(devices) < 1):
        raise ValueError(f'devices={devices!r}: expected None, "all", or a number of devices')
    count = len(there) if is_all else int(devices)
    if count > len(there):
        raise ValueError(
            f"devices={devices!r}: JAX sees {len(there)} ({there[0].platform}); ask for at most so many, or see the "
            "how-to on several devices for how to make JAX see more"
        )
    chosen = there[:count]
    if jax.process_count() > 1 and len({device.process_index for device in chosen}) < jax.process_count():
        raise ValueError(f'devices={devices!r} leaves a process without a device: use devices="all"')
    if batch_size < count:
        raise ValueError(
            f"batch_size={batch_size} is less than the {count} devices, so that some would have no rows: "
            "use fewer devices or larger batches"
        )
    return None if count == 1 else Mesh(np.array(chosen), (AXIS,))


def whole(mesh: Mesh) -> NamedSharding:
    """Every device has all of it."""
    return NamedSharding(mesh, PartitionSpec())


def on_each(mesh: Mesh | None, tree: Any) -> Any:
    """The arrays, whole, on every device; every process gives its own, which must be the same. As they are without a
    mesh."""
    return tree if mesh is None else jax.tree.map(lambda a: _placed(np.asarray(a), whole(mesh)), tree)


def split(mesh: Mesh | None, order: np.ndarray, present: np.ndarray) -> tuple[Any, Any]:
    """Minibatches (steps, size) with the places of each split evenly; places that hold no row are added if need be."""
    if mesh is None:
        return order, present
    fill = ((0, 0), (0, -order.shape[1] % mesh.size))
    places = NamedSharding(mesh, PartitionSpec(None, AXIS))
    return _placed(np.pad(order, fill), places), _placed(np.pad(present, fill), places)


def back(mesh: Mesh | None, tree: Any) -> Any:
    """Arrays that every device has, on this process's own first device as any others. As they are without a mesh."""
    return tree if mesh is None else jax.device_put(jax.device_get(tree))


def _placed(array: np.ndarray, sharding: NamedSharding) -> jax.Array:
    """Each process puts on its devices what belongs there, from an array that all of them have."""
    dtype = jax.dtypes.canonicalize_dtype(array.dtype)
    return jax.make_array_from_callback(array.shape, sharding, lambda part: array[part].astype(dtype, copy=False))


def check_alike(mesh: Mesh | None, what: str, *things: Any) -> None:
    """Raise ValueError in all processes if `things` (arrays, and what `repr` tells whole) are not the same in all."""
    if mesh is None or jax.process_count() == 1:
        return
    leaves = jax.tree.leaves(things, is_leaf=lambda thing: thing is None)
    leaves = [np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf for leaf in leaves]
    digests = [digest(leaf) if hasattr(leaf, "dtype") else repr(leaf) for leaf in leaves]
    gathered = multihost_utils.process_allgather(
        np.frombuffer(hashlib.sha256(repr(digests).encode()).digest(), np.uint8)
    )
    others = [process for process, one in enumerate(gathered) if (one != gathered[0]).any()]
    if others:
        raise ValueError(
            f"{what} of process {others[0]} differ from those of process 0: every process must be given the same rows, "
            "settings and seed (random_state), and run on the same kind of machine with the same versions"
        )
