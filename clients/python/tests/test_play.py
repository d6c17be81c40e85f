"""Players on the real server: killed, taken over, interrupted."""

from __future__ import annotations

import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import Any, List, Optional

import agon
from support import PYTHON, Server, make_certificate, needs_agon, run_agon, until


def bot(request: Any) -> Any:
    """Never asked: it only waits."""
    raise NotImplementedError


@needs_agon
class Real(unittest.TestCase):
    """Against the real server."""

    def operator(self, server: Server) -> agon.Api:
        """The interface, as an operator."""
        return agon.Api(f"http://{server.http}", server.operator)

    def test_a_duel_over_tcp(self) -> None:
        """Lines, while the server dies."""
        with Server() as server:
            self.duel(server, f"tcp://{server.tcp}")

    def test_a_duel_over_websocket(self) -> None:
        """Frames, while the server dies."""
        with Server() as server:
            if not server.websocket:
                self.skipTest("this agon takes no players over WebSocket")
            self.duel(server, f"ws://{server.http}")

    def test_duels_over_tls(self) -> None:
        """Both, encrypted."""
        if "--tls-cert" not in run_agon("serve", "--help", cwd="."):
            self.skipTest("this agon has no TLS")
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = make_certificate(folder)
            context = ssl.create_default_context(cafile=certificate)
            with Server("--tls-cert", certificate, "--tls-key", key) as server:
                self.duel(server, f"tls://{server.tcp}", context)
            with Server("--tls-cert", certificate, "--tls-key", key) as server:
                self.duel(server, f"wss://{server.http}", context)

    def duel(self, server: Server, url: str, context: Optional[ssl.SSLContext] = None) -> None:
        """Killed again and again in the middle; every request is answered once."""
        asked: List[str] = []

        def last(request: Any) -> Any:
            asked.append(request["id"])
            return agon.yahtzee.legal(request["question"], request["view"])[-1]

        player = agon.Client(last, url, account="ann", password="a longer pw", register=True, once=True,
                             ssl_context=context)
        thread = threading.Thread(target=player.run, daemon=True)
        thread.start()
        api = agon.Api(f"http{'s' if context else ''}://{server.http}", server.operator,
                       ssl_context=context)
        until("ann is there", lambda: any(one["account"] == "ann" for one in api.accounts()))
        api.create_tournament(
            "cup", preset="yahtzee-queue", policy={"match": {"best_of": 5}},
            selection={"by": "named", "players": ["ann", "house:greedy"]},
        )
        for kill in range(1, 4):
            until("some were asked", lambda: len(asked) > 20 * kill or not thread.is_alive())
            server.kill()
            server.start()
        thread.join(120)
        self.assertFalse(thread.is_alive())
        self.assertEqual([result.tournament for result in player.results], ["cup"])
        until("it is over", lambda: api.tournament("cup")["standing"] == "over")
        self.answered_once(api, asked)
        server.kill()
        server.verify()

    def answered_once(self, api: agon.Api, asked: List[str]) -> None:
        """No answer is lost or doubled, and nobody was charged for a restart."""
        results = api.tournament("cup")["results"]
        self.assertEqual((results["cheating"], results["failing"]), ([], []))
        accepted: List[str] = []
        for match in (match for round in results["rounds"] for match in round["matches"]):
            for event in api.log("cup", match["id"]):
                if event["type"] == "answer-accepted":
                    accepted.append(f"cup:{event['data']['request']}")
        self.assertEqual(len(accepted), len(set(accepted)), "accepted twice")
        self.assertEqual(len(asked), len(set(asked)), "the bot was asked something twice")
        self.assertLessEqual(set(asked), set(accepted), "an answer was lost")

    def test_an_invitation(self) -> None:
        """Is accepted by who accepts invitations, and a person is one."""
        with Server() as server:
            url = f"tcp://{server.tcp}"

            def first(request: Any) -> Any:
                return agon.yahtzee.legal(request["question"], request["view"])[0]

            player = agon.Client(first, url, account="ann", password="a longer pw", register=True,
                                 person=True, accept=True, once=True)
            thread = threading.Thread(target=player.run, daemon=True)
            thread.start()
            api = self.operator(server)
            until("ann is there", lambda: any(one["account"] == "ann" for one in api.accounts()))
            kinds = {one["account"]: one["kind"] for one in api.accounts()}
            self.assertEqual(kinds["ann"], "person")
            api.create_tournament(
                "cup", preset="yahtzee-class",
                selection={"by": "invitation", "players": ["ann", "house:random"], "at_least": 2,
                           "at_most": 2, "wait_ms": 60_000, "ready_ms": 60_000},
            )
            thread.join(120)
            self.assertFalse(thread.is_alive())
            self.assertEqual([result.tournament for result in player.results], ["cup"])

    def test_wrong_password_and_take_over(self) -> None:
        """Both end it, with the protocol's word for it."""
        with Server() as server:
            url = f"tcp://{server.tcp}"
            first: List[Any] = []

            def run() -> None:
                try:
                    agon.Client(bot, url, account="ann", password="a longer pw", register=True).run()
                except agon.Refused as refused:
                    first.append(refused.code)

            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            api = self.operator(server)
            until("ann is there", lambda: any(one["account"] == "ann" for one in api.accounts()))
            with self.assertRaises(agon.Refused) as caught:
                agon.Client(bot, url, account="ann", password="no").run()
            self.assertEqual(caught.exception.code, "wrong-credentials")
            with self.assertRaises(agon.Refused) as caught:
                agon.Client(bot, url, account="ann", password="a longer pw", sign_up="none").run()
            self.assertEqual(caught.exception.code, "refused")
            thread.join(30)
            self.assertEqual(first, ["taken-over"])

    def test_interrupted(self) -> None:
        """Ctrl-C: no traceback, code 130."""
        with Server() as server:
            path = PYTHON / "examples" / "yahtzee.py"
            command = [sys.executable, "-B", str(path), "--server", f"tcp://{server.tcp}"]
            command += ["--account", "ann", "--register", "--queue", "q"]
            environment = {"PYTHONPATH": str(PYTHON / "src"), "AGON_PASSWORD": "a longer pw"}
            process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
            api = self.operator(server)
            until("ann waits", lambda: api.queue("q") == ["ann"])
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, said)
            self.assertNotIn("Traceback", said)


if __name__ == "__main__":
    unittest.main()
