"""All of an activity is done with another tool: "I do all my writing in Obsidian now"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.classification.signals import lexicon
from app.classification.signals.finding import make_finding
from app.classification.signals.lemma import reduce_to_lemma
from app.classification.signals.pair import Pair
from app.classification.signals.relation import Finding, Relation

_SUBJECT = r"(?P<subject>I|[Ww]e|[A-Z][\w-]+)"
_WITH = r"(?:in|on|with|using)"
_NAME = re.compile(r"[A-Z][\w.+#-]*(?:\s+[A-Z0-9][\w.+#-]*){0,3}")
_TOOL = r"(?P<tool>\S+(?:\s+\S+){0,3}?)"
_MY = r"(?:of\s+)?(?:my|our|his|her|their|the)"
_NOW = r"(?:now|these\s+days|nowadays|from\s+now\s+on|since\s.{1,40}|as\s+of\s.{1,40})"
_LEAD = rf"(?:{_NOW}|[Ss]ince\s[\w\s]{{1,40}}|[Tt]hese\s+days|[Ff]rom\s+now\s+on)?,?\s*"
_END = rf"(?:,?\s+{_NOW})?[.!]?"
_DO = r"(?:now\s+)?(?:do(?:es)?|(?:am|is|are|['’]ve\s+been|has\s+been)\s+doing)"
_THING = r"[\w-]+(?:\s+[\w-]+)?"
_WHOLE = tuple(
    re.compile(_LEAD + form + _END)
    for form in (
        rf"{_SUBJECT}\s+{_DO}\s+all\s+{_MY}\s+(?P<activity>{_THING})\s+{_WITH}\s+{_TOOL}",
        rf"{_SUBJECT}\s+(?:now\s+)?(?P<activity>\w+\s+all\s+{_MY}\s+\w+)\s+{_WITH}\s+{_TOOL}",
        rf"{_SUBJECT}\s+(?:now\s+)?(?P<activity>\w+)\s+(?:everything|exclusively|only|solely)"
        rf"\s+{_WITH}\s+{_TOOL}",
        rf"[Aa]ll\s+(?P<subject>my|our)\s+(?P<activity>{_THING})\s+(?:is|are|happens?)"
        rf"(?:\s+now)?(?:\s+done)?\s+{_WITH}\s+{_TOOL}",
    )
)
_PLAIN = re.compile(
    rf"{_SUBJECT}\s+(?:(?:usually|mostly|always|still|currently)\s+)?"
    rf"(?P<activity>\w+(?:\s+{_MY})?(?:\s+\w+){{0,2}})\s+{_WITH}\s+{_TOOL}[.!]?"
)
_CARRIERS = frozenset("all of my our his her their the a an i we do".split())
_SUBJECTS = {"my": "i", "our": "we"}


@dataclass(frozen=True, slots=True)
class _Practice:
    """Who does what, in stems of words, and with what."""

    subject: str
    activity: frozenset[str]
    tool: str

    @property
    def has_named_tool(self) -> bool:
        return _NAME.fullmatch(self.tool) is not None

    @property
    def is_in_language(self) -> bool:
        return self.tool.casefold() in lexicon.LANGUAGES


def find_whole_activity(pair: Pair) -> Iterator[Finding]:
    """Yield an update if an activity, or all activities of its kind, moved to another tool."""
    new, old = _read_whole(pair.new.text), _read_plain(pair.old.text)
    if new is None or old is None or pair.new.modal or pair.new.negated:
        return
    if new.subject != old.subject or not new.activity <= old.activity or new.tool == old.tool:
        return
    if not (new.has_named_tool and old.has_named_tool):
        return
    if new.is_in_language == old.is_in_language:
        explanation = f"{old.tool} before, {new.tool} for all now"
        yield make_finding("whole_activity", Relation.UPDATE, explanation)


def concerns_other_activity(stored: str, incoming: str) -> bool:
    """Return True if both texts say in what something is done, and not the same is done.

    What is done in a language is done with a tool too.
    """
    new, old = _read_whole(incoming), _read_plain(stored)
    if new is None or old is None:
        return False
    return not new.activity <= old.activity or new.is_in_language != old.is_in_language


def _read_whole(text: str) -> _Practice | None:
    for pattern in _WHOLE:
        if match := pattern.fullmatch(text.strip()):
            practice = _build_practice(match)
            return None if _is_past(match["activity"]) else practice
    return None


def _is_past(activity: str) -> bool:
    verb = activity.split(maxsplit=1)[0].lower()
    return verb in lexicon.PAST_FORMS or verb.endswith("ed")


def _read_plain(text: str) -> _Practice | None:
    match = _PLAIN.fullmatch(text.strip())
    return _build_practice(match) if match else None


def _build_practice(match: re.Match[str]) -> _Practice:
    subject = match["subject"].lower()
    words = match["activity"].lower().split()
    activity = frozenset(_reduce_to_stem(word) for word in words if word not in _CARRIERS)
    return _Practice(_SUBJECTS.get(subject, subject), activity, match["tool"])


def _reduce_to_stem(word: str) -> str:
    """Return the same for "drawings", "drawing" and "draw", and for "photos" and "photo"."""
    return reduce_to_lemma(reduce_to_lemma(word)).rstrip("es")
