"""The HTTP interface of the real server, and events as they come over any wire."""

from __future__ import annotations

import threading
import unittest
from typing import Any, List

import agon
from agon.sse import events
from support import Server, needs_agon, until

DUEL = {"by": "named", "players": ["house:greedy", "house:random"]}


class Events(unittest.TestCase):
    """Server-sent events as lines."""

    def test_lines(self) -> None:
        """Comments, line ends of both kinds, data in parts, and an event that is cut off."""
        lines = [b": hi\n", b"event: snapshot\r\n", b"id: 1f\n", b'data: {"a":\n', b"data:1}\n"]
        lines += [b"\n", b"\n", b"data: 2\n", b"\n", b"event: end\n", b"data: 3\n"]
        found = list(events(lines))
        self.assertEqual(found[0], agon.Event("snapshot", "1f", {"a": 1}))
        self.assertEqual(found[1:], [agon.Event("message", "1f", 2)])


@needs_agon
class Real(unittest.TestCase):
    """Everything once."""

    def test_accounts_and_queues(self) -> None:
        """A player's own things."""
        with Server() as server:
            api = agon.Api(f"http://{server.http}/api/v1")
            self.assertTrue(api.is_healthy())
            self.assertEqual(api.register("ann", "a longer pw")["role"], "player")
            with self.assertRaises(agon.ApiError) as caught:
                api.register("ann", "a longer pw")
            self.assertEqual((caught.exception.status, caught.exception.type), (409, "conflict"))
            with self.assertRaises(agon.ApiError) as caught:
                api.enqueue("q")
            self.assertEqual(caught.exception.type, "not-logged-in")
            several = agon.Api(f"http://127.0.0.1:9,http://{server.http}/api/v1")
            self.assertTrue(several.is_healthy())
            several.log_in("ann", "a longer pw")
            token = api.log_in("ann", "a longer pw")
            self.assertEqual(api.enqueue("q"), ["ann"])
            self.assertEqual(api.queue("q"), ["ann"])
            self.assertEqual(api.dequeue("q"), [])
            api.change_password("a longer pw", "a better pw")
            api.log_out()
            with self.assertRaises(agon.ApiError):
                agon.Api(f"http://{server.http}", token).enqueue("q")
            api.log_in("ann", "a better pw")
            with self.assertRaises(agon.ApiError) as caught:
                api.create_tournament("cup", preset="fish", selection=DUEL)
            self.assertEqual(caught.exception.status, 403)
            names = [account["account"] for account in api.accounts()]
            self.assertIn("ann", names)
            self.assertEqual(names, sorted(names))
            self.assertIn("statistics", api.account("house:greedy"))

    def test_tournaments(self) -> None:
        """Announced, watched, read."""
        with Server() as server:
            api = agon.Api(f"http://{server.http}", server.operator)
            api.create_tournament("cup", preset="yahtzee-class", selection=DUEL)
            until("it runs", lambda: api.tournament("cup")["standing"] in ("running", "over"))
            seen = list(api.watch("cup"))
            self.assertEqual(seen[-1].name, "end")
            self.assertEqual(seen[-1].data["results"]["status"], "ended")
            self.assertEqual([one["id"] for one in api.tournaments()], ["cup"])
            self.assertEqual({one["player"] for one in api.standings("cup")}, set(DUEL["players"]))
            self.assertEqual(api.log("cup")[-1]["type"], "tournament-ended")
            self.assertEqual(api.log("cup", "r1m1")[0]["type"], "match-created")
            self.assertEqual(api.match("cup", "r1m1")["standing"], "over")
            self.assertEqual([one.name for one in api.watch("cup", "r1m1")], ["end"])
            self.assertEqual(len(api.ladder("yahtzee")), 2)
            self.assertIn("yahtzee", api.statistics("house:greedy")["by_game"])
            self.assertGreater(api.metrics()["agon_games_finished_total"], 0)
            with self.assertRaises(agon.ApiError) as caught:
                api.tournament("no such cup")
            self.assertEqual(caught.exception.type, "not-found")

    def test_sign_ups(self) -> None:
        """Made and taken back."""
        with Server() as server:
            operator = agon.Api(f"http://{server.http}", server.operator)
            waits = {"by": "sign-up", "at_least": 2, "at_most": 8, "wait_ms": 600_000,
                     "second_wait_ms": 0, "second_at_least": 2}
            operator.create_tournament("cup", preset="fish", selection=waits)
            api = agon.Api(f"http://{server.http}")
            api.register("ann", "a longer pw")
            api.log_in("ann", "a longer pw")
            api.sign_up("cup")
            self.assertEqual(api.tournament("cup")["plan"]["players"], ["ann"])
            self.assertEqual(api.standings("cup"), [])
            api.withdraw("cup")
            self.assertEqual(api.tournament("cup")["plan"]["players"], [])

    def test_watching_over_a_restart(self) -> None:
        """The watcher comes back by itself, and sees the end."""
        with Server() as server:
            api = agon.Api(f"http://{server.http}", server.operator)
            go_on = threading.Event()

            def bot(request: Any) -> Any:
                go_on.wait(120)
                return agon.fish.legal(request["question"], request["view"])[0]

            player = agon.Client(bot, server.tcp, account="ann", password="a longer pw", register=True,
                                 once=True)
            thread = threading.Thread(target=player.run, daemon=True)
            thread.start()
            until("ann is there", lambda: any(one["account"] == "ann" for one in api.accounts()))
            named = {"by": "named", "players": ["ann", "house:random"]}
            slow = {"match": {"time": {"answer_ms": 120_000, "bank_ms": 0, "wait_ms": 120_000}}}
            api.create_tournament("cup", preset="fish", policy=slow, selection=named)
            until("it runs", lambda: api.tournament("cup")["standing"] == "running")
            seen: List[agon.Event] = []

            failed: List[BaseException] = []

            def watch() -> None:
                try:
                    for event in api.watch("cup"):
                        seen.append(event)
                except BaseException as error:  # It is shown by the test's own thread.
                    failed.append(error)

            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            until("something is seen", lambda: bool(seen or failed))
            self.assertEqual(failed, [])
            server.kill()
            server.start()
            go_on.set()
            thread.join(120)
            watcher.join(120)
            self.assertFalse(watcher.is_alive())
            self.assertEqual([seen[0].name, seen[-1].name], ["snapshot", "end"])
            ids = [event.id for event in seen]
            self.assertEqual(len(ids), len(set(ids)), "nothing is given twice")

    def test_unreachable_server_raises(self) -> None:
        """Is said by type."""
        with Server() as server:
            address = f"http://{server.http}"
        api = agon.Api(address, timeout_s=5)
        self.assertFalse(api.is_healthy())
        with self.assertRaises(agon.Unreachable):
            api.queue("q")
        with self.assertRaises(agon.Unreachable):
            next(api.watch("cup"))


if __name__ == "__main__":
    unittest.main()
