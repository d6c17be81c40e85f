"""Players on a scripted server, for what must happen exactly so. The real one is in test_play."""

from __future__ import annotations

import json
import socket
import ssl
import tempfile
import threading
import unittest
from typing import Any, Callable, Dict, List, Optional
from unittest import mock

import agon
from agon import client as agon_client
from agon.receipt import commitment_of
from support import make_certificate

Script = Callable[["Line"], None]
WELCOME = {"type": "welcome", "account": "ann", "token": "t0ken", "active": 0, "waiting": 0}
OVER = {"type": "notice", "about": "tournament-over", "data": {"tournament": "cup", "won": True}}


def started(name: str = "cup") -> Dict[str, Any]:
    """The notice of a tournament."""
    return {"type": "notice", "about": "tournament", "data": {"tournament": name}}


def request(id: str) -> Dict[str, Any]:
    """A question of Yahtzee."""
    question = {"ask": "keep", "roll": 1, "dice": [1, 2, 3, 4, 5]}
    return {"type": "request", "id": id, "seat": 0, "question": question, "view": {}, "match": {}}


class Line:
    """The server's end of one connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        sock.settimeout(30)
        self.file = sock.makefile("r", encoding="utf-8")

    def say(self, *messages: Dict[str, Any]) -> None:
        """Sends messages."""
        for message in messages:
            self.sock.sendall(json.dumps(message).encode() + b"\n")

    def hear(self) -> Any:
        """The next message."""
        line = self.file.readline()
        return json.loads(line) if line else None

    def finish(self) -> None:
        """Says nothing more, and closes after the client did.

        A side that closes before it has read everything may lose what it sent.
        """
        self.sock.shutdown(socket.SHUT_WR)
        while self.sock.recv(4096):
            pass

    def let_in(self, **welcome: Any) -> Any:
        """Greets, hears hello and login, welcomes; gives the login."""
        self.say({"type": "greeting", "protocol": 1})
        assert self.hear()["type"] == "hello"
        login = self.hear()
        self.say(dict(WELCOME, **welcome))
        return login


class Counter:
    """A bot that never gives the same answer twice."""

    def __init__(self) -> None:
        self.asked = 0

    def keep(self, question: Any, view: Any, match: Any) -> Any:
        """Keeps as many dice as it was asked questions."""
        self.asked += 1
        return {"keep": [1] * self.asked}

    def score(self, question: Any, view: Any, match: Any) -> Any:
        """Is never asked for."""
        raise NotImplementedError


class Scripted(unittest.TestCase):
    """Against scripts, one for each connection."""

    def setUp(self) -> None:
        patch = mock.patch.object(agon_client, "BACK_OFF_S", (0.001, 0.01))
        patch.start()
        self.addCleanup(patch.stop)

    def serve(self, *scripts: Script, context: Optional[ssl.SSLContext] = None) -> str:
        """Runs the scripts, one a connection; gives the address."""
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(30)
        failed: List[BaseException] = []

        def run() -> None:
            try:
                for script in scripts:
                    sock, _ = listener.accept()
                    if context is not None:
                        try:
                            sock = context.wrap_socket(sock, server_side=True)
                        except ssl.SSLError:
                            continue  # The client does not trust us.
                    with sock:
                        line = Line(sock)
                        with line.file:
                            script(line)
                        line.finish()
            except BaseException as error:  # It is raised in the test's own thread.
                failed.append(error)
            finally:
                listener.close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def check() -> None:
            thread.join(30)
            self.assertFalse(thread.is_alive(), "the server's script did not end")
            if failed:
                raise failed[0]

        self.addCleanup(check)
        return f"127.0.0.1:{listener.getsockname()[1]}"

    def play(self, server: str, bot: Any = None, **settings: Any) -> List[agon.Result]:
        """Plays as ann, once."""
        usual = {"account": "ann", "password": "a longer pw", "once": True, "patience_s": 30.0}
        settings = {**usual, **settings}
        bot = Counter() if bot is None else bot
        return agon.Client(bot, server, **settings).run()

    def test_a_lost_answer_is_sent_again_and_the_bot_not_asked_again(self) -> None:
        """Over the next connection, which comes with the token."""
        logins: List[Any] = []
        answers: List[Any] = []

        def first(line: Line) -> None:
            logins.append(line.let_in())
            line.say(started(), request("cup:1"))
            answers.append(line.hear())

        def second(line: Line) -> None:
            logins.append(line.let_in(active=1, token=None))
            line.say(started(), request("cup:1"), request("cup:2"))
            answers.extend([line.hear(), line.hear()])
            line.say(OVER)
            self.assertEqual(line.hear(), {"type": "logout"})

        bot = Counter()
        results = self.play(self.serve(first, second), bot, register=True)
        self.doCleanups()
        self.assertEqual(results, [agon.Result("cup", True)])
        by_name = {"type": "login", "account": "ann", "password": "a longer pw", "register": True}
        self.assertEqual(logins, [by_name, {"type": "login", "token": "t0ken"}])
        self.assertEqual([answer["id"] for answer in answers], ["cup:1", "cup:1", "cup:2"])
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(bot.asked, 2)

    def test_a_client_of_several_nodes_continues_on_the_next_one(self) -> None:
        """The first node does not exist, the second one closes the connection."""

        def lost(line: Line) -> None:
            line.let_in()
            line.say(started(), request("cup:1"))
            line.hear()

        def last(line: Line) -> None:
            self.assertEqual(line.let_in(active=1), {"type": "login", "token": "t0ken"})
            line.say(started(), request("cup:1"))
            line.hear()
            line.say(OVER)

        closed = socket.create_server(("127.0.0.1", 0))
        missing = f"127.0.0.1:{closed.getsockname()[1]}"
        closed.close()
        bot = Counter()
        results = self.play(f"{missing},{self.serve(lost)},tcp://{self.serve(last)}", bot)
        self.assertEqual(results, [agon.Result("cup", True)])
        self.assertEqual(bot.asked, 1)
        with self.assertRaises(ValueError):
            self.play("127.0.0.1:1,http://127.0.0.1:2")

    def test_repeated_request_on_the_same_connection_is_decided_again(self) -> None:
        """The answer before was not taken."""

        def script(line: Line) -> None:
            line.let_in()
            line.say(started(), request("cup:1"))
            first = line.hear()
            line.say({"type": "error", "code": "late", "id": "cup:1"}, request("cup:1"))
            self.assertNotEqual(line.hear(), first)
            line.say(OVER)

        self.play(self.serve(script))

    def test_a_tournament_that_ended_meanwhile(self) -> None:
        """Nothing is heard of it after the login."""

        def first(line: Line) -> None:
            line.let_in()
            line.say(started("cup"), started("league"))

        def second(line: Line) -> None:
            line.let_in(active=1)
            line.say(started("league"))
            line.say({**OVER, "data": {"tournament": "league", "won": False}})

        results = self.play(self.serve(first, second))
        self.assertEqual(results, [agon.Result("cup", None), agon.Result("league", False)])

    def test_a_place_in_a_queue_is_taken_once(self) -> None:
        """Also if the connection is lost before the server said so."""
        heard: List[Any] = []

        def lost(line: Line) -> None:
            line.let_in()
            heard.append(line.hear())

        def taken(line: Line) -> None:
            line.let_in(waiting=1)
            line.say(started(), {"type": "notice", "about": "game-over", "data": True}, OVER)
            heard.append(line.hear())

        self.play(self.serve(lost, taken), queue="q")
        self.doCleanups()
        self.assertEqual(heard, [{"type": "enqueue", "queue": "q"}, {"type": "logout"}])
        heard.clear()

        def not_taken(line: Line) -> None:
            line.let_in()
            heard.append(line.hear())
            line.say({"type": "done", "what": "enqueue"}, started(), OVER)

        self.play(self.serve(lost, not_taken), queue="q")
        self.doCleanups()
        self.assertEqual(heard, [{"type": "enqueue", "queue": "q"}] * 2)

    def test_queues_again_after_a_tournament(self) -> None:
        """Unless it plays once; and no refusal of that ends it."""

        class Enough(Exception):
            pass

        class Two(Counter):
            over = 0

            def notice(self, about: str, data: Any) -> None:
                self.over += about == "tournament-over"
                if self.over == 2:
                    raise Enough

        def script(line: Line) -> None:
            line.let_in()
            for name in ("one", "two"):
                self.assertEqual(line.hear(), {"type": "enqueue", "queue": "q"})
                line.say({"type": "done", "what": "enqueue"}, started(name))
                line.say({**OVER, "data": {"tournament": name, "won": True}})

        with self.assertRaises(Enough):
            self.play(self.serve(script), Two(), queue="q", once=False)

    def test_receipt_records_sent_and_received_messages(self) -> None:
        """And the last word of a tournament is waited for."""
        secret = "07" * 32
        commitment = commitment_of(secret)
        data = {"tournament": "cup", "commitment": commitment}
        ended = {"tournament": "cup", "winners": ["ann"], "secret": secret, "head": "0" * 64}

        def script(line: Line) -> None:
            line.let_in(active=1)
            line.say({"type": "notice", "about": "tournament", "data": data})
            line.say(request("cup:r1m1.1.0.0"))
            line.hear()
            line.say({"type": "error", "code": "late", "id": "cup:r1m1.1.0.0"})
            line.say({**OVER, "data": {**OVER["data"], "head": "0" * 64}})
            line.say({"type": "notice", "about": "tournament-ended", "data": ended})

        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/ann.jsonl"
            self.play(self.serve(script), receipt=path)
            with open(path, encoding="utf-8") as file:
                noted = [json.loads(line) for line in file]
        for entry in noted:
            self.assertGreater(entry.pop("at"), 0)
        self.assertEqual(len(noted[0].pop("nonce")), 32)
        answer = noted[2].pop("answer")
        self.assertIsNotNone(answer)
        self.assertEqual(
            noted,
            [
                {"type": "hello", "player": "ann"},
                {"type": "tournament", **data},
                {"type": "answer", "id": "cup:r1m1.1.0.0"},
                {"type": "refused", "id": "cup:r1m1.1.0.0", "code": "late"},
                {"type": "tournament-ended", **ended},
            ],
        )
        self.assertEqual(commitment_of("no secret"), "")

    def test_a_token_that_is_not_good_any_more(self) -> None:
        """The password is."""

        def script(line: Line) -> None:
            line.hear()
            self.assertEqual(line.hear(), {"type": "login", "token": "old"})
            line.say({"type": "error", "code": "wrong-credentials"})
            self.assertEqual(line.hear()["password"], "a longer pw")
            line.say(WELCOME, started(), OVER)

        self.play(self.serve(script), token="old")

    def test_server_errors_raise_refused(self) -> None:
        """Is raised, with its code."""

        def refuse(code: str, after_welcome: bool = False) -> Script:
            def script(line: Line) -> None:
                if after_welcome:
                    line.let_in()
                line.say({"type": "error", "code": code, "detail": "no"})

            return script

        for code, late in [("wrong-credentials", False), ("taken-over", True), ("refused", True)]:
            with self.assertRaises(agon.Refused) as caught:
                self.play(self.serve(refuse(code, late)), sign_up="cup")
            self.assertEqual(caught.exception.code, code)

        def not_yet(line: Line) -> None:
            line.say({"type": "error", "code": "logged-in-elsewhere"})

        def welcome(line: Line) -> None:
            line.let_in()
            line.say({"type": "error", "code": "slow-down"}, {"type": "heartbeat"})
            line.say(started(), OVER)

        self.assertEqual(len(self.play(self.serve(not_yet, welcome))), 1)

        def future(line: Line) -> None:
            line.say({"type": "greeting", "protocol": 2})

        with self.assertRaisesRegex(agon.ProtocolError, "protocol 2"):
            self.play(self.serve(future))

    def test_silence(self) -> None:
        """A sign of life is asked for, and a connection without one given up."""

        def silent(line: Line) -> None:
            line.let_in()
            self.assertEqual(line.hear(), {"type": "ping"})
            line.say({"type": "pong"})
            while line.hear() == {"type": "ping"}:
                pass

        def alive(line: Line) -> None:
            line.let_in()
            line.say(started(), OVER)

        with mock.patch.object(agon_client, "QUIET_S_MAX", 0.02):
            with mock.patch.object(agon_client, "PONG_S_MAX", 0.02):
                self.assertEqual(len(self.play(self.serve(silent, alive))), 1)

    def test_invitations(self) -> None:
        """Are accepted where that is wanted, again after a lost connection, and a person says so."""
        invited = {"type": "notice", "about": "invitation",
                   "data": {"tournament": "cup", "reply": "open", "wait_ms": 1000}}
        asked = {"type": "notice", "about": "ready-asked", "data": {"tournament": "cup"}}
        accept = {"type": "accept", "tournament": "cup"}
        logins: List[Any] = []

        def lost(line: Line) -> None:
            logins.append(line.let_in())
            line.say(invited)
            self.assertEqual(line.hear(), accept)

        def again(line: Line) -> None:
            line.let_in()
            line.say(invited)
            self.assertEqual(line.hear(), accept)
            line.say({"type": "done", "what": "accept"}, asked)
            self.assertEqual(line.hear(), {"type": "ready", "tournament": "cup"})
            line.say({"type": "done", "what": "ready"}, started(), OVER)

        server = self.serve(lost, again)
        self.assertEqual(len(self.play(server, register=True, person=True, accept=True)), 1)
        self.assertEqual((logins[0]["register"], logins[0]["kind"]), (True, "person"))

        def unwanted(line: Line) -> None:
            line.let_in()
            line.say(invited, asked, started(), OVER)
            self.assertEqual(line.hear(), {"type": "logout"})

        self.doCleanups()
        self.assertEqual(len(self.play(self.serve(unwanted))), 1)

    def test_patience_ends(self) -> None:
        """When nobody listens."""
        free = socket.create_server(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        with self.assertRaises(agon.Unreachable):
            self.play(f"tcp://127.0.0.1:{port}", patience_s=0.05)

    def test_settings_that_make_no_sense(self) -> None:
        """Are refused before anything is sent."""
        for server in ("http://127.0.0.1:1", "tcp://127.0.0.1:0", "tcp://127.0.0.1:99999"):
            with self.assertRaises(ValueError):
                agon.Client(Counter(), server, account="ann", password="a longer pw")
        with self.assertRaises(ValueError):
            agon.Client(Counter(), account="ann")

    def test_tls(self) -> None:
        """With a certificate that is trusted, and with one that is not."""
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = make_certificate(folder)
            ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            ours.load_cert_chain(certificate, key)
            trusting = ssl.create_default_context(cafile=certificate)

        def script(line: Line) -> None:
            line.let_in()
            line.say(started(), OVER)

        server = "tls://" + self.serve(script, context=ours)
        self.assertEqual(len(self.play(server, ssl_context=trusting)), 1)
        self.doCleanups()
        server = "tls://" + self.serve(script, context=ours)
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.play(server)


if __name__ == "__main__":
    unittest.main()
