"""The HTTP interface of a server: what everybody may see, one's own account, and operating it.

``docs/protocol/http.md`` is the contract. Answers are its JSON as it came. What goes wrong is an
``ApiError``; a server that does not answer is an ``Unreachable``.
"""

from __future__ import annotations

import http.client
import json
import random
import socket
import ssl
import time
import urllib.error
import urllib.request
from typing import Any, Dict, Iterator, List, Mapping, Optional
from urllib.parse import quote, urlencode

from .errors import ApiError, Unreachable
from .sse import Event, events

#: How long a watcher waits before it comes back: the first time, and at most.
BACK_OFF_S = (0.1, 5.0)
#: The longest answer that is read.
BODY_BYTES_MAX = 256 * 1024 * 1024

Json = Dict[str, Any]


class Api:
    """One server, and optionally the token of an account there.

    Commas separate the addresses of several nodes. A request goes to the next node if its own does
    not accept a connection; nothing that may have arrived is sent twice.
    """

    def __init__(
        self,
        server: str = "http://127.0.0.1:7380",
        token: Optional[str] = None,
        *,
        timeout_s: float = 30.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._bases = [node.rstrip("/").removesuffix("/api/v1") for node in server.split(",")]
        self._node = 0
        self.token = token
        self._timeout_s = timeout_s
        self._ssl_context = ssl_context

    # Accounts and sessions.

    def register(self, account: str, password: str) -> Json:
        """Makes an account."""
        return self._json("POST", "/accounts", {"account": account, "password": password})

    def log_in(self, account: str, password: str) -> str:
        """Logs in; the token is kept for what follows, and given."""
        session = self._json("POST", "/sessions", {"account": account, "password": password})
        self.token = str(session["token"])
        return self.token

    def log_out(self) -> None:
        """Revokes the token."""
        self.call("DELETE", "/sessions")
        self.token = None

    def change_password(self, old: str, new: str) -> None:
        """Changes the password of the token's account."""
        self.call("PUT", "/accounts/me/password", {"old": old, "new": new})

    def accounts(self) -> Iterator[Json]:
        """All accounts, by name."""
        return self._pages("/accounts", "accounts")

    def account(self, name: str) -> Json:
        """An account and its statistics."""
        return self._json("GET", f"/accounts/{_quoted(name)}")

    # Queues and tournaments.

    def queue(self, name: str) -> List[str]:
        """Who waits in a queue, in order."""
        return list(self._json("GET", f"/queues/{_quoted(name)}")["players"])

    def enqueue(self, name: str) -> List[str]:
        """Waits in a queue once more; gives who waits there."""
        return list(self._json("POST", f"/queues/{_quoted(name)}")["players"])

    def dequeue(self, name: str) -> List[str]:
        """Waits in a queue once less; gives who waits there."""
        return list(self._json("DELETE", f"/queues/{_quoted(name)}")["players"])

    def tournaments(self) -> Iterator[Json]:
        """All tournaments, by name."""
        return self._pages("/tournaments", "tournaments")

    def tournament(self, id: str) -> Json:
        """A tournament: its plan, and from its start on its pairings and results."""
        return self._json("GET", f"/tournaments/{_quoted(id)}")

    def standings(self, id: str) -> List[Json]:
        """The standings of a tournament so far."""
        return list(self.tournament(id).get("results", {}).get("standings", []))

    def sign_up(self, id: str, age: Optional[int] = None) -> None:
        """Signs up for a tournament that is open. The age orders players in games that go by it."""
        body = None if age is None else {"age": age}
        self.call("POST", f"/tournaments/{_quoted(id)}/signups", body)

    def withdraw(self, id: str) -> None:
        """Takes a sign-up back, or leaves a tournament that runs."""
        self.call("DELETE", f"/tournaments/{_quoted(id)}/signups")

    def log(self, id: str, match: Optional[str] = None) -> List[Json]:
        """The log of a tournament or a match that is over."""
        text = self._text("GET", f"{_path(id, match)}/log")
        return [json.loads(line) for line in text.splitlines()]

    def match(self, id: str, match: str) -> Json:
        """A match: what players are shown of it, and the public view of its game."""
        return self._json("GET", _path(id, match))

    def watch(
        self, id: str, match: Optional[str] = None, *, patience_s: float = 300.0
    ) -> Iterator[Event]:
        """A tournament or a match as it goes on, until its end.

        Comes back by itself when the connection is lost, for as long as patience lasts; nothing
        is given twice.
        """
        seen: Optional[str] = None
        attempts = 0
        failing = time.monotonic()
        while True:
            try:
                for event in self._watch_once(_path(id, match), seen):
                    seen = event.id or seen
                    yield event
                    if event.name == "end":
                        return
                    failing, attempts = time.monotonic(), 0
            except _Ended:
                return
            except ApiError as error:
                if error.status != 503:
                    raise
            except Unreachable:
                if seen is None:
                    raise
            if time.monotonic() - failing > patience_s:
                raise Unreachable(f"{self._base}: nothing was seen for {patience_s} s")
            first, longest = BACK_OFF_S
            time.sleep(min(first * 2 ** min(attempts, 16), longest) * random.uniform(0.5, 1.0))
            attempts += 1

    # Statistics.

    def statistics(self, player: str) -> Json:
        """What a player did in all its tournaments."""
        return self._json("GET", f"/statistics/{_quoted(player)}")

    def ladder(self, game: str) -> List[Json]:
        """The players of a game by rating."""
        return list(self._json("GET", f"/ladders/{_quoted(game)}")["players"])

    # For operators.

    def create_tournament(
        self,
        id: str,
        *,
        selection: Mapping[str, Any],
        preset: Optional[str] = None,
        game: Optional[str] = None,
        config: Optional[Mapping[str, Any]] = None,
        policy: Optional[Mapping[str, Any]] = None,
    ) -> Json:
        """Announces a tournament; all but sign-ups start at once."""
        wanted = {"preset": preset, "game": game, "config": config, "policy": policy}
        body: Json = {"id": id, "selection": selection}
        body.update((field, value) for field, value in wanted.items() if value is not None)
        return self._json("POST", "/tournaments", body)

    def is_healthy(self) -> bool:
        """Whether the server says it is well."""
        try:
            answer = json.loads(self._request("GET", "/healthz"))
        except (ApiError, Unreachable, ValueError):
            return False
        return isinstance(answer, dict) and answer.get("status") == "ok"

    def metrics(self) -> Dict[str, float]:
        """The server's counters and gauges, by name and labels."""
        text = self._request("GET", "/metrics").decode()
        samples = (line.rpartition(" ") for line in text.splitlines() if line and line[0] != "#")
        return {name: float(value) for name, _, value in samples}

    # Everything else.

    def call(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        """Any route under ``/api/v1``: its JSON, or ``None`` where there is none."""
        text = self._text(method, path, body)
        return json.loads(text) if text else None

    def _json(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Json:
        answer = self.call(method, path, body)
        if not isinstance(answer, dict):
            raise ApiError(200, "not-json", f"{path} answered with something else", None)
        return answer

    def _pages(self, path: str, field: str) -> Iterator[Json]:
        after: Optional[str] = None
        while True:
            query = {"limit": "1000"}
            if after is not None:
                query["after"] = after
            page = self._json("GET", f"{path}?{urlencode(query)}")
            yield from page[field]
            after = page.get("next")
            if after is None:
                return

    def _text(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> str:
        return self._request(method, f"/api/v1{path}", body).decode("utf-8")

    def _request(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> bytes:
        with self._open(method, path, body) as response:
            try:
                data = response.read(BODY_BYTES_MAX + 1)
            except (OSError, http.client.HTTPException) as error:
                raise self._lost(path, error) from error
        if len(data) > BODY_BYTES_MAX:
            raise ApiError(response.status, "too-large", f"{path} has no end", None)
        return bytes(data)

    @property
    def _base(self) -> str:
        """The address of the current node."""
        return self._bases[self._node % len(self._bases)]

    def _lost(self, path: str, error: BaseException) -> Unreachable:
        """The error of a node that cannot be reached. Later requests go to the next node."""
        lost = Unreachable(f"{self._base}{path}: {error}")
        self._node += 1
        return lost

    def _open(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> http.client.HTTPResponse:
        for _ in self._bases[1:]:
            try:
                return self._open_once(method, path, body, headers)
            except Unreachable as lost:
                if not _is_unsent(lost.__cause__):
                    raise
        return self._open_once(method, path, body, headers)

    def _open_once(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]],
        headers: Optional[Mapping[str, str]],
    ) -> http.client.HTTPResponse:
        url = f"{self._base}{path}"
        request = urllib.request.Request(url, method=method, headers=dict(headers or {}))
        if self.token is not None:
            # Not to be repeated to wherever the server may redirect to.
            request.add_unredirected_header("authorization", f"Bearer {self.token}")
        if body is not None:
            request.data = json.dumps(body, allow_nan=False).encode()
            request.add_header("content-type", "application/json")
        try:
            response: http.client.HTTPResponse = urllib.request.urlopen(
                request, timeout=self._timeout_s, context=self._ssl_context
            )
            return response
        except urllib.error.HTTPError as error:
            with error:
                raise _problem(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._lost(path, error) from error

    def _watch_once(self, path: str, seen: Optional[str]) -> Iterator[Event]:
        headers = {"accept": "text/event-stream"}
        if seen is not None:
            headers["last-event-id"] = seen
        with self._open("GET", f"/api/v1{path}/events", headers=headers) as response:
            if response.status == 204:
                raise _Ended
            try:
                yield from events(response)
            except (OSError, http.client.HTTPException) as error:
                self._lost(path, error)
                return


class _Ended(Exception):
    """There is nothing more to watch."""


def _is_unsent(cause: Optional[BaseException]) -> bool:
    """Whether no connection was opened, so that nothing can have been sent."""
    reason = getattr(cause, "reason", cause)
    return isinstance(reason, (ConnectionRefusedError, socket.gaierror))


def _path(id: str, match: Optional[str]) -> str:
    path = f"/tournaments/{_quoted(id)}"
    return path if match is None else f"{path}/matches/{_quoted(match)}"


def _quoted(name: str) -> str:
    return quote(name, safe=":")


def _problem(error: urllib.error.HTTPError) -> ApiError:
    try:
        problem = json.loads(error.read(64 * 1024))
        kind, detail = str(problem["type"]), str(problem["detail"])
        if "hint" in problem:
            detail = f"{detail} ({problem['hint']})"
    except (ValueError, KeyError, TypeError, OSError):
        kind, detail = "unknown", str(error.reason)
    wait = error.headers.get("retry-after", "") if error.headers else ""
    retry_after_s = float(wait) if wait.isdigit() else None
    return ApiError(error.code, kind.rpartition(":")[2], detail, retry_after_s)
