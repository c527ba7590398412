"""The prompt: a template with a version in its name, filled with turns as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.talk import Role, Turn
from app.remote.prompts import as_data, load_template

VERSION = "extract.v1"
MAX_DATA = 60_000

_SHOWN_ROLES = (Role.USER, Role.ASSISTANT)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Two messages and their turns: number n of the prompt is the turn at `places[n - 1]`."""

    system: str
    user: str
    places: tuple[int, ...]


def render_prompt(turns: Sequence[Turn], *, limit: int = MAX_DATA) -> Prompt | None:
    """Return the turns of users and assistants in the words of the template.

    Return None if their data is longer than `limit` characters: half a turn may mean the opposite.
    """
    places = tuple(place for place, turn in enumerate(turns) if turn.role in _SHOWN_ROLES)
    shown = [_dict_from_turn(number, turns[place]) for number, place in enumerate(places, 1)]
    data = as_data({"turns": shown})
    if len(data) > limit:
        return None
    template = load_template("app.extraction.model", VERSION)
    numbers = "1" if len(places) == 1 else f"1 to {len(places)}"
    return Prompt(template.system, template.user.substitute(data=data, numbers=numbers), places)


def _dict_from_turn(number: int, turn: Turn) -> dict[str, Any]:
    fields: dict[str, Any] = {"turn": number, "role": turn.role.value}
    if turn.name:
        fields["name"] = turn.name
    return {**fields, "text": turn.content}
