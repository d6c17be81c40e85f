"""Plays Yahtzee as house:random does: any legal answer, drawn from the request's id."""

import json
import sys

MASK = (1 << 64) - 1


def draw(player, key, count):
    """A number below count: FNV-1a over the names, then one step of splitmix64."""
    state = 0xCBF29CE484222325
    for byte in player.encode() + b"\0" + key.encode():
        state = ((state ^ byte) * 0x100000001B3) & MASK
    word = (state + 0x9E3779B97F4A7C15) & MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    word ^= word >> 31
    return (word * count) >> 64


def answer(player, request):
    question = request["question"]
    if question["ask"] == "keep":
        bits = draw(player, request["id"], 32)
        return {"keep": [bool(bits >> place & 1) for place in range(5)]}
    boxes = request["view"]["cards"][request["seat"]]["boxes"]
    empty = [box for box, points in boxes.items() if points is None]
    return {"score": empty[draw(player, request["id"], len(empty))]}


def main():
    player = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            player = message["player"]
            print('{"type":"hello","protocol":1,"name":"random_yahtzee"}', flush=True)
        elif message["type"] == "request":
            reply = {"type": "answer", "id": message["id"], "answer": answer(player, message)}
            print(json.dumps(reply), flush=True)
        elif message["type"] == "end":
            break


if __name__ == "__main__":
    main()
