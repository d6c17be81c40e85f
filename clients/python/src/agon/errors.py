"""The exceptions of this package. All are ``AgonError``."""

from __future__ import annotations

from typing import Optional


class AgonError(Exception):
    """The base class of all exceptions of this package."""


class BotError(AgonError):
    """The bot has no method for a question, or answered with what is not JSON."""


class ProtocolError(AgonError):
    """The server does not speak this protocol, or another version of it."""


class Lost(AgonError):
    """The connection is lost. ``play`` reconnects by itself."""

    def __init__(self, why: str, wait_s: float = 0.0) -> None:
        super().__init__(why)
        self.wait_s = wait_s


class Unreachable(AgonError):
    """The server did not answer within ``patience_s``."""


class Refused(AgonError):
    """The server refused, and a retry would not help. ``code`` is an error code of the protocol."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


class ApiError(AgonError):
    """The HTTP interface returned an error. ``type`` is stable, ``detail`` is for people."""

    def __init__(self, status: int, type: str, detail: str, retry_after_s: Optional[float]) -> None:
        super().__init__(f"{status} {type}: {detail}")
        self.status = status
        self.type = type
        self.detail = detail
        self.retry_after_s = retry_after_s
