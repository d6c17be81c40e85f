"""Server-sent events: a stream of lines as events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Optional


@dataclass(frozen=True)
class Event:
    """The whole state. ``name`` is ``snapshot``, ``change``, ``lagged`` or ``end``."""

    name: str
    id: Optional[str]
    data: Any


def events(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of a stream. Comments are skipped; an incomplete event is dropped."""
    name = "message"
    last_id: Optional[str] = None
    data: List[str] = []
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if not line:
            if data:
                yield Event(name, last_id, json.loads("\n".join(data)))
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id = value
        elif field == "data":
            data.append(value)
