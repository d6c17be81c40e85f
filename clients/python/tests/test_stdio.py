"""Bots as programs and as functions, without a server."""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from typing import Any, List, Optional, Tuple

import agon

HELLO = {"type": "hello", "protocol": 1, "player": "eve"}
REQUEST = {"type": "request", "id": "r1m1.1.0.0", "seat": 0, "deadline_ms": 1, "match": {},
           "question": {"ask": "keep", "roll": 1, "dice": [1, 2, 3, 4, 5]}, "view": {}}
END = {"type": "end", "won": True, "reason": "over"}


def talk(bot: Any, *messages: Any) -> Tuple[Optional[bool], List[Any]]:
    """What comes of these messages: the end, and what the bot said."""
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    out = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        won = agon.run_stdio(bot, io.StringIO(lines), out)
    return won, [json.loads(line) for line in out.getvalue().splitlines()]


class Keeper:
    """Keeps everything, loudly."""

    name = "keeper"
    nonce = "00ff"

    def __init__(self) -> None:
        self.heard: List[Any] = []

    def keep(self, question: Any, view: Any, match: Any) -> Any:
        """Keeps all."""
        print("this must not get into the protocol")
        return {"keep": question["dice"]}

    def notice(self, about: str, data: Any) -> None:
        """Notes what it is told."""
        self.heard.append((about, data))


class Stdio(unittest.TestCase):
    """``run_stdio``."""

    def test_a_class_with_methods(self) -> None:
        """It may be given as it is, and may print."""
        won, said = talk(Keeper, HELLO, REQUEST, END)
        self.assertIs(won, True)
        hello = {"type": "hello", "protocol": 1, "name": "keeper", "nonce": "00ff"}
        answer = {"type": "answer", "id": "r1m1.1.0.0", "answer": {"keep": [1, 2, 3, 4, 5]}}
        self.assertEqual(said, [hello, answer])

    def test_a_function(self) -> None:
        """It is given the whole request."""
        _, said = talk(lambda request: {"keep": [request["seat"] == 0] * 5}, HELLO, REQUEST)
        self.assertEqual(said[1]["answer"], {"keep": [True] * 5})

    def test_notices_and_the_unknown(self) -> None:
        """Notices are passed on; messages of a later version are not looked at."""
        bot = Keeper()
        notice = {"type": "notice", "about": "told", "data": {"ask": "playing-as"}}
        won, said = talk(bot, HELLO, {"type": "news"}, notice, {"type": "error", "code": "late"})
        self.assertIsNone(won)
        self.assertEqual((len(said), bot.heard), (1, [("told", {"ask": "playing-as"})]))

    def test_bad_bots_and_bad_lines(self) -> None:
        """Both are said, by type."""
        with self.assertRaisesRegex(agon.BotError, r"no method keep\("):
            talk(object(), REQUEST)
        with self.assertRaisesRegex(agon.BotError, "not JSON"):
            talk(lambda request: {"keep": {1, 2}}, REQUEST)
        with self.assertRaises(agon.ProtocolError):
            agon.run_stdio(lambda request: "more-cards", io.StringIO("what?\n"), io.StringIO())


if __name__ == "__main__":
    unittest.main()
