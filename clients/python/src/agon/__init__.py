"""Bots for Agon: tournaments of turn-based games between programs.

A bot is a function or an object with a method per question. ``main`` makes it a program, ``play``
brings it to a server, ``run_stdio`` runs it under ``agon run``, and ``Api`` speaks to the server's
HTTP interface. The rules of the games are in ``agon.yahtzee``, ``agon.fish`` and ``agon.trains``.
``agon.fish_wire`` plays on the port for programs of the Fish system.
"""

from . import fish, fish_wire, trains, yahtzee
from .api import Api
from .bot import Bot, BotFunction
from .cli import main
from .client import Client, Result, play
from .errors import AgonError, ApiError, BotError, Lost, ProtocolError, Refused, Unreachable
from .messages import Answer, GameResult, Match, Notice, Question, Request, View
from .sse import Event
from .stdio import run_stdio

__version__ = "0.1.0"

__all__ = [
    "AgonError",
    "Answer",
    "Api",
    "ApiError",
    "Bot",
    "BotError",
    "BotFunction",
    "Client",
    "Event",
    "GameResult",
    "Lost",
    "Match",
    "Notice",
    "ProtocolError",
    "Question",
    "Refused",
    "Request",
    "Result",
    "Unreachable",
    "View",
    "fish",
    "fish_wire",
    "main",
    "play",
    "run_stdio",
    "trains",
    "yahtzee",
]
