"""The client of Palimpsest, the memory service for agents that knows when facts change.

>>> from palimpsest_client import Client
>>> with Client() as client:
...     client.store("I live in Lisbon")
"""

from palimpsest_client.client import AsyncClient, Client
from palimpsest_client.errors import (
    BrokenOff,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NoAnswer,
    NotFound,
    PalimpsestError,
    ServiceFailed,
    TooBusy,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
)
from palimpsest_client.pages import AsyncPages, Pages
from palimpsest_client.retries import Retries

__version__ = "0.1.0+checkout"

__all__ = [
    "AsyncClient",
    "AsyncPages",
    "BrokenOff",
    "Client",
    "Conflict",
    "Forbidden",
    "Gone",
    "Invalid",
    "NoAnswer",
    "NotFound",
    "Pages",
    "PalimpsestError",
    "Retries",
    "ServiceFailed",
    "TooBusy",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
]
