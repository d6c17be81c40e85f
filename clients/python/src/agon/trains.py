"""Trains: its questions, answers and views as types, and its rules as functions."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Dict, List, Protocol, Sequence, Set, Tuple, TypedDict, Union
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .messages import Match

Color = Literal["blue", "green", "red", "white"]
#: ``(A, B, colour, length)``, the cities in alphabetical order.
Connection = Tuple[str, str, Color, int]
#: Two cities in alphabetical order.
Destination = Tuple[str, str]

#: All colours, in alphabetical order.
COLORS: Tuple[Color, ...] = ("blue", "green", "red", "white")
#: The points for a destination, gained or lost, and for the longest path.
DESTINATION_POINTS, LONGEST_POINTS = 10, 20


class PickQuestion(TypedDict):
    """Which two of five destinations to keep."""

    ask: Literal["pick"]
    destinations: List[List[str]]


class PlayQuestion(TypedDict):
    """What to do with a turn."""

    ask: Literal["play"]


#: The three destinations that are not kept.
PickAnswer = TypedDict("PickAnswer", {"return": Sequence[Sequence[str]]})


class AcquireAnswer(TypedDict):
    """A connection to acquire."""

    acquire: Sequence[Any]


PlayAnswer = Union[Literal["more-cards"], AcquireAnswer]


class Map(TypedDict):
    """Cities as ``[name, [x, y]]``; connections as ``{"A": {"B": {"red": 3}}}``."""

    width: int
    height: int
    cities: List[Any]
    connections: Dict[str, Dict[str, Dict[Color, int]]]


class _PlayerView(TypedDict):
    rails: int
    cards: int
    acquired: List[List[Any]]


class PlayerView(_PlayerView, total=False):
    """One player; ``hand`` and ``destinations`` are only in its own view, ``out`` if removed."""

    out: bool
    hand: Dict[Color, int]
    destinations: List[List[str]]


class Deed(TypedDict):
    """What a seat did: ``"picked"``, ``{"drew": 2}``, ``{"acquired": […]}`` or ``"removed"``."""

    seat: int
    did: Any


class _View(TypedDict):
    map: Map
    players: List[PlayerView]
    deck: int
    history: List[Deed]


class View(_View, total=False):
    """The game as one seat may see it.

    ``history`` is empty after the first request of a match, unless the bot has ``history = True``.
    """

    you: int
    turn: int
    last_turns: List[int]


Question = Union[PickQuestion, PlayQuestion]
Answer = Union[PickAnswer, PlayAnswer]


class Player(Protocol):
    """What a bot for Trains has. It may also have a ``proposal``: the map it proposes."""

    def pick(self, question: PickQuestion, view: View, match: Match) -> PickAnswer:
        """Chooses the destinations to give back."""

    def play(self, question: PlayQuestion, view: View, match: Match) -> PlayAnswer:
        """Asks for cards or acquires a connection."""


def connections(map: Map) -> List[Connection]:
    """All connections of a map: by cities, then length, then colour."""
    found: List[Connection] = []
    for one, others in map["connections"].items():
        for other, colors in others.items():
            first, second = sorted((one, other))
            found.extend((first, second, color, length) for color, length in colors.items())
    return sorted(found, key=lambda way: (way[0], way[1], way[3], way[2]))


def acquired(player: PlayerView) -> List[Connection]:
    """The connections of one player."""
    return [_connection(way) for way in player["acquired"]]


def free(view: View) -> List[Connection]:
    """The connections nobody holds."""
    held = {way for player in view["players"] for way in acquired(player)}
    return [way for way in connections(view["map"]) if way not in held]


def affordable(view: View) -> List[Connection]:
    """The free connections that the viewer has the cards and the rails for."""
    own = view["players"][view["you"]]
    hand, rails = own["hand"], own["rails"]
    return [way for way in free(view) if hand.get(way[2], 0) >= way[3] and rails >= way[3]]


def returns(question: PickQuestion, kept: Sequence[Sequence[str]]) -> PickAnswer:
    """The answer that keeps these two of the offered destinations."""
    wanted = [list(pair) for pair in kept]
    return {"return": [pair for pair in question["destinations"] if pair not in wanted]}


def legal(question: Question, view: View) -> List[Answer]:
    """Every answer that breaks no rule."""
    answers: List[Answer] = []
    if question["ask"] == "pick":
        for kept in combinations(question["destinations"], 2):
            answers.append(returns(question, kept))
        return answers
    answers.append("more-cards")
    for way in affordable(view):
        answers.append({"acquire": list(way)})
    return answers


def joins(ways: Sequence[Connection], destination: Sequence[str]) -> bool:
    """Whether these connections join the two cities of a destination."""
    start, end = destination
    reached, fresh = {start}, [start]
    while fresh:
        city = fresh.pop()
        for way in ways:
            if city in way[:2]:
                other = way[1] if way[0] == city else way[0]
                if other not in reached:
                    reached.add(other)
                    fresh.append(other)
    return end in reached and start != end


def longest_path(ways: Sequence[Connection]) -> int:
    """The most segments of a path over these connections that enters no city twice."""
    cities = {city for way in ways for city in way[:2]}
    return max((_longest_from(city, ways, {city}) for city in cities), default=0)


def scores(
    players: Sequence[Tuple[Sequence[Connection], Sequence[Sequence[str]]]],
) -> List[int]:
    """The final scores of players who hold these connections and kept these destinations."""
    longest = [longest_path(ways) for ways, _ in players]
    best = max(longest, default=0)
    found = []
    for (ways, destinations), path in zip(players, longest):
        points = sum(way[3] for way in ways)
        for destination in destinations:
            points += DESTINATION_POINTS if joins(ways, destination) else -DESTINATION_POINTS
        found.append(points + (LONGEST_POINTS if path == best > 0 else 0))
    return found


def _connection(way: Sequence[Any]) -> Connection:
    one, other, color, length = way
    first, second = sorted((one, other))
    return (first, second, color, length)


def _longest_from(city: str, ways: Sequence[Connection], seen: Set[str]) -> int:
    longest = 0
    for way in ways:
        if city in way[:2]:
            other = way[1] if way[0] == city else way[0]
            if other not in seen:
                longest = max(longest, way[3] + _longest_from(other, ways, seen | {other}))
    return longest
