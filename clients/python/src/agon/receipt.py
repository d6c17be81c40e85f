"""A receipt: a player's own record of what was sent and received.

``docs/protocol/receipt.md`` has the format; ``agon verify --as NAME --receipt FILE LOG`` compares it
with a log. Every entry is one line, flushed before the answer it holds is sent.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any, Dict, IO, Optional

#: The notices that belong in a receipt.
KEPT = ("tournament", "match-over", "tournament-ended")


class Receipt:
    """Writes a receipt. An existing file is continued."""

    def __init__(self, path: str) -> None:
        self._file: IO[str] = open(path, "a", encoding="utf-8")
        self._commitments: Dict[str, str] = {}

    def hello(self, player: str, nonce: Optional[str]) -> None:
        """Records who plays, and the nonce for the luck of their games."""
        entry: Dict[str, Any] = {"type": "hello", "player": player}
        if nonce is not None:
            entry["nonce"] = nonce
        self._write(entry)

    def answer(self, id: str, answer: Any) -> None:
        """Records an answer that is about to be sent."""
        self._write({"type": "answer", "id": id, "answer": answer})

    def refused(self, id: str, code: str) -> None:
        """Records that the server refused an answer."""
        self._write({"type": "refused", "id": id, "code": code})

    def lost(self) -> None:
        """Records that the connection was lost."""
        self._write({"type": "lost"})

    def noticed(self, about: str, data: Dict[str, Any]) -> Optional[str]:
        """Records a message of the server; returns what is wrong with it, or ``None``."""
        if about not in KEPT:
            return None
        tournament = str(data.get("tournament", ""))
        if about == "tournament":
            commitment = data.get("commitment")
            # The server repeats the notice after every login.
            if commitment is None or self._commitments.get(tournament) == commitment:
                return None
            self._commitments[tournament] = commitment
            data = {"tournament": tournament, "commitment": commitment}
        self._write({"type": about, **data})
        promised = self._commitments.get(tournament)
        if about != "tournament-ended" or promised is None:
            return None
        if commitment_of(str(data.get("secret", ""))) == promised:
            return None
        return f"the secret of {tournament} is not the one the server had committed itself to"

    def close(self) -> None:
        """Ends the file."""
        self._file.close()

    def _write(self, entry: Dict[str, Any]) -> None:
        line = json.dumps({**entry, "at": int(time.time() * 1000)}, separators=(",", ":"))
        self._file.write(line + "\n")
        self._file.flush()


def commitment_of(secret: str) -> str:
    """What is published of a secret before it is revealed; nothing fits what is no secret."""
    try:
        return hashlib.sha256(b"agon commit 1\n" + bytes.fromhex(secret)).hexdigest()
    except ValueError:
        return ""
