"""A player that plays well and is careless in one way that only shows when something is unusual.

Usage: careless.py MODE. See MODES below for what each does.
"""

import json
import os
import subprocess
import sys
import time

import buy_now_trains
import greedy_fish
import random_yahtzee

MODES = {
    "none": "nothing: plays well",
    "child": "leaves a process running when it ends",
    "detached-child": "the same, in a session of its own",
    "memory": "counts its turns itself, and takes the first request for the first turn",
    "type": "ends at a message it does not know",
    "field": "ends at a field it does not know",
    "notice": "ends at a notice",
    "error": "ends at an error",
    "replies": "replies to notices",
    "reads": "takes what one read brings for one line",
    "debug": "prints what it thinks to stdout",
    "first-box": "always takes the same box",
    "once": "answers every id once",
    "dice": "answers differently every time",
    "stays": "does not end with its input",
    "badly": "ends with code 3",
    "map": "proposes what is no map",
}

FIELDS = {"type", "id", "deadline_ms", "seat", "question", "view", "match"}


def lines(mode):
    if mode != "reads":
        yield from sys.stdin
        return
    while True:
        piece = os.read(0, 1 << 16)
        if not piece:
            return
        yield piece.decode()


def good(game, player, request):
    if game == "yahtzee":
        return random_yahtzee.answer(player, request)
    return (greedy_fish if game == "fish" else buy_now_trains).answer(request)


def answer(mode, game, player, message, state):
    reply = good(game, player, message)
    if mode == "first-box" and "score" in reply:
        return {"score": "chance"}
    if mode == "dice" and "keep" in reply:
        return {"keep": [byte < 128 for byte in os.urandom(5)]}
    if mode == "memory" and game == "yahtzee":
        state.setdefault("boxes", list(message["view"]["cards"][0]["boxes"]))
        if "score" in reply:
            return {"score": state["boxes"].pop(0)}
        if message["view"]["turn"] == 1 and message["question"]["roll"] == 1:
            state["boxes"] = list(message["view"]["cards"][0]["boxes"])
    return reply


def say(message):
    print(json.dumps(message), flush=True)


def main():
    mode, game, player, state, seen = sys.argv[1], None, None, {}, set()
    assert mode in MODES, mode
    if mode.endswith("child"):
        subprocess.Popen(
            ["sleep", "300"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=mode == "detached-child",
        )
    for line in lines(mode):
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            game, player = message["game"], message["player"]
            hello = {"type": "hello", "protocol": 1, "name": "careless"}
            if mode == "map":
                hello["proposal"] = {"cities": 3}
            say(hello)
        elif kind == "request":
            if mode == "field" and not set(message) <= FIELDS:
                raise KeyError(str(set(message) - FIELDS))
            if mode == "once" and message["id"] in seen:
                continue
            seen.add(message["id"])
            if mode == "debug":
                print("thinking about", message["id"], flush=True)
            reply = answer(mode, game, player, message, state)
            say({"type": "answer", "id": message["id"], "answer": reply})
        elif kind == "notice":
            if mode == "notice":
                sys.exit(4)
            if mode == "replies":
                say({"type": "answer", "id": "none", "answer": "ok"})
        elif kind == "error" and mode == "error":
            sys.exit(4)
        elif kind not in ("end", "error") and mode == "type":
            sys.exit(4)
    if mode == "stays":
        time.sleep(300)
    sys.exit(3 if mode == "badly" else 0)


main()
