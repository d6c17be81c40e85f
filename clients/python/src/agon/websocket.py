"""A WebSocket client (RFC 6455), as much of it as one message per text frame needs.

No extensions and no subprotocols are offered, so none may be used by the server. Pings are
answered, fragments put together, and whatever breaks the protocol closes the connection.
"""

from __future__ import annotations

import base64
import hashlib
import os
import struct
import time
from typing import Dict, Optional, Tuple

from .errors import Lost, ProtocolError
from .transport import CONNECT_S_MAX, MESSAGE_BYTES_MAX, Stream

#: Where a server takes players.
PATH = "/api/v1/play"
#: The longest answer to the handshake.
HEAD_BYTES_MAX = 16 * 1024
#: How long the other side may take to say goodbye.
CLOSE_S_MAX = 1.0
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
#: Codes of a close: normal, a broken protocol, data of the wrong kind, text that is none, too much.
NORMAL, BROKEN, WRONG_KIND, NOT_TEXT, TOO_LARGE = 1000, 1002, 1003, 1007, 1009


class WebSocket:
    """One JSON message a text frame."""

    def __init__(self, stream: Stream, host: str, path: str = "") -> None:
        self._stream = stream
        self._closing = False
        self._fragments: Optional[bytearray] = None
        self._shake_hands(host, path or PATH)

    def send(self, message: str) -> None:
        """Sends one message, or raises ``Lost``."""
        self._send(TEXT, message.encode())

    def receive(self, wait_s: float) -> Optional[str]:
        """The next message; ``None`` if none came in time. Raises ``Lost`` at the end."""
        until = time.monotonic() + wait_s
        while True:
            frame = self._frame()
            if frame is None:
                if not self._stream.fill(until - time.monotonic()):
                    return None
                continue
            message = self._take(*frame)
            if message is not None:
                return message

    def close(self) -> None:
        """Sends a close frame, waits a moment for the reply, and closes."""
        try:
            self._say_goodbye(NORMAL)
            until = time.monotonic() + CLOSE_S_MAX
            while time.monotonic() < until:
                frame = self._frame()
                if frame is not None and frame[1] == CLOSE:
                    break
                if frame is None and not self._stream.fill(until - time.monotonic()):
                    break
        except Lost:
            pass
        self._closing = True
        self._stream.close()

    def _take(self, last: bool, opcode: int, payload: bytes) -> Optional[str]:
        """Handles a frame; returns a message if the frame completes one."""
        if opcode == PING:
            self._send(PONG, payload)
        elif opcode == CLOSE:
            code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else NORMAL
            reason = payload[2:].decode("utf-8", "replace")
            self._say_goodbye(code if 1000 <= code < 5000 and code not in (1005, 1006) else BROKEN)
            raise Lost(f"the server closed the connection: {code} {reason}".rstrip())
        elif opcode == BINARY:
            self._fail(WRONG_KIND, "a binary message")
        elif opcode == TEXT:
            if self._fragments is not None:
                self._fail(BROKEN, "a message inside another")
            self._fragments = bytearray(payload)
        elif opcode == CONTINUATION:
            if self._fragments is None:
                self._fail(BROKEN, "the rest of no message")
            else:
                self._fragments += payload
        if opcode in (TEXT, CONTINUATION) and self._fragments is not None:
            if len(self._fragments) > MESSAGE_BYTES_MAX:
                self._fail(TOO_LARGE, "too long a message")
            if last:
                return self._text()
        return None

    def _text(self) -> str:
        data, self._fragments = bytes(self._fragments or b""), None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self._fail(NOT_TEXT, "text that is not UTF-8")
            raise

    def _frame(self) -> Optional[Tuple[bool, int, bytes]]:
        """The next complete frame of the buffer: last, opcode, payload."""
        buffer = self._stream.buffer
        if len(buffer) < 2:
            return None
        first, second = buffer[0], buffer[1]
        opcode, length, start = first & 0x0F, second & 0x7F, 2
        if first & 0x70:
            self._fail(BROKEN, "bits that are reserved")
        if second & 0x80:
            self._fail(BROKEN, "a masked frame")
        if opcode not in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG):
            self._fail(BROKEN, f"opcode {opcode}")
        if opcode >= CLOSE and (length > 125 or not first & 0x80):
            self._fail(BROKEN, "a control frame that is long or in parts")
        if length >= 126:
            size = 2 if length == 126 else 8
            start += size
            if len(buffer) < start:
                return None
            length = int.from_bytes(buffer[2:start], "big")
        if length > MESSAGE_BYTES_MAX:
            self._fail(TOO_LARGE, "too long a frame")
        if len(buffer) < start + length:
            return None
        payload = self._stream.take(start + length)[start:]
        return bool(first & 0x80), opcode, payload

    def _send(self, opcode: int, payload: bytes) -> None:
        if self._closing:
            raise Lost("the connection is closed")
        length = len(payload)
        if length < 126:
            head = struct.pack(">BB", 0x80 | opcode, 0x80 | length)
        elif length < 1 << 16:
            head = struct.pack(">BBH", 0x80 | opcode, 0x80 | 126, length)
        else:
            head = struct.pack(">BBQ", 0x80 | opcode, 0x80 | 127, length)
        mask = os.urandom(4)
        self._stream.write(head + mask + masked(payload, mask))

    def _say_goodbye(self, code: int) -> None:
        if not self._closing:
            self._send(CLOSE, struct.pack(">H", code))
            self._closing = True

    def _fail(self, code: int, what: str) -> None:
        """Closes the connection because the server broke the protocol."""
        try:
            self._say_goodbye(code)
        finally:
            self._stream.close()
        raise Lost(f"the server broke the WebSocket protocol: {what}")

    def _shake_hands(self, host: str, path: str) -> None:
        key = base64.b64encode(os.urandom(16))
        head = (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key.decode()}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n"
        )
        self._stream.write(head.encode())
        until = time.monotonic() + CONNECT_S_MAX
        while (end := self._stream.buffer.find(b"\r\n\r\n")) < 0:
            if len(self._stream.buffer) > HEAD_BYTES_MAX:
                raise ProtocolError("the reply to the WebSocket handshake is too long")
            if not self._stream.fill(until - time.monotonic()):
                raise Lost("the server did not reply to the WebSocket handshake")
        _check_answer(self._stream.take(end + 4), accept_of(key))


def accept_of(key: bytes) -> str:
    """The reply to a key that proves that a server speaks WebSocket."""
    return base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()


def masked(payload: bytes, mask: bytes) -> bytes:
    """Applies the mask to the payload; applying it again undoes it."""
    length = len(payload)
    key = (mask * (length // 4 + 1))[:length]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")).to_bytes(length, "big")


def _check_answer(head: bytes, accept: str) -> None:
    status, *lines = head.decode("latin-1").split("\r\n")
    headers: Dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    words = status.split(" ", 2)
    if len(words) < 2 or words[1] != "101":
        if len(words) > 1 and words[1] in ("429", "502", "503", "504"):
            raise Lost(f"the server is busy: {status}")
        raise ProtocolError(f"the server does not speak WebSocket at this address: {status}")
    upgrade = headers.get("upgrade", "").lower()
    connection = [word.strip() for word in headers.get("connection", "").lower().split(",")]
    if upgrade != "websocket" or "upgrade" not in connection:
        raise ProtocolError("the server did not switch to WebSocket")
    if headers.get("sec-websocket-accept") != accept:
        raise ProtocolError("the server's reply belongs to another handshake")
    if "sec-websocket-extensions" in headers or "sec-websocket-protocol" in headers:
        raise ProtocolError("the server chose an extension that was not offered")
