"""The prompt: a template with a version in its name, filled with turns as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.talk import Role, Turn
from app.remote.prompts import as_data, load_template

VERSION = "extract.v2"
MAX_DATA = 60_000

# Earlier turns say what "yes" and "she" mean. What is asked and proposed stands at their ends.
EARLIER_TURNS = 3
EARLIER_CHARACTERS = 300

SHOWN_ROLES = (Role.USER, Role.ASSISTANT)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Two messages and their turns: number n of the prompt is the turn at `places[n - 1]`."""

    system: str
    user: str
    places: tuple[int, ...]


def render_prompt(turns: Sequence[Turn], first: int = 0) -> Prompt | None:
    """Return the words of the template about the turns from the place `first` on.

    Shown are turns of users and assistants, up to the last one of a user, and the ends of a few
    turns before `first`. Return None if the data is longer than MAX_DATA characters: half a turn
    may mean the opposite.
    """
    shown = [place for place, turn in enumerate(turns) if turn.role in SHOWN_ROLES]
    of_users = [place for place in shown if turns[place].role is Role.USER]
    places = tuple(place for place in shown if first <= place <= max(of_users, default=-1))
    earlier = [place for place in shown if place < first][-EARLIER_TURNS:]
    new_turns = [
        {"turn": number} | _dict_from_turn(turns[place], turns[place].content)
        for number, place in enumerate(places, 1)
    ]
    values: dict[str, Any] = {}
    if earlier:
        values["earlier"] = [
            _dict_from_turn(turns[place], turns[place].content[-EARLIER_CHARACTERS:])
            for place in earlier
        ]
    data = as_data(values | {"turns": new_turns})
    if len(data) > MAX_DATA:
        return None
    template = load_template("app.extraction.model", VERSION)
    return Prompt(template.system, template.user.substitute(data=data), places)


def _dict_from_turn(turn: Turn, text: str) -> dict[str, Any]:
    name = {"name": turn.name} if turn.name else {}
    return {"role": turn.role.value, **name, "text": text}
