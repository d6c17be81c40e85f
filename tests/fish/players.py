"""Players for the Fish wires: the first free tile, then greedily, in both vocabularies."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from values import Client, Manners  # noqa: E402


def neighbour(row, column, direction):
    odd = row % 2
    steps = {
        "N": (-2, 0), "NE": (-1, odd), "SE": (1, odd),
        "S": (2, 0), "SW": (1, odd - 1), "NW": (-1, odd - 1),
    }
    down, right = steps[direction]
    return row + down, column + right


def fish_at(board, row, column):
    if 0 <= row < len(board) and 0 <= column < len(board[row]):
        return board[row][column]
    return 0


def first_free(board, taken):
    for row, tiles in enumerate(board):
        for column, fish in enumerate(tiles):
            if fish and (row, column) not in taken:
                return [row, column]
    raise SystemExit("asked to place where nothing is free")


def greedy(board, own, taken):
    """The move that leaves most fish, ties to the lowest from-row, from-column, to-row, to-column."""
    best = None
    for row, column in own:
        for direction in ("N", "NE", "SE", "S", "SW", "NW"):
            at = neighbour(row, column, direction)
            while fish_at(board, *at) and at not in taken:
                move = [[row, column], list(at)]
                rank = (-fish_at(board, row, column), move)
                best = rank if best is None or rank < best else best
                at = neighbour(*at, direction)
    if best is None:
        raise SystemExit("asked to move where nothing can")
    return best[1]


class Player:
    """One player; counts what it was asked."""

    def __init__(self, address, name, manners=None, transcript=None):
        self.name = name
        self.client = Client(address, manners, transcript)
        self.won = None
        self.asked = {"placements": 0, "moves": 0}

    def place(self, board, taken):
        self.asked["placements"] += 1
        return first_free(board, taken)

    def move(self, board, own, taken):
        self.asked["moves"] += 1
        return greedy(board, own, taken)


class CallPlayer(Player):
    """`["setup",[State]]` and so on, answered by a value."""

    def sign_up(self):
        self.client.send(self.name)

    def play(self):
        try:
            while (call := self.client.read()) is not None:
                name, arguments = call
                if self.client.misbehaves(name):
                    continue
                self.client.send(self.answer(name, arguments))
        except OSError:
            pass
        self.client.close()

    def answer(self, name, arguments):
        if name == "setup":
            state = arguments[0]
            return self.place(state["board"], taken_in(state))
        if name == "take-turn":
            state = arguments[0]
            own = [tuple(place) for place in state["players"][0]["places"]]
            return self.move(state["board"], own, taken_in(state))
        if name == "end":
            self.won = arguments[0]
        return "void"


class MessagePlayer(Player):
    """`{"type":…,"value":…}` both ways; keeps the board from what is broadcast."""

    replies = {
        "tournament_start": "tournament_ready",
        "player_request_placement": "player_respond_placement",
        "player_request_move": "player_respond_move",
        "tournament_end": "tournament_end_response",
    }

    def sign_up(self):
        self.client.send({"type": "signup_request", "value": self.name})

    def play(self):
        self.state, self.confirmed, self.results = None, None, []
        try:
            while (message := self.client.read()) is not None:
                kind, value = message["type"], message["value"]
                answer = self.hear(kind, value)
                if kind in self.replies and not self.client.misbehaves(kind):
                    self.client.send({"type": self.replies[kind], "value": answer})
        except OSError:
            pass
        self.client.close()

    def hear(self, kind, value):
        if kind == "signup_confirmation":
            self.confirmed = value
        elif kind == "player_request_placement":
            return self.place(value["board"], taken_in(value))
        elif kind == "broadcast_state":
            self.state = value
        elif kind == "broadcast_action":
            self.follow(value)
        elif kind == "player_request_move":
            first = self.state["players"][0]
            if first["name"] != self.name:
                raise SystemExit(f"{self.name} is asked on the turn of {first['name']}")
            own = [tuple(place) for place in first["places"]]
            return self.move(self.state["board"], own, taken_in(self.state))
        elif kind == "broadcast_game_over":
            self.results.append(value)
        elif kind == "tournament_end":
            self.won = value
        return True

    def follow(self, action):
        """Every action is the turn of the first, who then goes to the end."""
        players = self.state["players"]
        if action != "Skip":
            start, target = action
            places = players[0]["places"]
            places[places.index(start)] = target
            self.state["board"][start[0]][start[1]] = 0
        players.append(players.pop(0))


def taken_in(state):
    return {tuple(place) for player in state["players"] for place in player["places"]}


KINDS = {"call": CallPlayer, "message": MessagePlayer}
__all__ = ["KINDS", "CallPlayer", "Manners", "MessagePlayer", "Player"]
