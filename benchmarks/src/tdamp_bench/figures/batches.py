"""Run what is not yet in the store, in batches of a few minutes: an interruption loses at most the one in flight."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence

from ..core.jobs import Job, Method
from ..core.progress import Tick, silent
from .store import Done, Key, Store
from .tasks import Task


class BrokenContract(RuntimeError):
    """A method did not give back what `jobs.py` asks of it."""


def batches(keys: Iterable[Key], small: bool, keeps_together: bool) -> list[list[Key]]:
    """Keys of one method and data set, in groups to be trained by one call.

    A group has one configuration. On a small task all its seeds and shares go together; on a large one a seed at a
    time, with all shares if the method trains them together.
    """
    groups: dict[tuple, list[Key]] = {}
    for key in keys:
        apart = () if small else (key.seed,) if keeps_together else (key.seed, key.keep)
        groups.setdefault((key.role, key.config, *apart), []).append(key)
    return list(groups.values())


def run_missing(
    keys: Sequence[Key],
    store: Store,
    method: Method,
    task: Task,
    *,
    keeps_together: bool = True,
    whole: bool = False,
    extra: Sequence[str] = (),
    tick: Tick = silent,
) -> None:
    """Train what the store does not have, and append each batch to it.

    Only test runs keep the losses of all epochs (`whole`) and the lists named by `extra`.
    """
    missing = [key for key in dict.fromkeys(keys) if key not in store]
    for batch in batches(missing, task.small, keeps_together):
        jobs = [Job(task.problem(k.role, k.seed), k.seed, k.keep, json.loads(k.config)) for k in batch]
        started = time.perf_counter()
        runs = method.train(jobs, task.widths, task.batch, task.epochs, tick)
        seconds = (time.perf_counter() - started) / len(jobs)
        lengths = [len(run.loss) for run in runs]
        if lengths != [task.epochs] * len(jobs):
            raise BrokenContract(
                f"{method.name} gave losses of {lengths} epochs for {len(jobs)} jobs; expected {task.epochs} each."
            )
        store.append(
            Done.of(key, run, seconds, whole and key.role == "test", extra if key.role == "test" else ())
            for key, run in zip(batch, runs, strict=True)
        )
