"""What a bot is, and how it is asked.

A bot is a function that takes a request and gives an answer, or an object with a method for each
question of its games: ``keep(question, view, match)`` and so on. It may also have

- ``name``, what it calls itself; ``nonce``, up to 64 hexadecimal digits that are added to the luck
  of its games; ``proposal``, the map it proposes (Trains); ``history``, ``True`` if every request
  shall show past turns and finished games, not only the first one of a match after a login;
- ``notice(about, data)``, which is called with what needs no answer.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Mapping, Union

from . import fish, trains, yahtzee
from .errors import BotError
from .messages import PROTOCOL, Answer

BotFunction = Callable[[Any], Answer]
Bot = Union[BotFunction, yahtzee.Player, fish.Player, trains.Player]


class Asker:
    """A bot behind the protocol: messages in, messages out."""

    def __init__(self, bot: Bot) -> None:
        self._bot: Any = bot() if isinstance(bot, type) else bot

    def hello(self) -> Dict[str, Any]:
        """The bot's first message."""
        name = getattr(self._bot, "name", None) or getattr(self._bot, "__name__", None)
        hello: Dict[str, Any] = {"type": "hello", "protocol": PROTOCOL}
        hello["name"] = name if isinstance(name, str) else type(self._bot).__name__
        for field in ("nonce", "proposal", "history"):
            value = getattr(self._bot, field, None)
            if value is not None:
                hello[field] = value
        return hello

    def answer(self, request: Mapping[str, Any]) -> str:
        """The bot's answer to a request, as a message of one line."""
        answer = self._ask(request)
        try:
            return encode({"type": "answer", "id": request["id"], "answer": answer})
        except (TypeError, ValueError) as error:
            raise BotError(f"the answer {answer!r} is not JSON: {error}") from error

    def tell(self, message: Mapping[str, Any]) -> None:
        """Passes a notice on, if the bot wants notices."""
        notice = getattr(self._bot, "notice", None)
        if notice is not None:
            notice(message.get("about"), message.get("data"))

    def _ask(self, request: Mapping[str, Any]) -> Any:
        question = request["question"]
        method = str(question["ask"]).replace("-", "_")
        ask = getattr(self._bot, method, None)
        if callable(ask):
            return ask(question, request["view"], request["match"])
        if callable(self._bot):
            return self._bot(request)
        raise BotError(f"the bot has no method {method}(question, view, match)")


def encode(message: Mapping[str, Any]) -> str:
    """A message as one line, without its end."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False)
