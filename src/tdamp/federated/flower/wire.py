"""Flower's messages: what each of them holds, written and read in one place.

Server to client: `query.introduce` (the task), `train` and `query.conclude` (a broadcast, the terms, the scales).
Client to server: a handshake, an upload, a final report. Arrays keep their types: float32, and float64 for numbers
of rows and for scales, so that nothing is rounded on the way. Oracle: what is read is what was written, bit for bit.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from ..._optional import need
from ..messages import Arrays, Broadcast, broadcast_from, named
from ..summary import Scaling, Summary
from ..terms import Terms

flwr: Any = need("flwr.app", "federated")

INTRODUCE, TRAIN, CONCLUDE = "query.introduce", "train", "query.conclude"


def message(kind: str, node: int, content: Any, group: str, seconds: float) -> Any:
    """A message to a node; after `seconds` it is no longer delivered."""
    return flwr.Message(content, node, kind, ttl=seconds, group_id=group)


def reply(content: Any, to: Any) -> Any:
    """A client's answer to a message of the server."""
    return flwr.Message(content, reply_to=to)


def arrays_record(arrays: Arrays) -> Any:
    """Flower's form of named arrays."""
    return flwr.ArrayRecord({name: flwr.Array(np.asarray(array)) for name, array in arrays.items()})


def arrays_of(record: Any) -> Arrays:
    """The arrays of a record."""
    return {name: array.numpy() for name, array in record.items()}


def task_content(task: str) -> Any:
    """The task, which a client must know to introduce itself."""
    return flwr.RecordDict({"config": flwr.ConfigRecord({"task": task})})


def task_from(content: Any) -> str:
    """The task in such a record."""
    return str(content["config"]["task"])


class Handshake(NamedTuple):
    """How a client introduces itself before its first round.

    `n_rows` is the weight of its rows as its uploads will count it; `names` are the columns, empty if they have none;
    `labels` are the classes of its rows, None in a regression; `single` says that y is one column, without a name.
    """

    number: int
    n_rows: float
    summary: Summary
    names: tuple[str, ...]
    labels: list[Any] | None
    single: bool


def handshake_content(about: Handshake) -> Any:
    """A handshake as records."""
    words = {"names": about.names, "labels": about.labels, "single": about.single}
    config = {"number": about.number, "n_rows": float(about.n_rows), "words": json.dumps(words)}
    return flwr.RecordDict({"arrays": arrays_record(named(about.summary)), "config": flwr.ConfigRecord(config)})


def handshake_from(content: Any) -> Handshake:
    """The handshake that a client sent; KeyError, TypeError or ValueError if it is none."""
    config, arrays = content["config"], arrays_of(content["arrays"])
    words = json.loads(config["words"])
    summary = Summary(**{name: arrays[name] for name in Summary._fields})
    names = tuple(str(name) for name in words["names"])
    labels, single = words["labels"], bool(words["single"])
    return Handshake(int(config["number"]), float(config["n_rows"]), summary, names, labels, single)


class Instructions(NamedTuple):
    """What a client is sent to train in a round, and to report on the final posterior."""

    number: int
    terms: Terms
    broadcast: Broadcast
    scaling: Scaling
    classes: list[Any] | None
    ids: np.ndarray | None


def instructions_content(instructions: Instructions) -> Any:
    """Instructions as records."""
    config = {
        "number": instructions.number,
        "terms": json.dumps(instructions.terms.to_json()),
        "classes": json.dumps(instructions.classes),
    }
    common = {} if instructions.ids is None else {"ids": instructions.ids}
    return flwr.RecordDict(
        {
            "arrays": arrays_record(named(instructions.broadcast)),
            "scaling": arrays_record({**named(instructions.scaling), **common}),
            "config": flwr.ConfigRecord(config),
        }
    )


def instructions_from(content: Any) -> Instructions:
    """The instructions that the server sent."""
    config, common = content["config"], arrays_of(content["scaling"])
    terms = Terms.from_json(json.loads(config["terms"]))
    return Instructions(
        int(config["number"]),
        terms,
        broadcast_from(arrays_of(content["arrays"]), terms.network.n_layers, terms.settings.prior),
        Scaling(**{name: common[name] for name in Scaling._fields}),
        json.loads(config["classes"]),
        common.get("ids"),
    )


def arrays_content(arrays: Arrays) -> Any:
    """An upload or a final report as records."""
    return flwr.RecordDict({"arrays": arrays_record(arrays)})
