"""The bots of both READMEs are the examples, which are as short as they say, and play."""

from __future__ import annotations

import tempfile
import unittest

from support import PYTHON, REPOSITORY, needs_agon, run_agon

GAMES = {"yahtzee": "yahtzee-class", "fish": "fish", "trains": "trains"}


class Readme(unittest.TestCase):
    """What is shown is what there is."""

    def test_the_readmes_show_the_examples(self) -> None:
        """As they are, to the letter."""
        for readme in (PYTHON / "README.md", REPOSITORY / "README.md"):
            text = readme.read_text(encoding="utf-8")
            blocks = [block.partition("```")[0] for block in text.split("```python\n")[1:]]
            for game in GAMES:
                example = (PYTHON / "examples" / f"{game}.py").read_text(encoding="utf-8")
                self.assertIn(example, blocks, f"{readme} and {game}.py")

    def test_fifteen_lines(self) -> None:
        """Are promised."""
        for game in GAMES:
            example = (PYTHON / "examples" / f"{game}.py").read_text(encoding="utf-8")
            self.assertLessEqual(len(example.splitlines()), 15, game)

    @needs_agon
    def test_the_examples_play(self) -> None:
        """Without a fault, and so that it can be verified."""
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
