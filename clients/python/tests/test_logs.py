"""The rules of this package agree with the server's: checked on games that house players played."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any, List

import agon
from replay import by_place, fold
from support import needs_agon, read_log, run_agon

RULES: Any = {"keep": agon.yahtzee, "score": agon.yahtzee, "place": agon.fish, "move": agon.fish}
RULES.update({"pick": agon.trains, "play": agon.trains})


@needs_agon
class Logs(unittest.TestCase):
    """Whole tournaments between house players."""

    def agrees(self, preset: str, players: List[str], *args: str) -> int:
        """Plays, folds every match, and says how many decisions there were."""
        decisions = 0

        def check(question: Any, view: Any, answer: Any) -> None:
            nonlocal decisions
            decisions += 1
            if "keep" in answer:
                answer = {"keep": by_place(answer["keep"], question["dice"])}
            elif "return" in answer:
                answer = {"return": sorted(answer["return"])}
            legal = RULES[question["ask"]].legal(question, view)
            self.assertIn(answer, json.loads(json.dumps(legal)), question)

        games = 0
        with tempfile.TemporaryDirectory() as folder:
            run_agon("run", "--preset", preset, "--quiet", "--strict", "--out", "run", *args,
                     "--player", *players, cwd=folder)
            for path in sorted(Path(folder, "run", "match").rglob("*.jsonl")):
                for ours, theirs in fold(read_log(path), check):
                    self.assertEqual(ours, theirs, path.name)
                    games += 1
        self.assertGreater(games, 0)
        return decisions

    def test_yahtzee(self) -> None:
        """Under every rule of jokers."""
        players = ["house:greedy", "house:random"] * 2
        for rule in ("tournament", "forced-joker", "free-joker"):
            config = json.dumps({"rule": rule})
            for seed in range(3):
                args = ["--best-of", "3", "--game-config", config, "--seed", str(seed)]
                self.assertGreater(self.agrees("yahtzee-class", players, *args), 500)

    def test_yahtzee_with_many_jokers(self) -> None:
        """Five alike in every turn, so that bonuses and jokers are common."""
        dice = [[1 + turn % 3] * 15 for turn in range(13)]
        for rule in ("tournament", "forced-joker", "free-joker"):
            config = json.dumps({"rule": rule, "fixed_dice": dice})
            for seed in range(5):
                args = ["--game-config", config, "--seed", str(seed)]
                self.agrees("yahtzee-class", ["house:random", "house:greedy"], *args)

    def test_fish(self) -> None:
        """On boards of all shapes, with holes."""
        for seed, (rows, columns) in enumerate([(5, 5), (8, 3), (3, 8), (12, 2), (6, 6)]):
            config = json.dumps({"rows": rows, "columns": columns, "difficulty": 5})
            players = ["house:greedy", "house:random", "house:random", "house:search:1"]
            args = ["--game-config", config, "--seed", str(seed)]
            self.assertGreater(self.agrees("fish", players[: 2 + seed % 3], *args), 8)

    def test_trains(self) -> None:
        """Between two and eight."""
        players = ["house:greedy", "house:hold-10", "house:buy-now", "house:random"] * 2
        for seed, count in enumerate([2, 3, 5, 8]):
            self.assertGreater(self.agrees("trains", players[:count], "--seed", str(seed)), 40)


if __name__ == "__main__":
    unittest.main()
