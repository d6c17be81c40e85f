"""A player that connects to a server by itself and is careless in one way.

Usage: careless_guest.py MODE ADDRESS. Modes:
    none        plays well: comes back with its token until the server is there
    stays-away  ends when the connection is lost
    fights      comes back after it was taken over
    heartbeat   hangs up at a heartbeat
    answered    does not answer what it answered on an earlier connection
    one         answers the requests of its first tournament only
    anonymous   sends no login
    password    comes back with its password
"""

import json
import socket
import sys
import time

import random_yahtzee

MODE = sys.argv[1]
HOST, PORT = sys.argv[2].rsplit(":", 1)


class Guest:
    def __init__(self):
        self.token = None
        self.known = set()
        self.first = None

    def visit(self, stream):
        """Plays until the connection is lost; says whether to come back."""

        def say(message):
            stream.sendall((json.dumps(message) + "\n").encode())

        say({"type": "hello", "protocol": 1, "name": "careless guest"})
        if MODE != "anonymous":
            login = {"type": "login", "account": "eve", "password": "pw", "register": True}
            if self.token and MODE != "password":
                login = {"type": "login", "token": self.token}
            say(login)
        for line in stream.makefile():
            message = json.loads(line)
            kind = message["type"]
            if kind == "welcome":
                self.token = message.get("token", self.token)
            elif kind == "heartbeat" and MODE == "heartbeat":
                return True
            elif kind == "error" and message["code"] == "taken-over":
                return MODE == "fights"
            elif kind == "request":
                self.first = self.first or message["match"]["tournament"]
                if MODE == "answered" and message["id"] in self.known:
                    continue
                self.known.add(message["id"])
                if MODE == "one" and message["match"]["tournament"] != self.first:
                    continue
                answer = random_yahtzee.answer("eve", message)
                say({"type": "answer", "id": message["id"], "answer": answer})
        return MODE != "stays-away"


def main():
    guest, back = Guest(), True
    while back:
        try:
            with socket.create_connection((HOST, int(PORT))) as stream:
                back = guest.visit(stream)
        except OSError:
            time.sleep(0.02)


main()
