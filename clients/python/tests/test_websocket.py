"""The WebSocket client against a small server that does, and does not, keep to RFC 6455."""

from __future__ import annotations

import base64
import hashlib
import socket
import struct
import threading
import unittest
from typing import Callable, List, Optional, Tuple

from agon.errors import AgonError, Lost, ProtocolError
from agon.transport import Transport, connect
from agon.websocket import accept_of, masked

Script = Callable[["Peer"], None]


class Peer:
    """The server's end of one connection, byte by byte."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        sock.settimeout(30)
        self.head = b""

    def read(self, count: int) -> bytes:
        """Exactly so many bytes."""
        data = b""
        while len(data) < count:
            piece = self.sock.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def shake_hands(self, extra: str = "") -> None:
        """Answers the handshake as it should be."""
        self.read_head()
        key = self.header("sec-websocket-key")
        magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1((key + magic).encode()).digest()).decode()
        self.sock.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\n"
            b"connection: keep-alive, Upgrade\r\n"
            + f"sec-websocket-accept: {accept}\r\n{extra}\r\n".encode()
        )

    def read_head(self) -> None:
        """The request of the handshake."""
        while not self.head.endswith(b"\r\n\r\n"):
            self.head += self.read(1)

    def header(self, name: str) -> str:
        """One of its headers."""
        for line in self.head.decode().split("\r\n")[1:]:
            if line.lower().startswith(name + ":"):
                return line.partition(":")[2].strip()
        return ""

    def send(self, opcode: int, payload: bytes, last: bool = True, bits: int = 0) -> None:
        """One frame."""
        length = len(payload)
        head = bytes([(0x80 if last else 0) | bits | opcode])
        if length < 126:
            head += bytes([length])
        elif length < 65536:
            head += b"\x7e" + struct.pack(">H", length)
        else:
            head += b"\x7f" + struct.pack(">Q", length)
        self.sock.sendall(head + payload)

    def receive(self) -> Tuple[int, bytes]:
        """One frame of the client, which has to be whole and masked."""
        first, second = self.read(2)
        assert first & 0xF0 == 0x80 and second & 0x80, "clients mask, and send no parts here"
        length = second & 0x7F
        if length == 126:
            length = struct.unpack(">H", self.read(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", self.read(8))[0]
        mask = self.read(4)
        data = self.read(length)
        return first & 0x0F, bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))


class WebSockets(unittest.TestCase):
    """One script of a server after the other."""

    def serve(self, script: Script) -> str:
        """Runs a script for one connection; gives the address."""
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(30)
        failed: List[BaseException] = []

        def run() -> None:
            try:
                sock, _ = listener.accept()
                with sock:
                    script(Peer(sock))
            except BaseException as error:  # It is raised in the test's own thread.
                failed.append(error)
            finally:
                listener.close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def check() -> None:
            thread.join(30)
            self.assertFalse(thread.is_alive(), "the server's script did not end")
            if failed:
                raise failed[0]

        self.addCleanup(check)
        return f"ws://127.0.0.1:{listener.getsockname()[1]}"

    def connected(self, script: Script, extra: str = "") -> Transport:
        """A client that is through with its handshake."""

        def whole(peer: Peer) -> None:
            peer.shake_hands(extra)
            script(peer)

        return connect(self.serve(whole))

    def broken(self, code: int, script: Script) -> None:
        """The client closes with this code, and says that the connection is lost."""
        closed: List[Tuple[int, bytes]] = []

        def whole(peer: Peer) -> None:
            script(peer)
            closed.append(peer.receive())

        client = self.connected(whole)
        with self.assertRaises(Lost):
            client.receive(30)
        client.close()
        self.doCleanups()
        self.assertEqual(closed, [(8, struct.pack(">H", code))])

    def test_the_example_of_the_standard(self) -> None:
        """RFC 6455, section 1.3, and masks that undo themselves."""
        self.assertEqual(accept_of(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        self.assertEqual(masked(b"Hello", b"\x37\xfa\x21\x3d"), b"\x7f\x9f\x4d\x51\x58")
        self.assertEqual(masked(b"", b"abcd"), b"")

    def test_echo_of_all_sizes(self) -> None:
        """Each of the three forms of a length, at its borders."""
        sizes = [0, 1, 125, 126, 127, 65535, 65536, 300_000]

        def echo(peer: Peer) -> None:
            self.assertTrue(peer.head.startswith(b"GET /api/v1/play HTTP/1.1\r\n"))
            for _ in sizes:
                opcode, data = peer.receive()
                peer.send(opcode, data)

        client = self.connected(echo)
        for size in sizes:
            client.send("é" * (size // 2) + "x" * (size % 2))
            self.assertEqual(len((client.receive(30) or "").encode()), size)
        self.doCleanups()
        client.close()

    def test_parts_and_pings_between_them(self) -> None:
        """A message may come in parts, with control frames in between."""
        heard: List[Tuple[int, bytes]] = []

        def script(peer: Peer) -> None:
            data = "grüße".encode()
            peer.send(1, data[:3], last=False)
            peer.send(9, b"are you there?")
            peer.send(0, data[3:4], last=False)
            peer.send(10, b"nobody asked")
            peer.send(0, data[4:])
            heard.append(peer.receive())

        client = self.connected(script)
        self.assertEqual(client.receive(30), "grüße")
        self.doCleanups()
        self.assertEqual(heard, [(10, b"are you there?")])
        client.close()

    def test_waiting_and_goodbyes(self) -> None:
        """Silence is no end; a close is answered."""
        heard: List[Tuple[int, bytes]] = []
        go_on = threading.Event()

        def script(peer: Peer) -> None:
            go_on.wait(30)
            peer.send(8, struct.pack(">H", 1001) + b"restart")
            heard.append(peer.receive())

        client = self.connected(script)
        self.assertIsNone(client.receive(0.01))
        go_on.set()
        with self.assertRaisesRegex(Lost, "1001 restart"):
            client.receive(30)
        with self.assertRaises(Lost):
            client.send("too late")
        self.doCleanups()
        self.assertEqual(heard, [(8, struct.pack(">H", 1001))])
        client.close()

    def test_our_own_goodbye(self) -> None:
        """A close is said before the socket is closed."""
        heard: List[Tuple[int, bytes]] = []

        def script(peer: Peer) -> None:
            heard.append(peer.receive())
            peer.send(8, struct.pack(">H", 1000))

        self.connected(script).close()
        self.doCleanups()
        self.assertEqual(heard, [(8, struct.pack(">H", 1000))])

    def test_broken_frames(self) -> None:
        """Each is answered with the code it deserves."""
        self.broken(1002, lambda peer: peer.send(1, b"x", bits=0x40))
        self.broken(1002, lambda peer: peer.send(3, b"x"))
        self.broken(1002, lambda peer: peer.send(9, b"x", last=False))
        self.broken(1002, lambda peer: peer.send(9, b"x" * 126))
        self.broken(1002, lambda peer: peer.send(0, b"the rest of nothing"))
        self.broken(1002, lambda peer: peer.sock.sendall(b"\x81\x81abcdx"))
        self.broken(1003, lambda peer: peer.send(2, b"\x00"))
        self.broken(1007, lambda peer: peer.send(1, b"\xff\xfe"))
        self.broken(1009, lambda peer: peer.sock.sendall(b"\x81\x7f" + struct.pack(">Q", 1 << 40)))

        def twice(peer: Peer) -> None:
            peer.send(1, b"one", last=False)
            peer.send(1, b"another")

        self.broken(1002, twice)

    def test_the_end_of_the_connection(self) -> None:
        """In the middle of a frame."""
        client = self.connected(lambda peer: peer.sock.sendall(b"\x81\x05he"))
        with self.assertRaises(Lost):
            client.receive(30)
        client.close()

    def test_invalid_handshakes_are_rejected(self) -> None:
        """Whatever is not the answer to ours is refused."""

        def answer(text: str) -> Script:
            def script(peer: Peer) -> None:
                peer.read_head()
                peer.sock.sendall(text.encode())

            return script

        switch = "HTTP/1.1 101 Switching Protocols\r\n"
        upgrade = "upgrade: websocket\r\nconnection: upgrade\r\n"
        cases: List[Tuple[str, type]] = [
            ("HTTP/1.1 404 Not Found\r\n\r\n", ProtocolError),
            ("HTTP/1.1 503 Busy\r\n\r\n", Lost),
            ("nonsense\r\n\r\n", ProtocolError),
            (switch + "\r\n", ProtocolError),
            (switch + upgrade + "\r\n", ProtocolError),
            (switch + upgrade + "sec-websocket-accept: AAAA\r\n\r\n", ProtocolError),
            (switch, Lost),
            ("x" * 40_000, ProtocolError),
        ]
        for text, kind in cases:
            with self.subTest(text[:60]):
                error: Optional[AgonError] = None
                try:
                    connect(self.serve(answer(text)))
                except AgonError as caught:
                    error = caught
                self.assertIs(type(error), kind, error)
        with self.assertRaises(ProtocolError):
            self.connected(lambda peer: None, extra="sec-websocket-extensions: x\r\n")


if __name__ == "__main__":
    unittest.main()
