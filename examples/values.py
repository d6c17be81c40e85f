"""JSON values over a socket, read and written as well or as badly as a test wants."""

import json
import socket
import threading
import time

DECODER = json.JSONDecoder()


class Manners:
    """How a client behaves: what it does to what it sends, and at which call it misbehaves.

    `at` is a call's name, or name:N for the Nth time it is called. `wrong` is what happens there:
    hang, close, or a JSON text that is sent instead of the answer.
    """

    def __init__(self, style="plain", at=None, wrong=None):
        self.style = style
        name, _, number = (at or "").partition(":")
        self.at, self.number = name or None, int(number or 1)
        self.wrong = wrong

    def bytes_of(self, value):
        if self.style == "pretty":
            return b"\n  " + json.dumps(value, indent=4).encode() + b"\n\n"
        text = json.dumps(value).encode()
        if self.style == "pad":
            return b" " * 2040 + text + b"\n" * 3
        if self.style == "newline":
            return text + b"\n"
        return text

    def pieces_of(self, data):
        if self.style == "trickle":
            return [data[at:at + 1] for at in range(len(data))]
        if self.style == "pad":
            return [data[at:at + 10] for at in range(0, len(data), 10)]
        return [data]


class Client:
    """One connection. `transcript` gets a line for every text, as the pages show them."""

    def __init__(self, address, manners=None, transcript=None):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.manners = manners or Manners()
        self.transcript = transcript
        self.calls = {}
        self.text = ""
        self.bytes = b""

    def send(self, value):
        data = self.manners.bytes_of(value)
        self.note("<", data.decode().strip())
        self.send_raw(data)

    def send_raw(self, data):
        for piece in self.manners.pieces_of(data):
            self.socket.sendall(piece)

    def read(self):
        """The next value, or None at the end of the stream."""
        while True:
            text = self.text.lstrip()
            if text:
                try:
                    value, end = DECODER.raw_decode(text)
                    self.note(">", text[:end])
                    self.text = text[end:]
                    return value
                except json.JSONDecodeError:
                    pass
            try:
                more = self.socket.recv(65536)
            except OSError:
                return None
            if not more:
                return None
            self.bytes += more
            try:
                self.text, self.bytes = self.text + self.bytes.decode(), b""
            except UnicodeDecodeError:
                pass

    def note(self, mark, text):
        if self.transcript is not None:
            self.transcript.append(f"{mark} {text}")

    def misbehaves(self, call):
        """Does what is wrong at this call, if it is the one; whether it was."""
        self.calls[call] = self.calls.get(call, 0) + 1
        manners = self.manners
        if call != manners.at or self.calls[call] != manners.number:
            return False
        if manners.wrong == "close":
            self.socket.close()
        elif manners.wrong == "hang":
            # Until the server has had enough.
            while self.read() is not None:
                pass
        else:
            self.note("<", manners.wrong)
            self.send_raw(manners.wrong.encode())
        return True

    def close(self):
        self.socket.close()


def run_all(players):
    """Runs every player's `play` in a thread of its own, and waits for all."""
    threads = [threading.Thread(target=player.play, daemon=True) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def wait_until(what, done, patience=60.0):
    """Asks again and again."""
    until = time.monotonic() + patience
    while not done():
        if time.monotonic() > until:
            raise SystemExit(f"waited in vain until {what}")
        time.sleep(0.005)
