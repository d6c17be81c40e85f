"""Fish over the message vocabulary: proxies that turn JSON messages into calls on a local player.

The server of that system talks to ``{"type": …, "value": …}`` messages. ``ProxyTournamentManager``
and ``ProxyReferee`` stand for its two halves on the client's side: they take messages, call the
player, and give back the messages to send. ``play`` connects a player to a server through both;
``observe`` watches games. See docs/protocol/fish.md.
"""

from __future__ import annotations

import json
import socket
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, TypedDict, Union

from .errors import Lost, ProtocolError
from .fish import Color, Position

#: A message in either direction.
Message = Dict[str, Any]
#: From where to where, or ``"Skip"`` for a player who cannot move.
Action = Union[Sequence[Sequence[int]], str]

#: The longest message that is read.
MESSAGE_CHARS_MAX = 4 * 1024 * 1024


class WirePlayer(TypedDict):
    """One player of a state."""

    name: str
    places: List[List[int]]
    color: Color


class State(TypedDict):
    """A position. The player whose turn it is comes first. The functions of ``agon.fish`` read it:
    ``fish.placements(state)``, ``fish.moves(state, 0)``."""

    board: List[List[int]]
    players: List[WirePlayer]


class GameResult(TypedDict):
    """How a game ended, by names."""

    winners: List[str]
    losers: List[str]
    kicked_players: List[str]
    state: State


class FishPlayer:
    """A local player. ``place`` and ``move`` have to be written; the rest does nothing by default."""

    def signed_up(self, in_tournament: bool) -> None:
        """The sign-up was read: for the next tournament, or for the waiting list."""

    def ready(self) -> bool:
        """A tournament starts; ``False`` leaves it."""
        return True

    def assign_color(self, color: Color) -> None:
        """A game begins, and this is the player's colour."""

    def place(self, state: State) -> Sequence[int]:
        """Chooses a tile for a penguin: ``(row, column)``."""
        raise NotImplementedError

    def move(self, state: State) -> Sequence[Sequence[int]]:
        """Chooses a move: ``(from, to)``. The player's own penguins are ``state["players"][0]``."""
        raise NotImplementedError

    def state_changed(self, state: State) -> None:
        """A penguin was placed, the game starts, or a player was kicked."""

    def action_taken(self, action: Action, state: State) -> None:
        """A player moved or was skipped; ``state`` is the position afterwards."""

    def game_over(self, result: GameResult) -> None:
        """A game is over."""

    def tournament_over(self, won: bool) -> bool:
        """The tournament is over. A winner that does not accept it with ``True`` has lost."""
        return True


class ProxyTournamentManager:
    """The tournament manager as its player sees it: sign-up, start and end."""

    def __init__(self, player: FishPlayer) -> None:
        self.player = player
        #: True if the player won, once the tournament is over.
        self.won: Optional[bool] = None

    @staticmethod
    def sign_up(name: str) -> Message:
        """The first message of a connection."""
        return {"type": "signup_request", "value": name}

    def hear(self, message: Message) -> Optional[List[Message]]:
        """The replies to a message; ``None`` if the message is for the referee."""
        kind, value = message["type"], message["value"]
        if kind == "signup_confirmation":
            self.player.signed_up(value)
            return []
        if kind == "tournament_start":
            return [{"type": "tournament_ready", "value": self.player.ready()}]
        if kind == "tournament_end":
            self.won = value
            accepted = self.player.tournament_over(value)
            return [{"type": "tournament_end_response", "value": accepted}]
        return None


class ProxyReferee:
    """The referee as its player sees it. It keeps the position, because a request to move does not
    repeat it."""

    def __init__(self, player: FishPlayer) -> None:
        self.player = player
        #: The position, from the player to act, once one was broadcast.
        self.state: Optional[State] = None

    def hear(self, message: Message) -> Optional[List[Message]]:
        """The replies to a message; ``None`` if the message is for somebody else."""
        kind, value = message["type"], message["value"]
        if kind == "player_assign_color":
            self.state = None
            self.player.assign_color(value)
        elif kind == "player_request_placement":
            place = list(self.player.place(value))
            return [{"type": "player_respond_placement", "value": place}]
        elif kind == "player_request_move":
            move = [list(end) for end in self.player.move(self._known())]
            return [{"type": "player_respond_move", "value": move}]
        elif kind == "broadcast_state":
            self.state = value
            self.player.state_changed(value)
        elif kind == "broadcast_action":
            self.state = after(self._known(), value)
            self.player.action_taken(value, self.state)
        elif kind == "broadcast_game_over":
            self.state = None
            self.player.game_over(value)
        else:
            return None
        return []

    def _known(self) -> State:
        if self.state is None:
            raise ProtocolError("the server sent a move before it sent a position")
        return self.state


