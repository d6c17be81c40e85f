"""The rules, case by case. ``test_logs`` compares them with the server's."""

from __future__ import annotations

import unittest
from typing import Any, Dict, Optional

from agon import fish, trains, yahtzee


def card(**filled: int) -> Dict[yahtzee.Box, Optional[int]]:
    """A card with these boxes filled; ``_`` stands for ``-``."""
    boxes: Dict[yahtzee.Box, Optional[int]] = {box: None for box in yahtzee.BOXES}
    for name, points in filled.items():
        box: Any = name.replace("_", "-")
        boxes[box] = points
    return boxes


class Yahtzee(unittest.TestCase):
    """Boxes, jokers, totals."""

    def test_points(self) -> None:
        """Every box, with a hand that fits and one that does not."""
        cases: Any = [
            ("aces", [1, 1, 3, 4, 1], 3), ("sixes", [1, 2, 3, 4, 5], 0),
            ("three-of-a-kind", [2, 2, 2, 5, 6], 17), ("three-of-a-kind", [2, 2, 3, 5, 6], 0),
            ("four-of-a-kind", [2, 2, 2, 2, 6], 14), ("four-of-a-kind", [2, 2, 2, 5, 6], 0),
            ("full-house", [3, 3, 3, 5, 5], 25), ("full-house", [3, 3, 3, 3, 3], 0),
            ("full-house", [3, 3, 5, 5, 6], 0), ("small-straight", [3, 4, 5, 6, 3], 30),
            ("small-straight", [1, 2, 3, 5, 6], 0), ("large-straight", [6, 5, 4, 3, 2], 40),
            ("large-straight", [1, 2, 3, 4, 6], 0), ("yahtzee", [4, 4, 4, 4, 4], 50),
            ("yahtzee", [4, 4, 4, 4, 3], 0), ("chance", [1, 2, 3, 4, 6], 16),
        ]
        for box, dice, points in cases:
            self.assertEqual(yahtzee.points(dice, box), points, (box, dice))

    def test_jokers(self) -> None:
        """What five alike are worth under each rule."""
        fives = [5] * 5
        good, bad = card(yahtzee=50, fives=15), card(yahtzee=0, fives=15)
        self.assertEqual(yahtzee.worth(good, fives, "large-straight"), (40, 100))
        self.assertEqual(yahtzee.worth(bad, fives, "large-straight"), (0, 0))
        self.assertEqual(yahtzee.worth(bad, fives, "large-straight", "free-joker"), (40, 0))
        self.assertEqual(yahtzee.worth(card(yahtzee=50), fives, "full-house"), (0, 100))
        forced = yahtzee.open_boxes(card(yahtzee=0), fives, "forced-joker")
        self.assertEqual(forced, ["fives"])
        self.assertNotIn("aces", yahtzee.open_boxes(bad, fives, "forced-joker"))
        self.assertIn("aces", yahtzee.open_boxes(bad, fives))

    def test_total(self) -> None:
        """With both bonuses."""
        boxes = card(aces=3, twos=6, threes=9, fours=12, fives=15, sixes=18, chance=20)
        self.assertEqual(yahtzee.total(boxes, yahtzee_bonuses=2), 63 + 35 + 20 + 200)
        self.assertEqual(yahtzee.total({**boxes, "aces": 2}), 62 + 20)

    def test_legal(self) -> None:
        """32 ways to keep; the boxes that are empty."""
        view: Any = {"seat": 1, "rule": "tournament", "cards": [{}, {"boxes": card(aces=1)}]}
        keep: yahtzee.Question = {"ask": "keep", "roll": 1, "dice": [1, 2, 3, 4, 5]}
        self.assertEqual(len(yahtzee.legal(keep, view)), 32)
        score: yahtzee.Question = {"ask": "score", "dice": [1, 2, 3, 4, 5]}
        self.assertEqual(len(yahtzee.legal(score, view)), 12)


class Fish(unittest.TestCase):
    """Neighbours and slides."""

    view: Any = {
        "you": 0,
        "board": [[1, 2, 3], [4, 0, 1], [2, 3, 4], [5, 1, 2]],
        "players": [{"places": [[2, 0]]}, {"places": [[0, 0], [1, 2]]}],
    }

    def test_neighbours(self) -> None:
        """As the protocol's document gives them, for even and odd rows."""
        self.assertEqual([fish.step((2, 1), way) for way in range(6)],
                         [(0, 1), (1, 1), (3, 1), (4, 1), (3, 0), (1, 0)])
        self.assertEqual([fish.step((3, 1), way) for way in range(6)],
                         [(1, 1), (2, 2), (4, 2), (5, 1), (4, 1), (2, 1)])
        self.assertEqual(fish.neighbours(self.view, (2, 1)), [(0, 1), (3, 1), (3, 0), (1, 0)])

    def test_placements(self) -> None:
        """Holes and penguins are in the way."""
        self.assertEqual(len(fish.placements(self.view)), 12 - 1 - 3)
        self.assertNotIn((1, 1), fish.placements(self.view))

    def test_moves(self) -> None:
        """In straight lines, up to what is in the way."""
        self.assertEqual(fish.reach(self.view, (2, 0)), [(0, 1), (1, 0), (3, 0)])
        ends = fish.reach(self.view, (2, 0))
        self.assertEqual(fish.moves(self.view, 0), [((2, 0), end) for end in ends])
        self.assertEqual(fish.legal({"ask": "move"}, self.view)[0], {"move": [[2, 0], [0, 1]]})


class Trains(unittest.TestCase):
    """What can be acquired, and what it is worth."""

    view: Any = {
        "you": 0,
        "map": {"connections": {"A": {"B": {"red": 3, "blue": 4}, "C": {"blue": 5}},
                                "B": {"C": {"red": 3}}}},
        "players": [{"rails": 4, "hand": {"blue": 9, "red": 3}, "acquired": []},
                    {"rails": 42, "acquired": [["A", "B", "red", 3]]}],
    }

    def test_affordable(self) -> None:
        """Cards, rails and others set limits."""
        every = [("A", "B", "red", 3), ("A", "B", "blue", 4), ("A", "C", "blue", 5)]
        every.append(("B", "C", "red", 3))
        self.assertEqual(trains.connections(self.view["map"]), every)
        self.assertEqual(trains.affordable(self.view), [every[1], every[3]])

    def test_picks(self) -> None:
        """Ten ways to keep two of five."""
        pairs = [["A", "B"], ["A", "C"], ["A", "D"], ["B", "C"], ["B", "D"]]
        question: trains.PickQuestion = {"ask": "pick", "destinations": pairs}
        self.assertEqual(len(trains.legal(question, self.view)), 10)
        self.assertEqual(trains.returns(question, pairs[:2]), {"return": pairs[2:]})

    def test_scores(self) -> None:
        """Segments, destinations, and the longest path for all who have it."""
        ways: Any = [("A", "B", "red", 3), ("B", "C", "red", 4), ("A", "C", "red", 5)]
        self.assertEqual(trains.longest_path(ways), 9)
        self.assertTrue(trains.joins(ways[:2], ["A", "C"]))
        self.assertFalse(trains.joins(ways[:1], ["A", "C"]))
        players: Any = [(ways, [["A", "C"], ["A", "D"]]), (ways[:1], [["A", "B"]]), ([], [])]
        self.assertEqual(trains.scores(players), [12 + 0 + 20, 3 + 10, 0])
        self.assertEqual(trains.scores([([], []), ([], [])]), [0, 0])


if __name__ == "__main__":
    unittest.main()
