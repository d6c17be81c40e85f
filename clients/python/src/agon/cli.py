"""``agon.main(bot)``: the last line of a bot. Without arguments it plays on stdin and stdout."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from typing import Optional, Sequence

from .bot import Bot
from .client import play
from .errors import AgonError
from .stdio import run_stdio


def main(bot: Bot, args: Optional[Sequence[str]] = None) -> None:
    """Plays as the command line says, and exits with an error if that fails."""
    given = _parser().parse_args(args)
    try:
        if given.server is None:
            run_stdio(bot)
            return
        logging.basicConfig(level=logging.INFO, format="agon: %(message)s")
        password = _password(given.password_file)
        play(
            bot,
            given.server,
            account=given.account,
            password=password,
            # A flag overrides a variable, because the token may belong to another account.
            token=os.environ.get("AGON_TOKEN") if given.account is None else None,
            register=given.register,
            person=given.person,
            queue=given.queue,
            sign_up=given.sign_up,
            age=given.age,
            accept=given.accept,
            once=given.once,
            receipt=given.receipt,
        )
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except (AgonError, OSError) as error:
        print(f"agon: {error}", file=sys.stderr)
        raise SystemExit(1) from error


def _parser() -> argparse.ArgumentParser:
    about = "Plays on a server, or, without --server, on stdin and stdout for `agon run`."
    parser = argparse.ArgumentParser(description=about)
    server = "tcp://, tls://, ws:// or wss://HOST:PORT; commas separate several nodes"
    parser.add_argument("--server", metavar="URL", help=server)
    parser.add_argument("--account", metavar="NAME")
    parser.add_argument("--password-file", metavar="FILE", help="default: $AGON_PASSWORD")
    parser.add_argument("--register", action="store_true", help="make the account if there is none")
    parser.add_argument("--person", action="store_true", help="a new account is a person's")
    parser.add_argument("--queue", metavar="NAME", help="wait in this queue")
    parser.add_argument("--sign-up", metavar="TOURNAMENT", help="sign up for this tournament")
    parser.add_argument("--age", metavar="YEARS", type=int, help="orders players by age")
    parser.add_argument("--accept", action="store_true", help="accept all invitations")
    parser.add_argument("--once", action="store_true", help="end after one tournament")
    parser.add_argument("--receipt", metavar="FILE", help="write down what is sent and told")
    return parser


def _password(path: Optional[str]) -> Optional[str]:
    if path is None:
        return os.environ.get("AGON_PASSWORD")
    with open(path, encoding="utf-8") as file:
        return file.readline().rstrip("\r\n")
