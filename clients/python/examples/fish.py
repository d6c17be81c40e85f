from agon import fish, main


class Bot:
    def place(self, question, view, match):
        free = fish.placements(view)
        return {"place": max(free, key=lambda tile: len(fish.neighbours(view, tile)))}

    def move(self, question, view, match):
        taken = lambda move: fish.fish_at(view, move[0]) + fish.fish_at(view, move[1])
        return {"move": max(fish.moves(view), key=taken)}


main(Bot())
