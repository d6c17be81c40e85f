"""Plays Fish as house:greedy does: the first free tile, then the most fish with the next move."""

import json
import sys


def step(row, column, way):
    """The next tile in one of six directions; odd rows lie half a tile to the right."""
    if way == "north":
        return row - 2, column
    if way == "south":
        return row + 2, column
    odd = row % 2
    row += 1 if way.startswith("south") else -1
    return row, column + (odd if way.endswith("east") else odd - 1)


WAYS = ["north", "north-east", "south-east", "south", "south-west", "north-west"]


def reach(board, taken, start):
    tiles = []
    for way in WAYS:
        row, column = step(*start, way)
        while 0 <= row < len(board) and 0 <= column < len(board[0]):
            if board[row][column] == 0 or (row, column) in taken:
                break
            tiles.append((row, column))
            row, column = step(row, column, way)
    return sorted(tiles)


def answer(request):
    view, board = request["view"], request["view"]["board"]
    taken = {tuple(place) for player in view["players"] for place in player["places"]}
    if request["question"]["ask"] == "place":
        tiles = ((row, column) for row in range(len(board)) for column in range(len(board[0])))
        return {"place": next(t for t in tiles if board[t[0]][t[1]] > 0 and t not in taken)}
    best = None
    for start in sorted(tuple(place) for place in view["players"][request["seat"]]["places"]):
        tiles, fish = reach(board, taken, start), board[start[0]][start[1]]
        if tiles and (best is None or fish > best[0]):
            best = (fish, start, tiles[0])
    return {"move": [best[1], best[2]]}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print('{"type":"hello","protocol":1,"name":"greedy_fish"}', flush=True)
        elif message["type"] == "request":
            reply = {"type": "answer", "id": message["id"], "answer": answer(message)}
            print(json.dumps(reply), flush=True)
        elif message["type"] == "end":
            break


if __name__ == "__main__":
    main()
