"""The networks of many languages, which the package palimpsest-memory-languages carries."""

from importlib.resources import files
from pathlib import Path
from typing import Final

from app.networks.session import NetworkSet

PACKAGE: Final = "palimpsest_languages"


def find_many_languages() -> NetworkSet:
    """Return the networks of the installed package. Raises ModuleNotFoundError without it."""
    return NetworkSet(start=0, end=2, folder=Path(str(files(PACKAGE))))  # <s> and </s>
