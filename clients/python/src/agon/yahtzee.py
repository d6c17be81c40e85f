"""Yahtzee: its questions, answers and views as types, and its rules as functions."""

from __future__ import annotations

from itertools import product
from typing import Dict, List, Mapping, Optional, Protocol, Sequence, Tuple, TypedDict, Union
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .messages import Match

Box = Literal[
    "aces", "twos", "threes", "fours", "fives", "sixes", "three-of-a-kind", "four-of-a-kind",
    "full-house", "small-straight", "large-straight", "yahtzee", "chance",
]
Rule = Literal["tournament", "forced-joker", "free-joker"]

#: The six boxes that count towards the upper bonus; box number n takes the dice that show n + 1.
UPPER: Tuple[Box, ...] = ("aces", "twos", "threes", "fours", "fives", "sixes")
#: The other seven.
LOWER: Tuple[Box, ...] = (
    "three-of-a-kind", "four-of-a-kind", "full-house", "small-straight", "large-straight",
    "yahtzee", "chance",
)
#: All boxes, in the order of the card.
BOXES: Tuple[Box, ...] = UPPER + LOWER
#: The bonus for 63 points in the upper boxes, and for five alike once the Yahtzee box holds 50.
UPPER_BONUS, YAHTZEE_BONUS = 35, 100

Boxes = Mapping[Box, Optional[int]]


class KeepQuestion(TypedDict):
    """Which dice to keep; ``roll`` is 1 or 2."""

    ask: Literal["keep"]
    roll: int
    dice: List[int]


class ScoreQuestion(TypedDict):
    """Which box to fill."""

    ask: Literal["score"]
    dice: List[int]


class KeepAnswer(TypedDict):
    """The dice to keep: five truth values by place, or the values of the dice."""

    keep: Union[List[bool], List[int]]


class _Score(TypedDict):
    score: Box


class ScoreAnswer(_Score, total=False):
    """The box to fill; ``dice`` and ``points`` are refused if wrong, so leave them out."""

    dice: List[int]
    points: int


class Card(TypedDict):
    """One player's card; a box that is ``None`` is empty."""

    boxes: Dict[Box, Optional[int]]
    upper: int
    upper_bonus: int
    yahtzee_bonuses: int
    total: int


class Scored(TypedDict):
    """A box that was filled in a turn; ``bonus`` is 100 for a Yahtzee bonus, else 0."""

    box: Box
    points: int
    bonus: int


class Play(TypedDict):
    """What one seat did in one turn."""

    rolls: List[List[int]]
    kept: List[List[bool]]
    scored: Optional[Scored]


class View(TypedDict):
    """The game as one seat may see it; in public views ``seat`` is ``None``.

    ``history`` is empty after the first request of a match, unless the bot has ``history = True``.
    """

    seat: Optional[int]
    dice: Literal["duplicate", "independent"]
    rule: Rule
    turn: int
    cards: List[Card]
    history: List[List[Play]]
    now: List[Optional[Play]]
    unfinished: List[int]
    removed: List[int]


Question = Union[KeepQuestion, ScoreQuestion]
Answer = Union[KeepAnswer, ScoreAnswer]


class Player(Protocol):
    """What a bot for Yahtzee has."""

    def keep(self, question: KeepQuestion, view: View, match: Match) -> KeepAnswer:
        """Chooses the dice to keep."""

    def score(self, question: ScoreQuestion, view: View, match: Match) -> ScoreAnswer:
        """Chooses the box to fill."""


def own_card(view: View) -> Card:
    """The viewer's own card."""
    return view["cards"][view["seat"] or 0]


def points(dice: Sequence[int], box: Box) -> int:
    """What five dice are worth in a box, jokers aside."""
    counts = [dice.count(value) for value in range(1, 7)]
    most, total = max(counts), sum(dice)
    if box in UPPER:
        value = UPPER.index(box) + 1
        return value * counts[value - 1]
    if box == "three-of-a-kind":
        return total if most >= 3 else 0
    if box == "four-of-a-kind":
        return total if most >= 4 else 0
    if box == "full-house":
        return 25 if most == 3 and 2 in counts else 0
    if box == "small-straight":
        return 30 if _longest_run(counts) >= 4 else 0
    if box == "large-straight":
        return 40 if _longest_run(counts) >= 5 else 0
    if box == "yahtzee":
        return 50 if most == 5 else 0
    return total


def worth(
    boxes: Boxes, dice: Sequence[int], box: Box, rule: Rule = "tournament"
) -> Tuple[int, int]:
    """What the dice get in an empty box of this card: its points, and a Yahtzee bonus or 0."""
    if len(set(dice)) != 1:
        return points(dice, box), 0
    yahtzee = boxes["yahtzee"]
    bonus = YAHTZEE_BONUS if yahtzee == 50 else 0
    counts = bonus > 0 or (rule != "tournament" and yahtzee is not None)
    joker = counts and boxes[UPPER[dice[0] - 1]] is not None
    full = {"full-house": 25, "small-straight": 30, "large-straight": 40}
    return (full[box] if joker and box in full else points(dice, box)), bonus


def open_boxes(boxes: Boxes, dice: Sequence[int], rule: Rule = "tournament") -> List[Box]:
    """The boxes these dice may go into, in the order of the card."""
    empty = [box for box in BOXES if boxes[box] is None]
    if rule != "forced-joker" or len(set(dice)) != 1 or boxes["yahtzee"] is None:
        return empty
    own = UPPER[dice[0] - 1]
    if own in empty:
        return [own]
    return [box for box in empty if box in LOWER] or empty


def upper_bonus(boxes: Boxes) -> int:
    """35 if the upper boxes hold 63 points or more, else 0."""
    return UPPER_BONUS if sum(boxes[box] or 0 for box in UPPER) >= 63 else 0


def total(boxes: Boxes, yahtzee_bonuses: int = 0) -> int:
    """The grand total of a card."""
    filled = sum(boxes[box] or 0 for box in BOXES)
    return filled + upper_bonus(boxes) + YAHTZEE_BONUS * yahtzee_bonuses


def legal(question: Question, view: View) -> List[Answer]:
    """Every answer that breaks no rule. Keepers are given by place: 32 of them."""
    answers: List[Answer] = []
    if question["ask"] == "keep":
        for flags in product((False, True), repeat=5):
            answers.append({"keep": list(flags)})
        return answers
    boxes = own_card(view)["boxes"]
    for box in open_boxes(boxes, question["dice"], view["rule"]):
        answers.append({"score": box})
    return answers


def _longest_run(counts: Sequence[int]) -> int:
    longest = run = 0
    for count in counts:
        run = run + 1 if count else 0
        longest = max(longest, run)
    return longest
