"""A bot as a program: JSON lines on stdin and stdout, for ``agon run`` and ``agon join -- CMD``."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any, Dict, Optional, TextIO

from .bot import Asker, Bot, encode
from .errors import ProtocolError


def run_stdio(
    bot: Bot, stdin: Optional[TextIO] = None, stdout: Optional[TextIO] = None
) -> Optional[bool]:
    """Plays until Agon ends it. Returns whether the tournament was won, if Agon says so.

    Output of the bot goes to stderr, because stdout belongs to the protocol.
    """
    asker = Asker(bot)
    lines = sys.stdin if stdin is None else stdin
    out = sys.stdout if stdout is None else stdout
    with contextlib.redirect_stdout(sys.stderr):
        for line in lines:
            message = _decode(line)
            kind = message.get("type")
            if kind == "hello":
                _say(out, encode(asker.hello()))
            elif kind == "request":
                _say(out, asker.answer(message))
            elif kind == "notice":
                asker.tell(message)
            elif kind == "error":
                print(f"agon: {message.get('code')}: {message.get('detail')}", file=sys.stderr)
            elif kind == "end":
                won = message.get("won")
                return won if isinstance(won, bool) else None
    return None


def _say(out: TextIO, line: str) -> None:
    out.write(line + "\n")
    out.flush()


def _decode(line: str) -> Dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise ProtocolError(f"agon sent a line that is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ProtocolError("agon sent a line that is no message")
    return message
