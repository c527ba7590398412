"""Templates, and how pages show texts and times."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from app.api.times import parse_time
from app.console.words import JUDGES, OPERATIONS, RELATIONS

ASSETS = Path(__file__).parent / "assets"
# Characters that would be invisible, or turn what stands around them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
# More marks on one letter than any language has; they would grow over other lines.
_PILED_UP = re.compile("([\u0300-\u036f\u20d0-\u20ff]{4})[\u0300-\u036f\u20d0-\u20ff]+")
# Texts that a sentence quotes, and its times.
_QUOTE_OR_TIME = re.compile(r"(“[^”]*”|\d{4}-\d\d-\d\d(?: \d\d:\d\d UTC)?)")
# Categories of characters that belong to the one before them.
_CONTINUING = ("Mn", "Me", "Mc", "Cf", "Sk")
_LONGEST = 280


def render_template(name: str, **values: Any) -> str:
    return _ENVIRONMENT.get_template(name).render(**values)


def show_text(content: str | None, longest: int = _LONGEST) -> Markup:
    """Return a text of a user for a page: isolated, shortened, with unseen characters named."""
    if content is None:
        return Markup('<span class="quiet">erased</span>')
    return Markup('<bdi class="text">{}</bdi>').format(show_plain_text(content, longest))


def show_plain_text(content: str, longest: int = _LONGEST) -> str:
    """Return a text of a user for an attribute, which takes no markup: shortened, with unseen
    characters named.
    """
    return name_unseen(cut_text(content, longest))


def name_unseen(text: str) -> str:
    """Return the text with unseen characters named, and without piles of marks."""
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", _PILED_UP.sub(r"\1", text))


def cut_text(content: str, longest: int) -> str:
    """Return at most so many characters; a composed one is kept whole or left out."""
    if len(content) <= longest:
        return content
    end = longest - 1
    while end > longest // 2 and unicodedata.category(content[end]) in _CONTINUING:
        end -= 1
    return content[:end].rstrip() + "…"


def show_time(value: str | datetime | None, otherwise: str = "") -> Markup:
    """Return the day of a time in UTC, without this year; pointing at it shows the exact time."""
    if value is None:
        return escape(otherwise)
    time = parse_time(value).astimezone(UTC)
    return _show_time(time, name_day(time, has_year=time.year != datetime.now(UTC).year))


def show_day(value: str | datetime | None, otherwise: str = "") -> Markup:
    """Return the day of a time in UTC, with its year."""
    if value is None:
        return escape(otherwise)
    time = parse_time(value).astimezone(UTC)
    return _show_time(time, name_day(time))


def show_clock(value: str) -> Markup:
    """Return the minute of a time in UTC, for lists that name its day."""
    time = parse_time(value)
    return _show_time(time, f"{time:%H:%M}")


def _show_time(time: datetime, words: str) -> Markup:
    exact = time.astimezone(UTC).isoformat().replace("+00:00", "Z")
    title = f"{name_day(time)}, {time:%H:%M:%S} UTC"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, title, words)


def name_day(time: datetime, *, has_year: bool = True) -> str:
    """Return the day as "22 Nov 2026"; the earliest time is "always"."""
    if time.year == 1:
        return "always"
    day = f"{time.day} {time:%b}"
    return f"{day} {time.year}" if has_year else day


def name_times(times: Sequence[datetime]) -> list[str]:
    """Return a name for each time: its day, and the minute of those that share a day."""
    days = Counter(time.date() for time in times)
    return [
        f"{name_day(time)}, {time:%H:%M}" if days[time.date()] > 1 else name_day(time)
        for time in times
    ]


def show_sentence(sentence: str, longest: int = 2000) -> Markup:
    """Return a sentence of the API for a page, with its times as days."""
    shown = Markup("")
    for number, part in enumerate(_QUOTE_OR_TIME.split(show_plain_text(sentence, longest))):
        is_time = number % 2 and not part.startswith("“")
        shown += _show_time_of_sentence(part) if is_time else escape(part)
    return Markup('<bdi class="text">{}</bdi>').format(shown)


def _show_time_of_sentence(text: str) -> Markup:
    try:
        return show_time(text.removesuffix(" UTC"))
    except ValueError:  # digits that are no date
        return escape(text)


def count_words(count: int, one: str, many: str | None = None) -> str:
    """Return "1 fact" or "2 facts"."""
    if count == 1:
        return f"{count:,} {one}"
    return f"{count:,} {many or one + 's'}"


def name_asset(name: str) -> str:
    """Return the address of an asset, which changes with its content, so that browsers keep it."""
    return f"/ui/assets/{name}?v={_VERSIONS[name]}"


_VERSIONS = {
    path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:12] for path in ASSETS.iterdir()
}
_ENVIRONMENT = Environment(
    loader=PackageLoader("app.console"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters |= {
    "clock": show_clock,
    "day": show_day,
    "plain_text": show_plain_text,
    "sentence": show_sentence,
    "text": show_text,
    "time": show_time,
}
_ENVIRONMENT.globals |= {
    "asset": name_asset,
    "count_words": count_words,
    "judges": JUDGES,
    "operations": OPERATIONS,
    "relations": RELATIONS,
}
