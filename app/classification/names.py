"""One person or thing under two names: "Nora" and "my sister Nora", "Atlas" and "Project Atlas".

Judges compare words. So a stored text is read with the name that the incoming text uses, if only
one person or thing of that name is known.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.classification.signals import lexicon
from app.classification.signals.reading import parse_text

# A name of any length would be read anew from each of its letters.
_NAME = r"[A-Z][\w-]{0,60}\w"
_ENVIRONMENTS = ("staging", "production")
_RELATIVE = "|".join(sorted(map(re.escape, lexicon.KIN), key=len, reverse=True))
_FORMS = (
    re.compile(
        rf"\b(?:(?i:my|our|his|her|their)|(?:{_NAME}|user)['’]s)\s+(?:[a-z-]+\s+){{0,2}}?"
        rf"(?:{_RELATIVE}),?\s+(?P<name>{_NAME})"
    ),
    re.compile(rf"\b(?i:(?:the\s+)?(?:project|team|client|customer))\s+(?P<name>{_NAME})"),
    re.compile(
        rf"\b(?:[Tt]he\s+)?(?P<name>{_NAME}|{'|'.join(_ENVIRONMENTS)})\s+"
        r"(?:project|team|server|environment)\b"
    ),
    re.compile(rf"\b(?P<name>{_NAME})\s+{_NAME}\b"),
)


@dataclass(frozen=True, slots=True)
class _Mention:
    """A name with what describes it, as it stands in a text from `start` to `end`."""

    name: str
    start: int
    end: int
    text: str

    @property
    def words(self) -> str:
        return self.text.casefold().removeprefix("the ")


@dataclass(frozen=True, slots=True)
class RenamedText:
    """A stored text with the names of the incoming one.

    `adds_description` is True if the incoming text says more about who or what is meant, so that
    it is no repetition.
    """

    text: str
    adds_description: bool = False


def rename_alike(incoming: str, stored: Sequence[str]) -> list[RenamedText]:
    """Return the stored texts, each with the names that the incoming text uses."""
    known: dict[str, set[str]] = defaultdict(set)
    for text in (incoming, *stored):
        for mention in _find_mentions(text):
            known[mention.name].add(mention.words)
    unique = sorted(name for name, descriptions in known.items() if len(descriptions) == 1)
    return [_rename(incoming, text, unique) for text in stored]


@lru_cache(maxsize=4096)
def _find_mentions(text: str) -> tuple[_Mention, ...]:
    """Return the described names of the text. Of two that overlap, the first form counts."""
    mentions: list[_Mention] = []
    for pattern in _FORMS:
        for match in pattern.finditer(text):
            is_taken = any(m.start < match.end() and match.start() < m.end for m in mentions)
            if not is_taken and _is_name(text, match["name"]):
                name = match["name"].casefold()
                mentions.append(_Mention(name, match.start(), match.end(), match.group()))
    return tuple(mentions)


def _is_name(text: str, word: str) -> bool:
    """Return True if the word is a name in the text, or the common name of an environment."""
    name = word.casefold()
    return name in _ENVIRONMENTS or parse_text(text).kinds.get(name) == "name"


def _rename(incoming: str, stored: str, unique: Sequence[str]) -> RenamedText:
    adds_description = False
    in_incoming = {mention.name: mention for mention in _find_mentions(incoming)}
    in_stored = {mention.name: mention for mention in _find_mentions(stored)}
    for name in unique:
        new, old = in_incoming.get(name), in_stored.get(name)
        if old and not new and (match := _find_bare(incoming, name)):
            stored = stored.replace(old.text, match.group())
        elif new and not old and (match := _find_bare(stored, name)):
            stored = stored[: match.start()] + new.text + stored[match.end() :]
            adds_description = True
    return RenamedText(stored, adds_description)


def _find_bare(text: str, name: str) -> re.Match[str] | None:
    """Find the name where nothing describes it."""
    described = [(mention.start, mention.end) for mention in _find_mentions(text)]
    for match in re.finditer(rf"\b{re.escape(name)}\b", text, re.IGNORECASE):
        is_described = any(start <= match.start() < end for start, end in described)
        if not is_described and _is_name(text, match.group()):
            return match
    return None
