"""A player that plays well until its Nth request, and then does one thing wrong.

Usage: misbehave.py MODE [N] [TOKEN], with N from 0. TOKEN only marks the process for the tests.
"""

import json
import os
import signal
import sys
import time

import buy_now_trains
import greedy_fish
import random_yahtzee

FOREVER = 10**6


def say(message):
    print(json.dumps(message), flush=True)


def good(game, player, request):
    if game == "yahtzee":
        return random_yahtzee.answer(player, request)
    return (greedy_fish if game == "fish" else buy_now_trains).answer(request)


def illegal(game, request):
    if game == "yahtzee":
        if request["question"]["ask"] == "keep":
            absent = next(n for n in range(1, 7) if n not in request["question"]["dice"])
            return {"keep": [absent]}
        return {"score": "chance", "points": 99}
    if game == "fish":
        return {"place": [999, 999]}
    return {"return": [["Nowhere", "Atlantis"]] * 3}


# Good answers, but not to the first question of a game.
WRONG_KIND = {
    "yahtzee": {"score": "chance"},
    "fish": {"move": [[0, 0], [1, 0]]},
    "trains": "more-cards",
}


# A map with room for no game.
SMALL_MAP = {
    "width": 800,
    "height": 480,
    "cities": [["A", [10, 10]], ["B", [20, 20]]],
    "connections": {"A": {"B": {"red": 3}}},
}


def write(text):
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(1)


def flood(piece):
    while True:
        write(piece)


def crash(_):
    print("Traceback: this bot is about to crash", file=sys.stderr, flush=True)
    os._exit(3)


def fork(_):
    if os.fork() == 0:
        time.sleep(FOREVER)
    os._exit(0)


def close_input(_):
    os.close(0)
    time.sleep(FOREVER)


# Misbehaviour at the Nth request, in place of the answer. Functions that return still answer.
INSTEAD = {
    "crash": crash,
    "hang": lambda _: time.sleep(FOREVER),
    "stubborn-hang": lambda _: time.sleep(FOREVER),
    "late": lambda _: time.sleep(3),
    "fork": fork,
    "close-input": close_input,
    "flood": lambda _: flood("junk\n" * 1000),
    "flood-blank": lambda _: flood("\n" * 4096),
    "flood-line": lambda _: flood("x" * 4096),
    "garbage": lambda _: write("%&/() no JSON\n"),
    "long-line": lambda _: write("x" * 10_000_000 + "\n"),
    "flood-stderr": lambda _: print("e" * 3_000_000, file=sys.stderr, flush=True),
}


def misbehave(mode, game, request, answer):
    reply = {"type": "answer", "id": request["id"], "answer": answer}
    if mode in INSTEAD:
        INSTEAD[mode](request)
    elif mode == "other-id":
        reply["id"] = "r9m9.1.0.0"
    elif mode == "rivals-id":
        parts = request["id"].split(".")
        reply["id"] = ".".join([parts[0], parts[1], str(1 - request["seat"]), parts[3]])
    elif mode == "illegal":
        reply["answer"] = illegal(game, request)
    elif mode == "wrong-kind":
        reply["answer"] = WRONG_KIND[game]
    elif mode == "nonsense":
        reply["answer"] = {"dance": True}
    elif mode == "twice":
        say(reply)
    say(reply)


def greet(mode):
    if mode == "crash-start":
        print("cannot open display", file=sys.stderr, flush=True)
        sys.exit(1)
    if mode == "mute":
        time.sleep(FOREVER)
    if mode == "banner":
        write("Welcome to my bot v0.1\n")
    hello = {"type": "hello", "protocol": 7 if mode == "version" else 1, "name": "misbehave"}
    if mode == "small-map":
        hello["proposal"] = SMALL_MAP
    if mode == "close-early":
        os.close(0)
    say(hello)
    if mode in ("close-early", "deaf"):
        time.sleep(FOREVER)
    if mode == "hello-and-go":
        sys.exit(0)
    if mode in ("idle-blank", "idle-line"):
        flood("\n" * 4096 if mode == "idle-blank" else "x" * 4096)
    if mode == "idle-junk":
        write("junk\n" * 5000)


def main():
    mode, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    game, player, count = None, None, 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            game, player = message["game"], message["player"]
            greet(mode)
        elif message["type"] == "request":
            answer = good(game, player, message)
            if count == n:
                misbehave(mode, game, message, answer)
            else:
                say({"type": "answer", "id": message["id"], "answer": answer})
            count += 1
    if mode == "stubborn":
        time.sleep(FOREVER)


if __name__ == "__main__":
    main()
