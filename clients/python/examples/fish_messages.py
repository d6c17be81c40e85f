"""A Fish player in the message vocabulary: python3 fish_messages.py HOST:PORT NAME"""

import sys

from agon import fish, fish_wire


class Greedy(fish_wire.FishPlayer):
    def place(self, state):
        return max(fish.placements(state), key=lambda tile: fish.fish_at(state, tile))

    def move(self, state):
        return max(fish.moves(state, 0), key=lambda move: fish.fish_at(state, move[0]))


print("won" if fish_wire.play(Greedy(), sys.argv[1], sys.argv[2]) else "lost")