def after(state: State, action: Action) -> State:
    """The position after the first player acted: they go to the end, their tile is removed."""
    board = [list(row) for row in state["board"]]
    first, others = state["players"][0], list(state["players"][1:])
    places = [list(place) for place in first["places"]]
    if not isinstance(action, str):
        start, end = list(action[0]), list(action[1])
        places[places.index(start)] = end
        board[start[0]][start[1]] = 0
    moved: WirePlayer = {"name": first["name"], "places": places, "color": first["color"]}
    return {"board": board, "players": [*others, moved]}


def play(
    player: FishPlayer, server: str, name: str, timeout_s: Optional[float] = None
) -> Optional[bool]:
    """Plays one tournament at ``HOST:PORT``. Returns whether the player won; ``None`` if it was
    kicked or the server went away. ``timeout_s`` limits the silence of the server."""
    manager, referee = ProxyTournamentManager(player), ProxyReferee(player)
    with _connected(server, timeout_s) as stream:
        _send(stream, manager.sign_up(name))
        for message in _messages(stream):
            replies = manager.hear(message)
            if replies is None:
                replies = referee.hear(message)
            # Messages of a later version that need no reply are ignored.
            for reply in replies or []:
                _send(stream, reply)
    return manager.won


def observe(
    server: str,
    watch: Callable[[Message], bool],
    player: Optional[str] = None,
    timeout_s: Optional[float] = None,
) -> None:
    """Watches games at ``HOST:PORT``, one at a time; those of one player if it is named. Calls
    ``watch`` with every message until it returns ``False`` or the server closes the connection."""
    with _connected(server, timeout_s) as stream:
        value: Union[bool, str] = True if player is None else player
        _send(stream, {"type": "observer_request", "value": value})
        for message in _messages(stream):
            if not watch(message):
                return


def _connected(server: str, timeout_s: Optional[float]) -> socket.socket:
    host, _, port = server.rpartition(":")
    try:
        stream = socket.create_connection((host, int(port)), timeout=timeout_s)
    except OSError as error:
        raise Lost(f"failed to connect to {server}: {error}") from error
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def _send(stream: socket.socket, message: Message) -> None:
    try:
        stream.sendall(json.dumps(message, separators=(",", ":")).encode("utf-8"))
    except OSError as error:
        raise Lost(f"the connection was lost: {error}") from error


def _messages(stream: socket.socket) -> Iterator[Message]:
    """The messages of a stream. Nothing is between them, so each ends where its object does."""
    decoder, text, rest = json.JSONDecoder(), "", b""
    while True:
        value, text = _first(decoder, text)
        if value is not None:
            yield value
            continue
        if len(text) > MESSAGE_CHARS_MAX:
            raise ProtocolError("the server sent a message that is too long")
        try:
            piece = stream.recv(65536)
        except socket.timeout as error:
            raise Lost("the server was silent for too long") from error
        except OSError:
            return
        if not piece:
            return
        more, rest = _decoded(rest + piece)
        text += more


def _first(decoder: json.JSONDecoder, text: str) -> Tuple[Optional[Message], str]:
    text = text.lstrip()
    if not text:
        return None, text
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError:
        return None, text
    if not isinstance(value, dict) or "type" not in value or "value" not in value:
        raise ProtocolError(f"the server sent no message: {text[:80]}")
    return value, text[end:]


def _decoded(data: bytes) -> Tuple[str, bytes]:
    """The text of whole characters, and the bytes of one that is cut off."""
    for cut in range(min(4, len(data) + 1)):
        end = len(data) - cut
        try:
            return data[:end].decode("utf-8"), data[end:]
        except UnicodeDecodeError:
            continue
    raise ProtocolError("the server sent something that is not UTF-8")


__all__ = [
    "Action",
    "Color",
    "FishPlayer",
    "GameResult",
    "Message",
    "Position",
    "ProxyReferee",
    "ProxyTournamentManager",
    "State",
    "WirePlayer",
    "after",
    "observe",
    "play",
]
