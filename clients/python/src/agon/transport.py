"""Messages over sockets: JSON lines over TCP and TLS. WebSocket is in ``websocket``.

Every wait has a deadline, and every message a largest size.
"""

from __future__ import annotations

import socket
import ssl
import time
from typing import List, Optional, Protocol
from urllib.parse import SplitResult, urlsplit

from .errors import Lost

#: The longest message a server sends.
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
#: How long connecting and one write may take.
CONNECT_S_MAX = 10.0
WRITE_S_MAX = 10.0
#: How much is read at once.
PIECE_BYTES = 64 * 1024
#: Where a server listens unless told otherwise.
PORTS = {"tcp": 7300, "tls": 7300, "ws": 7380, "wss": 7380}


class Transport(Protocol):
    """A connection that carries whole messages."""

    def send(self, message: str) -> None:
        """Sends one message, or raises ``Lost``."""

    def receive(self, wait_s: float) -> Optional[str]:
        """The next message; ``None`` if none came in time. Raises ``Lost`` at the end."""

    def close(self) -> None:
        """Closes the connection. May be called twice."""


class Stream:
    """Bytes over a socket, with deadlines. Every error is ``Lost``."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.buffer = bytearray()

    def write(self, data: bytes) -> None:
        """Writes all of it."""
        try:
            self._sock.settimeout(WRITE_S_MAX)
            self._sock.sendall(data)
        except OSError as error:
            raise Lost(f"the connection broke: {error}") from error

    def fill(self, wait_s: float) -> bool:
        """Reads some bytes into the buffer; ``False`` if none came in time."""
        try:
            self._sock.settimeout(max(wait_s, 0.001))
            piece = self._sock.recv(PIECE_BYTES)
        except socket.timeout:
            return False
        except OSError as error:
            raise Lost(f"the connection broke: {error}") from error
        if not piece:
            raise Lost("the server closed the connection")
        self.buffer += piece
        return True

    def take(self, count: int) -> bytes:
        """The first bytes of the buffer, which has them."""
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        return taken

    def close(self) -> None:
        """Closes the socket."""
        try:
            self._sock.close()
        except OSError:
            pass


class Lines:
    """One JSON message a line, over TCP or TLS."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        #: How much of the buffer is known to hold no end of a line.
        self._searched = 0

    def send(self, message: str) -> None:
        """Sends one message, or raises ``Lost``."""
        self._stream.write(message.encode() + b"\n")

    def receive(self, wait_s: float) -> Optional[str]:
        """The next message; ``None`` if none came in time. Raises ``Lost`` at the end."""
        until = time.monotonic() + wait_s
        while True:
            end = self._stream.buffer.find(b"\n", self._searched)
            if end >= 0:
                self._searched = 0
                return self._stream.take(end + 1).decode("utf-8", "replace")
            self._searched = len(self._stream.buffer)
            if self._searched > MESSAGE_BYTES_MAX:
                raise Lost("the server sent a line without an end")
            if not self._stream.fill(until - time.monotonic()):
                return None

    def close(self) -> None:
        """Closes the connection."""
        self._stream.close()


def connect(server: str, ssl_context: Optional[ssl.SSLContext] = None) -> Transport:
    """Connects to HOST:PORT, after ``tcp://`` or nothing, ``tls://``, ``ws://`` or ``wss://``."""
    url = parse(server)
    host, port = url.hostname or "127.0.0.1", url.port or PORTS[url.scheme]
    stream = Stream(_open(host, port, url.scheme in ("tls", "wss"), ssl_context))
    if url.scheme in ("tcp", "tls"):
        return Lines(stream)
    from .websocket import WebSocket

    try:
        return WebSocket(stream, f"{_bracketed(host)}:{port}", url.path.rstrip("/"))
    except BaseException:
        stream.close()
        raise


def nodes(server: str) -> List[str]:
    """The addresses of the nodes behind a server's address, which commas separate. Raises
    ``ValueError`` if one of them is invalid."""
    found = server.split(",")
    for node in found:
        parse(node)
    return found


def parse(server: str) -> SplitResult:
    """The parts of a server's address; ``ValueError`` if it is none."""
    url = urlsplit(server if "://" in server else f"tcp://{server}")
    if url.scheme not in PORTS:
        raise ValueError(f"{server!r}: the scheme is one of {', '.join(PORTS)}")
    if url.port == 0:
        raise ValueError(f"{server!r}: port 0 cannot be connected to")
    return url


def _open(
    host: str, port: int, encrypted: bool, context: Optional[ssl.SSLContext]
) -> socket.socket:
    try:
        sock = socket.create_connection((host, port), timeout=CONNECT_S_MAX)
    except OSError as error:
        raise Lost(f"failed to connect to {host}:{port}: {error}") from error
    try:
        if sock.getsockname() == sock.getpeername():
            # On one machine, connecting to a free port can connect a socket to itself.
            raise Lost(f"nobody listens at {host}:{port}")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if encrypted:
            context = context or ssl.create_default_context()
            return context.wrap_socket(sock, server_hostname=host)
        return sock
    except ssl.SSLCertVerificationError:
        sock.close()
        raise
    except OSError as error:
        sock.close()
        raise Lost(f"{host}:{port} does not let us in: {error}") from error
    except BaseException:
        sock.close()
        raise


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
