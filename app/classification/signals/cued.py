"""Frames of product lines told in unlisted words: "Zabbix 6.0" with "patches" and a date speaks of
its end of life.

Only for texts that name one line (a name with its number) and give one other value: there the cue
words decide between few attributes.
"""

from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.frame import Frame
from app.classification.signals.reading import Clause, Reading

_GENERAL = frozenset("line branch series train version lts build".split())
_VERSIONS = frozenset(("version", "code", "number"))


def find_cued_frame(reading: Reading) -> Frame | None:
    """The frame of a one-clause text about a product line, or None."""
    if len(reading.clauses) != 1 or len(reading.identifiers) != 1 or reading.is_question:
        return None
    ((_, line),) = reading.identifiers
    if _has_codename(reading, line):
        return None
    dates = [t for t in reading.tokens if t.kind == "date"]
    versions = [
        t
        for t in reading.tokens
        if t.kind in _VERSIONS and t.norm != line and _is_version_of_line(t.norm, line)
    ]
    if len(dates) + len(versions) != 1:
        return None
    value = (dates + versions)[0]
    attribute = _date_attribute(reading.words) if dates else "latest_version"
    return (
        _make_cued_frame(reading, attribute, value.norm, value.kind, value.text)
        if attribute
        else None
    )


def _has_codename(reading: Reading, line: str) -> bool:
    """Return True if the number is followed by a word that may be part of the name ("ROS 2
    humble"), so that the line is not all named.
    """
    after = next((b for a, b in pairwise(reading.tokens) if a.norm == line), None)
    if after is None or after.kind != "word" or after.text.endswith(("s", "ed")):
        return False
    known = (
        lexicon.FUNCTION_WORDS
        | lexicon.SUPPORT
        | lexicon.SUPPORT_CUES
        | lexicon.ACTIVE_CUES
        | lexicon.RELEASE_CUES
        | lexicon.NEWEST_CUES
    )
    return after.norm not in known and after.norm not in _GENERAL


def _is_version_of_line(version: str, line: str) -> bool:
    return version.startswith((line + ".", line + "-", line + "u"))


def _date_attribute(words: frozenset[str]) -> str:
    """Return the attribute that the date belongs to; the more special attribute comes first."""
    if words & lexicon.SUPPORT_CUES:
        return "active_support" if words & lexicon.ACTIVE_CUES else "end_of_life"
    return (
        "release_date" if words & lexicon.RELEASE_CUES and not words & lexicon.NEWEST_CUES else ""
    )


def _make_cued_frame(reading: Reading, attribute: str, value: str, kind: str, spoken: str) -> Frame:
    clause: Clause = reading.clauses[0]
    subject = frozenset(i for i, k in reading.kinds.items() if k != "word" and i != value)
    return Frame(
        attribute,
        subject,
        frozenset((value,)),
        kind,
        frozenset(),
        spoken,
        clause.negated,
        clause.modal,
        cued=True,
    )
