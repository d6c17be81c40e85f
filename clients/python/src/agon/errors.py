"""What can go wrong, as types. All are ``AgonError``."""

from __future__ import annotations

from typing import Optional


class AgonError(Exception):
    """Anything this package raises on its own account."""


class BotError(AgonError):
    """The bot has no method for a question, or answered with what is not JSON."""


class ProtocolError(AgonError):
    """The other side does not speak this protocol, or not this version of it."""


class Lost(AgonError):
    """The connection is gone. ``play`` comes back by itself; others may want to know."""

    def __init__(self, why: str, wait_s: float = 0.0) -> None:
        super().__init__(why)
        self.wait_s = wait_s


class Unreachable(AgonError):
    """Nobody answered for as long as patience lasted."""


class Refused(AgonError):
    """The server said no, for good. ``code`` is one of the protocol's error codes."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


class ApiError(AgonError):
    """The HTTP interface answered with a problem. ``type`` is stable, ``detail`` is for people."""

    def __init__(self, status: int, type: str, detail: str, retry_after_s: Optional[float]) -> None:
        super().__init__(f"{status} {type}: {detail}")
        self.status = status
        self.type = type
        self.detail = detail
        self.retry_after_s = retry_after_s
