"""One tournament over a Trains wire.

    tournament.py TRAINS-ADDRESS HTTP-ADDRESS TOURNAMENT INPUT [PLAYER…]

INPUT is a file with a map, a list of [name, strategy] and the cards, one JSON value after the other;
`memo` instead of a file is the memo's vocabulary, in which nobody proposes a map. Every PLAYER is
NAME,STRATEGY,STYLE,AT,WRONG; without any, those of the input play. They sign up one after the other.
Prints one line of JSON: who was told that it won.
"""

import json
import os
import sys
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from players import Manners, Player  # noqa: E402
from values import DECODER, run_all, wait_until  # noqa: E402


def values_of(path):
    with open(path, encoding="utf-8") as file:
        text, found = file.read().strip(), []
    while text:
        value, end = DECODER.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def main(trains, http, tournament, source, specs):
    board, entries, _ = (None, [], None) if source == "memo" else values_of(source)
    if specs:
        entries = [(spec.split(",", 4) + [""] * 5)[:5] for spec in specs]
    players, transcript = [], []
    for number, (name, strategy, *how) in enumerate(entries):
        style, at, wrong = how or ("", "", "")
        manners, notes = Manners(style or "plain", at, wrong), transcript if number == 0 else None
        player = Player(trains, name, strategy, board, manners, notes)
        before = entered(http, tournament)
        player.sign_up()
        players.append(player)
        # Players may have the same name, and the server then puts a number after it. A player who
        # returns after a restart is entered already.
        wait_until(
            f"{name} is signed up",
            lambda: len(entered(http, tournament)) > len(before)
            or (name in before and is_connected(http, name)),
        )
    run_all(players)
    print(json.dumps({"won": {player.name: player.won for player in players}}))
    if os.environ.get("TRANSCRIPT"):
        with open(os.environ["TRANSCRIPT"], "w", encoding="utf-8") as out:
            out.write("\n".join(transcript) + "\n")


def entered(http, tournament):
    with urllib.request.urlopen(f"http://{http}/api/v1/tournaments/{tournament}") as page:
        return json.load(page)["plan"]["players"]


def is_connected(http, name):
    with urllib.request.urlopen(f"http://{http}/api/v1/accounts/{name}") as page:
        return json.load(page).get("wire") is not None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
