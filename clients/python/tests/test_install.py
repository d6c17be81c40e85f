"""``pip install`` into a fresh environment, without a network."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from support import PYTHON

HAS_PIP = all(importlib.util.find_spec(name) for name in ("venv", "ensurepip"))


def run(*command: str, cwd: str) -> str:
    """Runs a command that has to end well, and may not look for packages anywhere."""
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=cwd, env=environment, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


class Install(unittest.TestCase):
    """The package as others get it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        # Tools leave traces in a folder they install from.
        without = shutil.ignore_patterns("__pycache__")
        self.source = shutil.copytree(PYTHON, Path(self.folder, "client"), ignore=without)

    def test_wheel_contains_the_whole_package(self) -> None:
        """All modules, the mark of a typed package, and nothing else."""
        code = "import sys; sys.path.insert(0, 'client/backend'); import wheel_maker;"
        code += "print(wheel_maker.build_wheel('.'))"
        name = run(sys.executable, "-c", code, cwd=self.folder).strip()
        with zipfile.ZipFile(Path(self.folder, name)) as wheel:
            self.assertIsNone(wheel.testzip())
            names = {one for one in wheel.namelist() if ".dist-info/" not in one}
        files = (path for path in (PYTHON / "src" / "agon").iterdir() if path.is_file())
        ours = {f"agon/{path.name}" for path in files}
        self.assertEqual(names, ours)
        self.assertIn("agon/py.typed", names)

    @unittest.skipUnless(HAS_PIP, "this Python has no venv or no pip: installing was not tested")
    def test_a_fresh_environment(self) -> None:
        """Needs nothing but this folder."""
        run(sys.executable, "-m", "venv", "fresh", cwd=self.folder)
        python = str(Path(self.folder, "fresh", "bin", "python"))
        run(python, "-m", "pip", "install", "--quiet", str(self.source), cwd=self.folder)
        shutil.rmtree(self.source)
        code = "import agon; print(agon.__version__, agon.play.__name__)"
        self.assertEqual(run(python, "-c", code, cwd=self.folder).split(), ["0.1.0", "play"])
        self.assertIn("agon-client", run(python, "-m", "pip", "list", cwd=self.folder))


if __name__ == "__main__":
    unittest.main()
