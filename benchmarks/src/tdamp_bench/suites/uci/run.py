"""The command `tdamp bench uci`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from ...core import record
from ...core.progress import Tick, bar
from . import figure, table
from .methods import METHODS
from .protocol import QUICK_SETS, SETS, TRAINING_SHARE, load, tasks
from .scores import score, summary
from .store import Store
from .tasks import Peer
from .verdicts import verdicts


def run(
    sets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    splits: int | None = None,
    quick: bool = False,
    out: Path = Path("results/uci.json"),
    again: bool = False,
    console: Console | None = None,
) -> dict[str, Any]:
    """Run what the file does not hold yet, or with `again` all that is asked for; then tables and plot of all it holds.

    The file is written after every split, so that the command may be interrupted.
    """
    console = console or Console()
    sets = list(sets or (QUICK_SETS if quick else SETS))
    peers = {method: METHODS[method].peer() for method in methods or METHODS}
    store = Store(out, quick)
    data = {name: load(name) for name in {**dict.fromkeys(sets), **store.runs}}
    rows = {name: len(table.x) for name, table in data.items()}
    wanted = {
        (name, method): _missing(store, name, method, _count(name, splits, quick), again)
        for name in sets
        for method in peers
        if quick or _bearable(method, rows[name])
    }
    with bar(console, "UCI", sum(map(len, wanted.values()))) as tick:
        for (name, method), missing in wanted.items():
            if missing:
                here = [pair for pair in tasks(data[name], SETS[name].hidden, max(missing) + 1, quick)]
                _fill(store, name, method, peers[method], [here[split] for split in missing], tick)
                _publish(store, rows)
    return _publish(store, rows, console)


def _count(name: str, splits: int | None, quick: bool) -> int:
    """Splits of a table that are asked for."""
    most = 1 if quick else SETS[name].splits
    return most if splits is None else min(splits, most)


def _bearable(method: str, rows: int) -> bool:
    limit = METHODS[method].most_rows
    return limit is None or round(TRAINING_SHARE * rows) <= limit


def _missing(store: Store, name: str, method: str, count: int, again: bool) -> list[int]:
    return [split for split in range(count) if again or str(split) not in store.splits(name, method)]


def _fill(store: Store, name: str, method: str, peer: Peer, pairs: Sequence[tuple[Any, Any]], tick: Tick) -> None:
    where = record.surroundings()
    answers: Iterator[Any] = peer([task for task, _ in pairs], store.quick)
    for (task, y_test), answer in zip(pairs, answers, strict=True):
        store.add(name, method, task.split, score(answer, y_test), where)
        tick(f"{name}, {method}, split {task.split}")


def _publish(store: Store, rows: Mapping[str, int], console: Console | None = None) -> dict[str, Any]:
    """Means, verdicts, page and plot of all that is in the file, in the order of the protocol."""
    order = [name for name in SETS if name in store.runs]
    summaries = {name: {m: summary(store.splits(name, m)) for m in METHODS if store.splits(name, m)} for name in order}
    judged = [verdict.to_dict() for verdict in verdicts({name: store.runs[name] for name in order}, rows)]
    rest = {"summary": summaries, "verdicts": judged}
    store.write(rest)
    page, picture = store.path.with_suffix(".md"), store.path.with_suffix(".png")
    page.write_text(table.markdown(summaries, judged, store.quick))
    figure.draw(summaries, picture)
    if console:
        table.show(console, summaries, judged)
        console.print(f"Written: {store.path}, {page} and {picture}")
    return rest | {"runs": store.runs}
