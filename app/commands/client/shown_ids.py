"""Short ids: the last six digits of those that were shown on a terminal lately.

The first digits of an id are its time, so that memories of the same minute share them.
"""

import atexit
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import click
import platformdirs

MOST_IDS: Final = 2_000
_SHOWN: Final[list[str]] = []  # by this program
_SHORT: Final = re.compile(r"[0-9a-fA-F]{4,12}")


def show_id(whole: str) -> str:
    """Return the end of an id, and remember the id when the program ends."""
    if not _SHOWN:
        atexit.register(_remember_ids)
    _SHOWN.append(whole)
    return whole[-6:]


def _remember_ids() -> None:
    path = _get_path()
    latest = [*dict.fromkeys([*_read_ids(path), *_SHOWN][::-1])][:MOST_IDS]
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text("\n".join(latest[::-1]), "utf-8")
        part.replace(path)


class ShortId(click.ParamType[str]):
    """An id, whole or by its end if it was shown lately."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not _SHORT.fullmatch(text):
            with suppress(ValueError):
                return str(UUID(text))
            self.fail(f"{text!r} is no id: give the last six digits that a list shows.", param)
        fitting = [one for one in _read_ids(_get_path()) if one.endswith(text.lower())]
        if len(fitting) == 1:
            return fitting[0]
        many = f"{len(fitting)} ids" if fitting else "No id"
        self.fail(f"{many} of those shown lately end in {text}. `--long` prints whole ids.", param)


def _read_ids(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").split()
    except (OSError, UnicodeDecodeError):
        return []


def _get_path() -> Path:
    return platformdirs.user_state_path("palimpsest") / "shown_ids"
