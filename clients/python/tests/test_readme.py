"""The bots in the README are the example files, which are at most fifteen lines long and play."""

from __future__ import annotations

import tempfile
import unittest

from support import PYTHON, needs_agon, run_agon

GAMES = {"yahtzee": "yahtzee-class", "fish": "fish", "trains": "trains"}


class Readme(unittest.TestCase):
    """The README of the client and the folder with examples."""

    def test_readme_shows_the_examples(self) -> None:
        """Each example file is in the README, character for character."""
        text = (PYTHON / "README.md").read_text(encoding="utf-8")
        blocks = [block.partition("```")[0] for block in text.split("```python\n")[1:]]
        for game in GAMES:
            example = (PYTHON / "examples" / f"{game}.py").read_text(encoding="utf-8")
            self.assertIn(example, blocks, f"{game}.py")

    def test_examples_have_at_most_fifteen_lines(self) -> None:
        """A first bot must fit on one screen."""
        for game in GAMES:
            example = (PYTHON / "examples" / f"{game}.py").read_text(encoding="utf-8")
            self.assertLessEqual(len(example.splitlines()), 15, game)

    @needs_agon
    def test_the_examples_play(self) -> None:
        """Each example plays a tournament without a fault, and the log verifies."""
        for game, preset in GAMES.items():
            bot = f"python3 -B '{PYTHON / 'examples' / game}.py'"
            with tempfile.TemporaryDirectory() as folder:
                args = ["--hello-ms", "60000", "--answer-ms", "60000", "--quiet", "--strict"]
                players = [f"one={bot}", "house:random", f"two={bot}"]
                run_agon("run", "--preset", preset, "--out", "run", *args, "--player", *players,
                         cwd=folder)
                run_agon("verify", "run", cwd=folder)


if __name__ == "__main__":
    unittest.main()
