"""The real ``agon`` for tests: found, started, and gone when its test is over."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

PYTHON = Path(__file__).resolve().parent.parent
REPOSITORY = PYTHON.parent.parent
#: No test waits longer than this for anything: far beyond what a loaded machine needs.
PATIENCE_S = 120.0


def agon() -> Optional[str]:
    """The binary: ``AGON_BIN``, or what was built last."""
    given = os.environ.get("AGON_BIN")
    if given is not None:
        return given
    built = [REPOSITORY / "target" / kind / "agon" for kind in ("debug", "release")]
    found = [path for path in built if path.exists()]
    return str(max(found, key=lambda path: path.stat().st_mtime)) if found else None


needs_agon = unittest.skipIf(agon() is None, "there is no agon; build it, or set AGON_BIN")


def until(what: str, done: Callable[[], bool]) -> None:
    """Asks again and again until it is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.002)


def run_agon(*args: str, cwd: str) -> str:
    """Runs ``agon`` to its end, which has to be a good one."""
    environment = dict(os.environ, PYTHONPATH=str(PYTHON / "src"))
    done = subprocess.run(
        [str(agon()), *args], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def read_log(path: Path) -> List[Dict[str, Any]]:
    """The events of a stream."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def make_certificate(folder: str) -> Tuple[str, str]:
    """A certificate for 127.0.0.1 and its key, as files; skips the test if nothing makes them."""
    certificate, key = f"{folder}/cert.pem", f"{folder}/key.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    make += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    # A server's certificate is none of an authority.
    make += ["-addext", "basicConstraints=critical,CA:FALSE"]
    try:
        subprocess.run([*make, "-keyout", key, "-out", certificate], check=True,
                       capture_output=True, timeout=60)
    except (OSError, subprocess.CalledProcessError) as error:
        raise unittest.SkipTest(f"no openssl makes a certificate: {error}") from error
    return certificate, key


class Server:
    """``agon serve`` in a folder of its own. It is killed, started again on its port, and gone."""

    def __init__(self, *args: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self._args = args
        self._process: Optional["subprocess.Popen[str]"] = None
        self.tcp, self.http, self.operator = "127.0.0.1:0", "127.0.0.1:0", ""
        self.websocket = False
        self.said: Dict[str, Any] = {}

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.folder.cleanup()

    def start(self) -> None:
        """Starts it and waits for it; again on the ports it had."""
        until("the server is up", self._try_start)

    def kill(self) -> None:
        """Kills it, with no warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE_S)
            if self._process.stdout is not None:
                self._process.stdout.close()

    def verify(self) -> None:
        """Every event again, from the rules and the revealed luck."""
        run_agon("verify", "--quiet", "agon-data", cwd=self.folder.name)

    def _try_start(self) -> bool:
        command = [str(agon()), "serve", "--json", "--tcp", self.tcp, "--http", self.http]
        command += self._args
        self._process = subprocess.Popen(
            command, cwd=self.folder.name, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.kill()
            return False
        said = self.said = json.loads(line)
        self.tcp = said["players"]["tcp"]
        self.http = said["http"]
        #: True if players are taken over WebSocket as well.
        self.websocket = "websocket" in said["players"]
        self.operator = (said.get("operator") or {}).get("token") or self.operator
        return True
