"""Fish: its questions, answers and views as types, and its rules as functions.

A position is ``(row, column)`` from the top left; odd rows lie half a tile to the right.
"""

from __future__ import annotations

from typing import Iterator, List, Optional, Protocol, Sequence, Set, Tuple, TypedDict, Union
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .messages import Match

Position = Tuple[int, int]
Color = Literal["red", "white", "brown", "black"]

#: The six directions, in the order in which neighbours are listed.
DIRECTIONS: Tuple[str, ...] = ("N", "NE", "SE", "S", "SW", "NW")


class PlaceQuestion(TypedDict):
    """Where to put a penguin."""

    ask: Literal["place"]


class MoveQuestion(TypedDict):
    """Which penguin to slide, and where to."""

    ask: Literal["move"]


class PlaceAnswer(TypedDict):
    """A tile without a penguin."""

    place: Sequence[int]


class MoveAnswer(TypedDict):
    """From where to where."""

    move: Sequence[Sequence[int]]


class PlayerView(TypedDict):
    """One player as everybody sees it."""

    color: Color
    score: int
    places: List[List[int]]
    removed: bool


class _View(TypedDict):
    phase: str
    penguins: int
    board: List[List[int]]
    players: List[PlayerView]
    since: List[List[List[int]]]


class View(_View, total=False):
    """The game as one seat may see it; public views have no ``you``, ended ones no ``turn``."""

    you: Optional[int]
    turn: Optional[int]


Question = Union[PlaceQuestion, MoveQuestion]
Answer = Union[PlaceAnswer, MoveAnswer]


class Player(Protocol):
    """What a bot for Fish has."""

    def place(self, question: PlaceQuestion, view: View, match: Match) -> PlaceAnswer:
        """Chooses a free tile."""

    def move(self, question: MoveQuestion, view: View, match: Match) -> MoveAnswer:
        """Chooses a move."""


def step(at: Position, direction: int) -> Position:
    """The next position in a direction, 0 to 5 as in ``DIRECTIONS``, on the board or not."""
    row, column = at
    odd = row % 2
    return (
        (row - 2, column),
        (row - 1, column + odd),
        (row + 1, column + odd),
        (row + 2, column),
        (row + 1, column + odd - 1),
        (row - 1, column + odd - 1),
    )[direction]


def fish_at(view: View, at: Position) -> int:
    """How many fish are under a tile; 0 for a hole and off the board."""
    row, column = at
    board = view["board"]
    if 0 <= row < len(board) and 0 <= column < len(board[row]):
        return board[row][column]
    return 0


def neighbours(view: View, at: Position) -> List[Position]:
    """The tiles around a position, holes left out, in the order of ``DIRECTIONS``."""
    around = (step(at, direction) for direction in range(len(DIRECTIONS)))
    return [tile for tile in around if fish_at(view, tile) > 0]


def penguins(view: View, seat: Optional[int] = None) -> List[Position]:
    """Where the penguins of one seat stand, in order; those of all seats if none is named."""
    players = view["players"] if seat is None else [view["players"][seat]]
    return sorted((place[0], place[1]) for player in players for place in player["places"])


def placements(view: View) -> List[Position]:
    """The tiles without a penguin, in order."""
    taken = set(penguins(view))
    tiles = ((row, column) for row, fish in enumerate(view["board"]) for column in range(len(fish)))
    return [tile for tile in tiles if fish_at(view, tile) > 0 and tile not in taken]


def reach(view: View, start: Position) -> List[Position]:
    """The tiles a penguin can slide to, in order."""
    return sorted(_slides(view, start, set(penguins(view))))


def moves(view: View, seat: Optional[int] = None) -> List[Tuple[Position, Position]]:
    """The moves of a seat, in order; of the viewer if none is named."""
    seat = _viewer(view) if seat is None else seat
    return [(start, end) for start in penguins(view, seat) for end in reach(view, start)]


def legal(question: Question, view: View) -> List[Answer]:
    """Every answer that breaks no rule."""
    answers: List[Answer] = []
    if question["ask"] == "place":
        answers.extend({"place": list(tile)} for tile in placements(view))
    else:
        answers.extend({"move": [list(start), list(end)]} for start, end in moves(view))
    return answers


def _slides(view: View, start: Position, taken: Set[Position]) -> Iterator[Position]:
    for direction in range(len(DIRECTIONS)):
        tile = step(start, direction)
        while fish_at(view, tile) > 0 and tile not in taken:
            yield tile
            tile = step(tile, direction)


def _viewer(view: View) -> int:
    you = view.get("you")
    seat = view.get("turn") if you is None else you
    return 0 if seat is None else seat
