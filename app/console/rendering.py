"""Templates, and how pages show texts and times."""

import hashlib
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from app.api.times import parse_time
from app.console.times import LAST_STEP, MARKS

ASSETS = Path(__file__).parent / "assets"
# Characters that would be invisible, or turn what stands around them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
# More marks on one letter than any language has; they would grow over other lines.
_PILED_UP = re.compile("([\u0300-\u036f\u20d0-\u20ff]{4})[\u0300-\u036f\u20d0-\u20ff]+")
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
    """Return a time to the minute in UTC; midnight as its day, the earliest time as "always"."""
    if value is None:
        return escape(otherwise)
    time = value if isinstance(value, datetime) else parse_time(value)
    time = time.astimezone(UTC)
    exact = time.isoformat().replace("+00:00", "Z")
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(exact, name_time(time))


def name_time(time: datetime) -> str:
    if time.year == 1:
        return "always"
    is_day = (time.hour, time.minute, time.second) == (0, 0, 0)
    return f"{time:%Y-%m-%d}" if is_day else f"{time:%Y-%m-%d %H:%M}"


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
_ENVIRONMENT.filters |= {"text": show_text, "plain_text": show_plain_text, "time": show_time}
_ENVIRONMENT.globals |= {
    "asset": name_asset,
    "count_words": count_words,
    "last_step": LAST_STEP,
    "marks_of_sliders": MARKS,
}
