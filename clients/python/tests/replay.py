"""Folds the log of a match with nothing but this package's rules.

Of every answer the server accepted, ``fold`` says what was asked, what the player saw of the
position, and what it answered; of every game that was played, the scores that come out.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from agon import fish, trains, yahtzee

Event = Dict[str, Any]
Check = Callable[[Any, Any, Any], None]


def fold(events: Iterable[Event], check: Check) -> List[Tuple[List[int], List[int]]]:
    """Calls ``check(question, view, answer)`` for every decision; gives (ours, theirs) by game."""
    plan: Dict[str, Any] = {}
    game: Any = None
    scores = []
    for event in events:
        kind, data = event["type"], event["data"]
        if kind == "match-created":
            plan = data["plan"]
        elif kind == "game-started":
            config = data.get("config") or plan["config"]
            game = GAMES[plan["game"]](config, len(data["seats"]), data.get("drawn"))
        elif kind == "answer-accepted":
            if data["answer"] != "ok":
                question, view = game.asked(data["seat"])
                check(question, copy.deepcopy(view), data["answer"])
            game.take(data["seat"], data["answer"], data.get("drawn"))
        elif kind == "game-ended" and data["result"]["end"] == "played":
            scores.append((game.scores(), data["result"]["scores"]))
    return scores


class Yahtzee:
    """Two cards, and what lies on the table before each player."""

    def __init__(self, config: Any, seats: int, drawn: Any) -> None:
        self.rule = config["rule"]
        self.boxes: List[Any] = [{box: None for box in yahtzee.BOXES} for _ in range(seats)]
        self.bonuses = [0] * seats
        self.rolls = [1] * seats
        self.dice: List[List[int]] = [list(dice) for dice in drawn["dice"]]

    def asked(self, seat: int) -> Tuple[Any, Any]:
        cards = [{"boxes": boxes} for boxes in self.boxes]
        view = {"seat": seat, "rule": self.rule, "cards": cards}
        dice = list(self.dice[seat])
        if self.rolls[seat] <= 2:
            return {"ask": "keep", "roll": self.rolls[seat], "dice": dice}, view
        return {"ask": "score", "dice": dice}, view

    def take(self, seat: int, answer: Any, drawn: Optional[Any]) -> None:
        if "keep" in answer:
            kept = by_place(answer["keep"], self.dice[seat])
            fresh = iter(drawn["dice"] if drawn and "seat" in drawn else [])
            table = zip(self.dice[seat], kept)
            self.dice[seat] = [die if keep else next(fresh) for die, keep in table]
            self.rolls[seat] = 3 if all(kept) else self.rolls[seat] + 1
            return
        box, boxes = answer["score"], self.boxes[seat]
        points, bonus = yahtzee.worth(boxes, self.dice[seat], box, self.rule)
        boxes[box] = points
        self.bonuses[seat] += bonus // 100
        if drawn and "turn" in drawn:
            self.dice = [list(dice) for dice in drawn["dice"]]
            self.rolls = [1] * len(self.rolls)

    def scores(self) -> List[int]:
        return [yahtzee.total(card, bonus) for card, bonus in zip(self.boxes, self.bonuses)]


def by_place(keep: List[Any], dice: List[int]) -> List[bool]:
    """Keepers as places, however they were given: of equal dice the leftmost."""
    if len(keep) == 5 and all(isinstance(one, bool) for one in keep):
        return list(keep)
    wanted = list(keep)
    kept = []
    for die in dice:
        kept.append(die in wanted)
        if kept[-1]:
            wanted.remove(die)
    return kept


class Fish:
    """The board, the penguins and the fish."""

    def __init__(self, config: Any, seats: int, drawn: Any) -> None:
        players = [{"places": [], "score": 0} for _ in range(seats)]
        self.view: Any = {"board": drawn["board"], "players": players}
        self.placing = seats * (6 - seats)

    def asked(self, seat: int) -> Tuple[Any, Any]:
        return {"ask": "place" if self.placing else "move"}, dict(self.view, you=seat)

    def take(self, seat: int, answer: Any, drawn: Optional[Any]) -> None:
        if answer == "ok":
            return
        player = self.view["players"][seat]
        if "place" in answer:
            self.placing -= 1
            player["places"].append(answer["place"])
            return
        start, end = answer["move"]
        player["score"] += fish.fish_at(self.view, tuple(start))
        self.view["board"][start[0]][start[1]] = 0
        player["places"] = [end if place == start else place for place in player["places"]]

    def scores(self) -> List[int]:
        return [player["score"] for player in self.view["players"]]


class Trains:
    """The map, and every player's cards, rails, connections and destinations."""

    def __init__(self, config: Any, seats: int, drawn: Any) -> None:
        players = [
            {"rails": 45, "hand": dict.fromkeys(trains.COLORS, 0), "acquired": []}
            for _ in range(seats)
        ]
        self.view: Any = {"map": config["map"], "players": players}
        self.kept: List[Any] = [None] * seats
        self.offered: List[Any] = []
        self._draw(drawn)

    def asked(self, seat: int) -> Tuple[Any, Any]:
        view = dict(self.view, you=seat)
        if self.kept[seat] is None:
            return {"ask": "pick", "destinations": self.offered}, view
        return {"ask": "play"}, view

    def take(self, seat: int, answer: Any, drawn: Optional[Any]) -> None:
        player = self.view["players"][seat]
        if "return" in answer:
            self.kept[seat] = [pair for pair in self.offered if pair not in answer["return"]]
        elif "acquire" in answer:
            _, _, color, length = answer["acquire"]
            player["hand"][color] -= length
            player["rails"] -= length
            player["acquired"].append(answer["acquire"])
        self._draw(drawn)

    def scores(self) -> List[int]:
        held = [trains.acquired(player) for player in self.view["players"]]
        return trains.scores(list(zip(held, self.kept)))

    def _draw(self, drawn: Optional[Any]) -> None:
        if drawn:
            for card in drawn.get("cards", []):
                self.view["players"][drawn["seat"]]["hand"][card] += 1
            self.offered = drawn.get("offered", self.offered)


GAMES: Dict[str, Any] = {"yahtzee": Yahtzee, "fish": Fish, "trains": Trains}
