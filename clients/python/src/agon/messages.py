"""The messages of the native protocol, as types. ``docs/protocol/native.md`` is the contract.

Fields may be added within a protocol version, so nothing here is a complete list for ever.
"""

from __future__ import annotations

from typing import Any, List, TypedDict, Union

from . import fish, trains, yahtzee

#: The version of the protocol spoken here.
PROTOCOL = 1

Question = Union[yahtzee.Question, fish.Question, trains.Question]
View = Union[yahtzee.View, fish.View, trains.View]
Answer = Union[yahtzee.Answer, fish.Answer, trains.Answer]


class GameResult(TypedDict):
    """One finished game of a match. ``end`` is ``"played"``, ``"void"`` or says who forfeited."""

    game: int
    seats: List[str]
    end: Any
    scores: List[int]
    ranks: List[int]
    winners: List[str]


class Match(TypedDict):
    """The match that a request belongs to; ``won`` counts games by player, 0.5 for a shared one."""

    tournament: str
    id: str
    round: int
    players: List[str]
    best_of: int
    won: List[float]
    game: int
    games: List[GameResult]


class Request(TypedDict):
    """A question, with everything a player may know."""

    type: str
    id: str
    deadline_ms: int
    seat: int
    question: Question
    view: View
    match: Match


class Notice(TypedDict, total=False):
    """Something to know and not to answer."""

    type: str
    about: str
    data: Any
