"""Players for the Trains wire: hold-10, buy-now, cheat, and those that hang in one call."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from values import Client, Manners  # noqa: E402

COLOURS = ("red", "blue", "green", "white")

# The memo's names for the same calls.
MEMO = {"beginTournament": "start", "endTournament": "end"}


def connections_of(board):
    """All connections, by pair, then length, then colour."""
    found = []
    for first, others in board["connections"].items():
        for second, colours in others.items():
            for colour, length in colours.items():
                found.append([*sorted((first, second)), colour, length])
    return sorted(found, key=lambda c: (c[0], c[1], c[3], c[2]))


def affordable(board, state):
    own = state["this"]
    held = own["acquired"] + [one for other in state["acquired"] for one in other]
    for connection in connections_of(board):
        _, _, colour, length = connection
        enough = own["cards"].get(colour, 0) >= length and own["rails"] >= length
        if enough and connection not in held:
            return connection
    return None


def not_on_map(board):
    """A connection between two cities of the map that it does not have."""
    names = sorted(city[0] for city in board["cities"])
    there = connections_of(board)
    for first in names:
        for second in names:
            for colour in COLOURS:
                for length in (3, 4, 5):
                    connection = [first, second, colour, length]
                    if first < second and connection not in there:
                        return connection
    raise SystemExit("the map has every connection there can be")


class Player:
    """One player. `strategy` is Hold-10, Buy-Now, Cheat, or player-bad-CALL: it hangs there."""

    def __init__(self, address, name, strategy, board, manners=None, transcript=None):
        if strategy.startswith("player-bad-"):
            call = strategy.removeprefix("player-bad-")
            manners = Manners("plain", "play:4" if call == "play" else call, "hang")
        self.name, self.strategy, self.proposal = name, strategy, board
        self.client = Client(address, manners, transcript)
        self.board, self.won, self.turns = None, None, 0

    def sign_up(self):
        self.client.send(self.name)

    def play(self):
        try:
            while (call := self.client.read()) is not None:
                name, arguments = call
                if not self.client.misbehaves(name):
                    self.client.send(self.answer(name, arguments))
        except OSError:
            pass
        self.client.close()

    def answer(self, name, arguments):
        call = MEMO.get(name, name)
        if call == "start":
            return self.proposal if call == name else "void"
        if call == "setup":
            self.board, self.turns = arguments[0], 0
        elif call == "pick":
            offered = sorted(arguments[0])
            return offered[2:] if self.strategy == "Hold-10" else offered[:3]
        elif call == "play":
            self.turns += 1
            return self.turn(arguments[0])
        elif call == "end":
            self.won = arguments[0]
        return "void"

    def turn(self, state):
        if self.strategy == "Cheat" and self.turns == 1:
            return not_on_map(self.board)
        cards = sum(state["this"]["cards"].values())
        if self.strategy == "Hold-10" and cards <= 10:
            return self.more_cards()
        return affordable(self.board, state) or self.more_cards()

    def more_cards(self):
        return "more cards" if self.proposal is not None else "more_cards"


__all__ = ["Manners", "Player"]
