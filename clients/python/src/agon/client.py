"""A bot on a server: logs in, waits, plays, and reconnects when the connection is lost.

One thread does everything, in order. Each request is answered once: what was answered over a lost
connection is sent again over the next, and the bot is not asked twice.
"""

from __future__ import annotations

import json
import logging
import random
import secrets
import ssl
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Set, Tuple

from .bot import Asker, Bot, encode
from .errors import Lost, ProtocolError, Refused, Unreachable
from .messages import PROTOCOL
from .receipt import Receipt
from .transport import Transport, connect, nodes

#: The first wait before coming back, and the longest. Half of each is left to chance.
BACK_OFF_S = (0.05, 5.0)
#: After this much silence a sign of life is asked for, and then waited for.
QUIET_S_MAX, PONG_S_MAX = 20.0, 20.0
#: How long a login may take.
LOGIN_S_MAX = 60.0
#: How long one of several nodes may take for its first message, before the next one is tried.
FIRST_MESSAGE_S_MAX = 3.0
#: How many answers are kept to be sent again.
ANSWERS_MAX = 1024
#: Wishes that are sent again if they may have been lost; the server asks for others again.
KEPT = ("enqueue", "sign-up")

log = logging.getLogger("agon")


@dataclass(frozen=True)
class Result:
    """How a tournament went. ``won`` is ``None`` if it ended while the connection was lost."""

    tournament: str
    won: Optional[bool]


@dataclass
class _Wish:
    """A place in a queue, a sign-up, or the reply to an invitation."""

    message: Dict[str, Any]
    #: True if a refusal ends everything: it does for the first wish of its kind.
    needed: bool
    #: In how many things the player was involved when it was sent.
    involved: int = 0


