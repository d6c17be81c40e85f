"""The proxies of the message vocabulary: transcripts, and tournaments on the real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request
from pathlib import Path
from typing import Any, Dict, List, Optional

from agon import fish, fish_wire
from agon.errors import Lost, ProtocolError
from support import PATIENCE_S, PYTHON, REPOSITORY, Server, needs_agon, until

TRANSCRIPT = REPOSITORY / "crates/wire/tests/data/fish/message.txt"


class First(fish_wire.FishPlayer):
    """Takes the first tile and the first move, and notes what it is told."""

    def __init__(self) -> None:
        self.told: List[str] = []
        self.states: List[fish_wire.State] = []
        self.result: Optional[fish_wire.GameResult] = None

    def signed_up(self, in_tournament: bool) -> None:
        self.told.append(f"signed up: {in_tournament}")

    def assign_color(self, color: fish.Color) -> None:
        self.told.append(f"plays {color}")

    def place(self, state: fish_wire.State) -> Any:
        return fish.placements(state)[0]  # type: ignore[arg-type]

    def move(self, state: fish_wire.State) -> Any:
        self.states.append(state)
        return fish.moves(state, 0)[0]  # type: ignore[arg-type]

    def game_over(self, result: fish_wire.GameResult) -> None:
        self.result = result

    def tournament_over(self, won: bool) -> bool:
        self.told.append(f"won: {won}")
        return True


class Proxies(unittest.TestCase):
    """Messages in, calls, messages out."""

    def test_the_transcript_of_the_protocol_page(self) -> None:
        """The proxies give every reply of the recorded game."""
        player = First()
        manager, referee = fish_wire.ProxyTournamentManager(player), fish_wire.ProxyReferee(player)
        self.assertEqual(manager.sign_up("eve")["value"], "eve")
        expected: List[Any] = []
        given: List[Any] = []
        lines = TRANSCRIPT.read_text(encoding="utf-8").splitlines()[1:]
        for line in lines:
            message = json.loads(line[2:])
            if line.startswith("<"):
                expected.append(message)
                continue
            replies = manager.hear(message)
            given.extend(referee.hear(message) or [] if replies is None else replies)
        self.assertEqual(given, expected)
        self.assertEqual(player.told, ["signed up: True", "plays red", "won: True"])
        assert player.result is not None
        self.assertEqual(player.result["kicked_players"], ["bob"])
        self.assertTrue(manager.won)
        names = {state["players"][0]["name"] for state in player.states}
        self.assertEqual(names, {"eve"}, "the player to act comes first")

    def test_unknown_messages_are_passed_over(self) -> None:
        """Neither proxy answers them."""
        message = {"type": "weather", "value": 1}
        self.assertIsNone(fish_wire.ProxyTournamentManager(First()).hear(message))
        self.assertIsNone(fish_wire.ProxyReferee(First()).hear(message))

    def test_a_move_before_any_position_is_a_protocol_error(self) -> None:
        """There is nothing to choose from."""
        referee = fish_wire.ProxyReferee(First())
        with self.assertRaises(ProtocolError):
            referee.hear({"type": "player_request_move", "value": True})

    def test_closed_port_raises(self) -> None:
        """That is said."""
        with self.assertRaises(Lost):
            fish_wire.play(First(), "127.0.0.1:1", "eve", timeout_s=5)


class Port(Server):
    """A server with a Fish port."""

    def __init__(self, settings: str) -> None:
        super().__init__("--config", "agon.toml")
        text = f'seed = 7\n[fish]\nlisten = "127.0.0.1:0"\n{settings}\n'
        Path(self.folder.name, "agon.toml").write_text(text, encoding="utf-8")

    def address(self) -> str:
        """Where the Fish port is."""
        return self.said["players"]["fish"]

    def tournament(self, what: str = "") -> Dict[str, Any]:
        """The first tournament, as the HTTP interface shows it."""
        url = f"http://{self.http}/api/v1/tournaments/fish{what}"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as page:
            return json.load(page)


BOARD = "[[1, 2, 3, 1], [2, 1, 5, 2], [1, 4, 1, 3]]"


@needs_agon
class Real(unittest.TestCase):
    """Against the real server."""

    def play(self, port: Port, players: Dict[str, fish_wire.FishPlayer]) -> Dict[str, Any]:
        """All play one tournament; who won, by name."""
        won: Dict[str, Any] = {}

        def run(name: str, player: fish_wire.FishPlayer) -> None:
            won[name] = fish_wire.play(player, port.address(), name, timeout_s=PATIENCE_S)

        threads = []
        for name, player in players.items():
            thread = threading.Thread(target=run, args=(name, player))
            thread.start()
            threads.append(thread)
            until(f"{name} is signed up",
                  lambda name=name: name in port.tournament()["plan"]["players"])  # type: ignore
        for thread in threads:
            thread.join(PATIENCE_S)
        return won

    def test_a_tournament_with_an_observer(self) -> None:
        """Two players and somebody who watches them."""
        with Port(f"at_most = 2\nanswer_ms = 60000\nconfig = {{ board = {BOARD} }}") as port:
            seen: List[fish_wire.Message] = []
            confirmed = threading.Event()

            def watch(message: fish_wire.Message) -> bool:
                seen.append(message)
                confirmed.set()
                return message["type"] != "tournament_end"

            watcher = threading.Thread(
                target=fish_wire.observe, args=(port.address(), watch),
                kwargs={"timeout_s": PATIENCE_S},
            )
            watcher.start()
            self.assertTrue(confirmed.wait(PATIENCE_S))
            players: Dict[str, fish_wire.FishPlayer] = {"eve": First(), "bob": First()}
            won = self.play(port, players)
            watcher.join(PATIENCE_S)
            self.assertEqual(sorted(won), ["bob", "eve"])
            self.assertIn(True, won.values())
            kinds = [message["type"] for message in seen]
            self.assertEqual(kinds[:2], ["observer_confirmation", "tournament_start"])
            self.assertEqual(kinds.count("broadcast_state"), 8, "one for each placement")
            self.assertEqual(kinds[-2:], ["broadcast_game_over", "tournament_end"])
            eve = players["eve"]
            assert isinstance(eve, First)
            self.assertEqual(eve.result, seen[-2]["value"])
            until("the report is there", lambda: port.tournament()["standing"] == "over")
            report = port.tournament("/report")
            self.assertEqual((report["cheating"], report["failing"]), ([], []))

    def test_kicked_player_is_notified(self) -> None:
        """It sees the position without its penguins, and then the end of the connection."""

        class Cheat(First):
            """Moves a penguin that it does not have."""

            def __init__(self) -> None:
                super().__init__()
                self.last: Optional[fish_wire.State] = None

            def move(self, state: fish_wire.State) -> Any:
                return [[9, 9], [0, 0]]

            def state_changed(self, state: fish_wire.State) -> None:
                self.last = state

        with Port(f"at_most = 2\nanswer_ms = 60000\nconfig = {{ board = {BOARD} }}") as port:
            cheat = Cheat()
            won = self.play(port, {"eve": cheat, "bob": First()})
            self.assertEqual(won, {"eve": None, "bob": True})
            assert cheat.last is not None
            self.assertEqual([player["name"] for player in cheat.last["players"]], ["bob"])

    def test_the_example_plays(self) -> None:
        """As the README shows it, as a program."""
        example = PYTHON / "examples" / "fish_messages.py"
        shown = (PYTHON / "README.md").read_text(encoding="utf-8")
        self.assertIn(example.read_text(encoding="utf-8"), shown)
        with Port("at_most = 2\nanswer_ms = 60000") as port, tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, PYTHONPATH=str(PYTHON / "src"))
            start = lambda name: subprocess.Popen(  # noqa: E731
                [sys.executable, "-B", str(example), port.address(), name], cwd=folder,
                env=environment, stdout=subprocess.PIPE, text=True,
            )
            programs = [start("eve"), start("bob")]
            said = [program.communicate(timeout=PATIENCE_S)[0].strip() for program in programs]
            self.assertEqual([program.returncode for program in programs], [0, 0])
            self.assertIn("won", said)


if __name__ == "__main__":
    unittest.main()
