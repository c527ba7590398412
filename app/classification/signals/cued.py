"""Frames of product lines told in unlisted words: "Zabbix 6.0" with "patches" and a date speaks of
its end of life.

Only for texts that name one line (a name with its number) and give one other value: there the cue
words decide between few attributes.
"""

from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.frame import Frame
from app.classification.signals.reading import Reading

_KNOWN_BEHIND_LINES = (
    frozenset("line branch series train version lts build".split())
    | lexicon.FUNCTION_WORDS
    | lexicon.SUPPORT
    | lexicon.SUPPORT_CUES
    | lexicon.ACTIVE_CUES
    | lexicon.RELEASE_CUES
    | lexicon.NEWEST_CUES
)
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
        t for t in reading.tokens if t.kind in _VERSIONS and is_version_of_line(t.norm, line)
    ]
    if len(dates) + len(versions) != 1:
        return None
    value = (dates + versions)[0]
    if not dates:
        attribute = "latest_version"
    elif reading.words & lexicon.SUPPORT_CUES:
        is_active = bool(reading.words & lexicon.ACTIVE_CUES)
        attribute = "active_support" if is_active else "end_of_life"
    elif reading.words & lexicon.RELEASE_CUES and not reading.words & lexicon.NEWEST_CUES:
        attribute = "release_date"
    else:
        return None
    [clause] = reading.clauses
    return Frame(
        attribute,
        frozenset(i for i, kind in reading.kinds.items() if kind != "word" and i != value.norm),
        frozenset((value.norm,)),
        value.kind,
        frozenset(),
        value.text,
        clause.negated,
        clause.modal,
        cued=True,
    )


def _has_codename(reading: Reading, line: str) -> bool:
    """Return True if the number is followed by a word that may be part of the name ("ROS 2
    humble"), so that the line is not all named.
    """
    after = next((b for a, b in pairwise(reading.tokens) if a.norm == line), None)
    if after is None or after.kind != "word" or after.text.endswith(("s", "ed")):
        return False
    return after.norm not in _KNOWN_BEHIND_LINES


def is_version_of_line(version: str, line: str) -> bool:
    """Return True for the "9.1.3" of the line "9.1"."""
    return version.startswith((line + ".", line + "-", line + "u"))