class Client:
    """One account on one server. ``run`` does everything; ``results`` grows meanwhile."""

    def __init__(
        self,
        bot: Bot,
        server: str = "tcp://127.0.0.1:7300",
        *,
        account: Optional[str] = None,
        password: Optional[str] = None,
        token: Optional[str] = None,
        register: bool = False,
        person: bool = False,
        queue: Optional[str] = None,
        sign_up: Optional[str] = None,
        age: Optional[int] = None,
        accept: bool = False,
        once: bool = False,
        patience_s: float = 300.0,
        ssl_context: Optional[ssl.SSLContext] = None,
        receipt: Optional[str] = None,
    ) -> None:
        if token is None and (account is None or password is None):
            raise ValueError("give an account and its password, or a token")
        #: The addresses of the server's nodes, and the place of the current one.
        self._nodes, self._node = nodes(server), 0
        self.results: List[Result] = []
        self.token = token
        self._asker = Asker(bot)
        self._server, self._ssl_context = server, ssl_context
        self._account, self._password, self._register = account, password, register
        self._person, self._accept = person, accept
        self._queue, self._sign_up, self._once = queue, sign_up, once
        self._age = age
        self._patience_s = patience_s
        self._receipt = None if receipt is None else Receipt(receipt)
        self._nonce: Optional[str] = None
        #: Tournaments that are over, of which the last word is still on its way.
        self._ending: Set[str] = set()
        self._transport: Optional[Transport] = None
        self._connection = 0
        #: Since when nobody answers, and how often was tried since.
        self._failing: Optional[float] = None
        self._attempts = 0
        self._welcome = self._greeted = False
        self._logins = 0
        self._by_token = False
        self._involved = 0
        self._wishes = self._all_wishes(needed=True)
        self._wished: Optional[_Wish] = None
        self._playing: Dict[str, None] = {}
        #: Tournaments that are over for this player; their names are not used again.
        self._left: Set[str] = set()
        #: Tournaments that were not heard of since the last login, and how many are to come.
        self._unheard: Dict[str, None] = {}
        self._announced = 0
        self._answers: "OrderedDict[str, Tuple[str, int]]" = OrderedDict()

    def run(self) -> List[Result]:
        """Plays until a tournament is over with ``once``, otherwise until it is interrupted."""
        try:
            while not self._is_over():
                try:
                    self._connect()
                    while not self._is_over():
                        self._hear()
                except Lost as lost:
                    self._hang_up()
                    self._ending.clear()
                    if self._receipt is not None and self._welcome:
                        self._receipt.lost()
                    self._back_off(lost)
        finally:
            self._say_goodbye()
            if self._receipt is not None:
                self._receipt.close()
        return self.results

    def _is_over(self) -> bool:
        return self._once and bool(self.results) and not self._playing and not self._ending

    def _all_wishes(self, needed: bool) -> List[_Wish]:
        wishes = []
        if self._queue is not None:
            wishes.append(_Wish({"type": "enqueue", "queue": self._queue}, needed))
        if self._sign_up is not None:
            message: Dict[str, Any] = {"type": "sign-up", "tournament": self._sign_up}
            if self._age is not None:
                message["age"] = self._age
            wishes.append(_Wish(message, needed))
        return wishes

    # Connections.

    def _connect(self) -> None:
        node = self._nodes[self._node % len(self._nodes)]
        self._transport = connect(node, self._ssl_context)
        self._connection += 1
        self._welcome = self._greeted = False
        hello = self._asker.hello()
        if self._receipt is not None:
            # The same over all connections, and nobody else's.
            self._nonce = hello.get("nonce") or self._nonce or secrets.token_hex(16)
            hello["nonce"] = self._nonce
        self._say(hello)
        self._log_in()

    def _log_in(self) -> None:
        self._by_token = self.token is not None
        if self.token is not None:
            return self._say({"type": "login", "token": self.token})
        login: Dict[str, Any] = {"type": "login", "account": self._account}
        login["password"] = self._password
        if self._register:
            login["register"] = True
        if self._register and self._person:
            login["kind"] = "person"
        self._say(login)

    def _back_off(self, lost: Lost) -> None:
        # The lost node may accept a connection without serving it, so the next one is first.
        self._node += 1
        now = time.monotonic()
        if self._failing is None:
            self._failing = now
        first, longest = BACK_OFF_S
        wait = min(first * 2 ** min(self._attempts, 16), longest)
        wait = max(wait * random.uniform(0.5, 1.0), lost.wait_s)
        self._attempts += 1
        if now + wait - self._failing > self._patience_s:
            raise Unreachable(f"{self._server}: {lost}") from lost
        log.info("%s; trying again in %.2f s", lost, wait)
        time.sleep(wait)

    def _hang_up(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def _say_goodbye(self) -> None:
        try:
            if self._transport is not None and self._welcome:
                self._say({"type": "logout"})
        except Lost:
            pass
        self._hang_up()

    def _say(self, message: Dict[str, Any]) -> None:
        self._send(encode(message))

    def _send(self, line: str) -> None:
        if self._transport is None:
            raise Lost("there is no connection")
        self._transport.send(line)

    # Messages.

    def _hear(self) -> None:
        """Waits for a message and does what it asks for."""
        assert self._transport is not None, "only called while connected"
        is_first = not self._greeted and len(self._nodes) > 1
        login_s = FIRST_MESSAGE_S_MAX if is_first else LOGIN_S_MAX
        line = self._transport.receive(QUIET_S_MAX if self._welcome else login_s)
        self._greeted = True
        if line is None:
            if not self._welcome:
                raise Lost("the server does not answer the login")
            self._say({"type": "ping"})
            line = self._transport.receive(PONG_S_MAX)
            if line is None:
                raise Lost("the server is silent")
        try:
            message = json.loads(line)
        except ValueError as error:
            raise ProtocolError(f"not a message: {error}") from error
        kind = message.get("type")
        if kind == "greeting" and message.get("protocol") != PROTOCOL:
            raise ProtocolError(f"the server speaks protocol {message.get('protocol')}")
        if kind == "welcome":
            self._welcomed(message)
        elif kind == "request":
            self._asked(message)
        elif kind == "notice":
            self._noticed(message)
        elif kind == "done":
            self._wish_done(message.get("what"))
        elif kind == "error":
            self._refused(message)

    def _welcomed(self, message: Dict[str, Any]) -> None:
        self._welcome, self._failing, self._attempts = True, None, 0
        self._logins += 1
        self.token = message.get("token") or self.token
        log.info("logged in as %s on %s", message.get("account"), self._server)
        if self._receipt is not None:
            self._receipt.hello(str(message.get("account")), self._nonce)
        active = int(message.get("active", 0))
        self._involved = active + int(message.get("waiting", 0))
        self._unheard, self._announced = dict(self._playing), active
        self._missed()
        if self._wished is not None:
            # It was sent over a connection that was lost: did it get there? Who is invited is
            # asked again.
            if self._involved <= self._wished.involved and self._wished.message["type"] in KEPT:
                self._wished.needed = False
                self._wishes.insert(0, self._wished)
            self._wished = None
        self._wish()

    def _asked(self, request: Dict[str, Any]) -> None:
        known = self._answers.pop(request["id"], None)
        if known is not None and known[1] < self._connection:
            line = known[0]
        else:
            line = self._asker.answer(request)
            if self._receipt is not None:
                self._receipt.answer(request["id"], json.loads(line)["answer"])
        self._answers[request["id"]] = (line, self._connection)
        if len(self._answers) > ANSWERS_MAX:
            self._answers.popitem(last=False)
        self._send(line)

    def _noticed(self, message: Dict[str, Any]) -> None:
        about, told = message.get("about"), message.get("data")
        data: Dict[str, Any] = told if isinstance(told, dict) else {}
        tournament = str(data.get("tournament", ""))
        if self._receipt is not None:
            self._note(str(about), tournament, data)
        if about == "tournament":
            if tournament not in self._left:
                self._playing[tournament] = None
            self._unheard.pop(tournament, None)
            self._announced -= 1
            self._missed()
        elif about == "tournament-over":
            # After a login also of one that was left before and goes on without this player.
            if tournament not in self._playing or tournament in self._unheard:
                self._announced -= 1
            if tournament not in self._playing and self._logins == 1:
                # It was left before this program began.
                self._left.add(tournament)
            self._ended(tournament, data.get("won"))
            self._missed()
        elif about == "invitation" and data.get("reply") == "open":
            self._invited("accept" if self._accept else None, tournament)
        elif about == "ready-asked":
            self._invited("ready" if self._accept else None, tournament)
        self._asker.tell(message)

    def _note(self, about: str, tournament: str, data: Dict[str, Any]) -> None:
        """Keeps what the server said in the receipt."""
        assert self._receipt is not None, "only called with a receipt"
        if about == "tournament-over" and data.get("head") is not None:
            self._ending.add(tournament)
        elif about == "tournament-ended":
            self._ending.discard(tournament)
            log.info("tournament %s: the head of its log is %s", tournament, data.get("head"))
        wrong = self._receipt.noticed(about, data)
        if wrong is not None:
            log.warning("%s; keep the receipt", wrong)

    def _invited(self, reply: Optional[str], tournament: str) -> None:
        """Says that it comes, if it accepts invitations."""
        if reply is not None:
            self._wishes.append(_Wish({"type": reply, "tournament": tournament}, needed=False))
            self._wish()

    def _missed(self) -> None:
        """What is not heard of again after a login has ended meanwhile."""
        if self._announced <= 0:
            for tournament in list(self._unheard):
                self._ended(tournament, None)

    def _ended(self, tournament: str, won: Optional[bool]) -> None:
        self._playing.pop(tournament, None)
        self._unheard.pop(tournament, None)
        if tournament in self._left:
            return
        self._left.add(tournament)
        self.results.append(Result(tournament, won))
        log.info("tournament %s: %s", tournament, "won" if won else "over")
        if not self._once and not self._wishes and self._wished is None:
            self._wishes = self._all_wishes(needed=False)
            self._wish()

    # Queues and sign-ups, one after the other.

    def _wish(self) -> None:
        if self._wished is None and self._wishes and self._welcome:
            self._wished = self._wishes.pop(0)
            self._wished.involved = self._involved
            self._say(self._wished.message)

    def _wish_done(self, what: object) -> None:
        if self._wished is not None and self._wished.message["type"] == what:
            self._wished = None
            self._involved += what != "ready"
            self._wish()

    def _refused(self, message: Dict[str, Any]) -> None:
        code, detail = str(message.get("code")), str(message.get("detail", ""))
        if self._receipt is not None and message.get("id") is not None:
            self._receipt.refused(str(message["id"]), code)
        if code == "wrong-credentials" and self._by_token and self._password is not None:
            self.token = None
            return self._log_in()
        if code in ("wrong-credentials", "taken-over"):
            raise Refused(code, detail)
        if code in ("slow-down", "logged-in-elsewhere", "busy", "failed") and not self._welcome:
            # Too many wrong passwords, or an old connection that is not yet missed.
            raise Lost(f"the server says {code}: {detail}", wait_s=1.0)
        about_wish = message.get("id") is None and code in ("refused", "malformed", "failed")
        if self._wished is not None and about_wish:
            wish, self._wished = self._wished, None
            if wish.needed:
                raise Refused(code, detail)
            log.warning("%s: %s", code, detail)
            return self._wish()
        if not self._welcome and code in ("malformed", "refused"):
            raise Refused(code, detail)
        log.warning("the server says %s: %s", code, detail)


def play(bot: Bot, server: str = "tcp://127.0.0.1:7300", **settings: Any) -> List[Result]:
    """Plays on a server. Ctrl-C logs out and ends the program quietly, with code 130.

    ``settings`` are those of ``Client``: ``account`` and ``password``, or ``token``; ``register``
    makes the account if there is none, and for a ``person`` says so; ``queue`` to wait in or a
    tournament to ``sign_up`` for (with an ``age``, if the game goes by it), again after every tournament unless it plays only ``once``;
    ``accept`` to come to every tournament it is invited to; ``patience_s``, how long to try
    while nobody answers; ``ssl_context`` for certificates of your own; ``receipt``, a file for what
    was sent and told, which ``agon verify`` compares with a log.
    """
    try:
        return Client(bot, server, **settings).run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
