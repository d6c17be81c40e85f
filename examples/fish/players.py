"""Players for the Fish wires, in both vocabularies: the first free tile, then a search."""

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


def moves_of(board, players):
    """All moves of the first player, the lowest from-row, from-column, to-row, to-column first."""
    taken = {place for places in players for place in places}
    found = []
    for start in players[0]:
        for direction in ("N", "NE", "SE", "S", "SW", "NW"):
            at = neighbour(*start, direction)
            while fish_at(board, *at) and at not in taken:
                found.append((start, at))
                at = neighbour(*at, direction)
    return sorted(found)


def after(board, players, move):
    """The board and the players after a move, the next player first; and the fish it got."""
    start, target = move
    got = board[start[0]][start[1]]
    board = [list(row) for row in board]
    board[start[0]][start[1]] = 0
    moved = [target if place == start else place for place in players[0]]
    return board, players[1:] + [moved], got


def value(board, players, own, depth, at_least, at_most):
    """What the player `own` turns away gets with its next `depth` moves, others against it."""
    for _ in players:
        moves = moves_of(board, players)
        if moves or depth == 0:
            break
        players, own = players[1:] + players[:1], (own - 1) % len(players)
    if depth == 0 or not moves:
        return 0
    best = None
    for move in moves:
        next_board, next_players, got = after(board, players, move)
        mine = own == 0
        gain, left = (got, depth - 1) if mine else (0, depth)
        turn = (own - 1) % len(players)
        found = gain + value(
            next_board, next_players, turn, left, at_least - gain, at_most - gain
        )
        if best is None or (found > best if mine else found < best):
            best = found
        if mine:
            at_least = max(at_least, best)
        else:
            at_most = min(at_most, best)
        if at_least >= at_most:
            break
    return best


def best_move(board, players, depth):
    """The first of the moves of players[0] that are worth most `depth` own moves on."""
    best = None
    for move in moves_of(board, players):
        next_board, next_players, got = after(board, players, move)
        floor = -1 if best is None else best[0] - got
        found = got + value(
            next_board, next_players, len(players) - 1, depth - 1, floor, 10**9
        )
        if best is None or found > best[0]:
            best = (found, move)
    if best is None:
        raise SystemExit("asked to move where nothing can")
    return [list(place) for place in best[1]]


class Player:
    """One player; counts what it was asked."""

    def __init__(self, address, name, manners=None, transcript=None, depth=1):
        self.name, self.depth = name, depth
        self.client = Client(address, manners, transcript)
        self.won = None
        self.asked = {"placements": 0, "moves": 0}

    def place(self, board, taken):
        self.asked["placements"] += 1
        return first_free(board, taken)

    def move(self, state):
        self.asked["moves"] += 1
        players = [[tuple(place) for place in one["places"]] for one in state["players"]]
        return best_move(state["board"], players, self.depth)


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
            return self.move(arguments[0])
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
            return self.move(self.state)
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
