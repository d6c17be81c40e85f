"""Plays Trains as house:buy-now does: acquires the first connection it can, at once."""

import json
import sys


def connections(world):
    for one, others in sorted(world["connections"].items()):
        for other, colours in sorted(others.items()):
            for colour, length in sorted(colours.items(), key=lambda way: (way[1], way[0])):
                yield [one, other, colour, length]


def answer(request):
    question, view = request["question"], request["view"]
    if question["ask"] == "pick":
        return {"return": question["destinations"][:3]}
    own = view["players"][request["seat"]]
    taken = [taken for player in view["players"] for taken in player["acquired"]]
    for connection in connections(view["map"]):
        colour, length = connection[2:]
        if connection not in taken and own["hand"][colour] >= length and own["rails"] >= length:
            return {"acquire": connection}
    return "more-cards"


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print('{"type":"hello","protocol":1,"name":"buy_now_trains"}', flush=True)
        elif message["type"] == "request":
            reply = {"type": "answer", "id": message["id"], "answer": answer(message)}
            print(json.dumps(reply), flush=True)
        elif message["type"] == "end":
            break


if __name__ == "__main__":
    main()
