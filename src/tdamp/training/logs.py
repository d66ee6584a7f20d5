"""Records of the logger "tdamp" as JSON, a line each."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ..io.jsonable import jsonable
from .events import LOG


class JsonLines(logging.Formatter):
    """A formatter: time (UTC), level, message, then the record's own fields. Numbers that are not finite are null."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever the record holds."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {"time": time, "level": record.levelname, "message": record.getMessage()}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(jsonable({**fields, **getattr(record, "tdamp", {})}), allow_nan=False)


@contextmanager
def written_to(path: Path | None) -> Iterator[None]:
    """Everything that the logger is told meanwhile, at the end of a file of JSON lines; None writes nothing."""
    if path is None:
        yield
        return
    handler, level = logging.FileHandler(path, encoding="utf-8"), LOG.level
    handler.setFormatter(JsonLines())
    LOG.addHandler(handler)
    LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        LOG.setLevel(level)
        LOG.removeHandler(handler)
        handler.close()
