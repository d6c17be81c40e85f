"""One tournament over a Fish wire.

    tournament.py FISH-ADDRESS HTTP-ADDRESS TOURNAMENT PLAYER…

A PLAYER is NAME, or NAME,KIND,STYLE,AT,WRONG: kind call, message or call/DEPTH of its search, style plain, pad, trickle,
pretty or newline, and what it does wrong at which call. They sign up one after the other. Prints one
line of JSON: who was told that it won, and how often they were asked.
"""

import json
import os
import sys
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from players import KINDS, Manners  # noqa: E402
from values import run_all, wait_until  # noqa: E402


def main(fish, http, tournament, specs):
    players, transcript = [], []
    for number, spec in enumerate(specs):
        name, kind, style, at, wrong = (spec.split(",", 4) + [""] * 5)[:5]
        manners = Manners(style or "plain", at, wrong)
        notes = transcript if number == 0 else None
        kind, _, depth = kind.partition("/")
        player = KINDS[kind or "call"](fish, name, manners, notes, int(depth or 1))
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
    total = {what: sum(p.asked[what] for p in players) for what in ("placements", "moves")}
    won = {player.name: player.won for player in players}
    results = [getattr(player, "results", []) for player in players]
    confirmed = {p.name: p.confirmed for p in players if hasattr(p, "confirmed")}
    said = {"won": won, "asked": total, "results": results, "confirmed": confirmed}
    print(json.dumps(said))
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
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
