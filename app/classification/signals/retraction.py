"""Retractions: what a text says has ended matches what is stored."""

from collections.abc import Iterator
from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.endings import StatedEnding, find_ending
from app.classification.signals.finding import make_finding
from app.classification.signals.frame import Frame
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.classification.signals.relation import Finding, Relation


def find_retraction(pair: Pair) -> Iterator[Finding]:
    """RETRACTION (or UPDATE, where the text goes on to say more) of what the remainder of a retracting text matches."""
    ending = find_ending(pair.new.text)
    if ending is None or (ending.trigger in pair.old.words and not ending.attribute):
        return
    relation = Relation.RETRACTION if ending.only else Relation.UPDATE
    name = _find_signal_name(ending, pair)
    if name:
        yield make_finding(name, relation, f'"{ending.trigger}" ends: {pair.old.text}')


def count_leftover(pair: Pair) -> int:
    """How much of the stored text the retraction does not speak of; the closest candidate is the one that is meant."""
    ending = find_ending(pair.new.text)
    if ending is None or ending.attribute or _is_about_entity(ending, pair.new):
        return 0
    return len(pair.old.items - ending.remainder - ending.ends)


def _find_signal_name(ending: StatedEnding, pair: Pair) -> str:
    if ending.attribute:
        return (
            "retraction_of_attribute"
            if any(_is_meant(ending, f) for f in find_frames(pair.old))
            else ""
        )
    if not ending.remainder:
        return ""
    if _is_about_entity(ending, pair.new):
        return "retraction_of_entity" if _is_entity_of(ending.remainder, pair.old) else ""
    if any(_is_built_from(ending.remainder, f) for f in find_frames(pair.old)):
        return "retraction_of_attribute"
    if not _is_said_by(ending, pair):
        return ""
    left = pair.old.items - ending.remainder
    names_left = any(pair.old.kinds[i] == "name" for i in left)
    is_another = (
        ending.ends
        and _is_indefinite(ending, pair.new)
        and bool(left - ending.ends - lexicon.LIGHT_WORDS)
    )
    return "retraction_loose" if names_left or len(left) > 4 or is_another else "retraction"


def _is_indefinite(ending: StatedEnding, reading: Reading) -> bool:
    """ "Lost a tooth": not said which."""
    verb = ending.trigger.split()[-1]
    return any(a.norm == verb and b.norm in ("a", "an") for a, b in pairwise(reading.tokens))


def _is_said_by(ending: StatedEnding, pair: Pair) -> bool:
    """Whether the stored text says what ended, and is of the kind that the verb can end."""
    said = pair.old.items | frozenset(pair.old.owner)
    return _without_dates(ending.remainder, pair) <= said and (
        not ending.ends or bool(ending.ends & pair.old.words)
    )


def _without_dates(remainder: frozenset[str], pair: Pair) -> frozenset[str]:
    """The remainder without the day on which it ended."""
    return frozenset(
        i for i in remainder if pair.new.kinds.get(i) not in ("date", "weekday", "time")
    )


def _is_meant(ending: StatedEnding, frame: Frame) -> bool:
    return frame.attribute == ending.attribute and frame.subject == ending.remainder


def _is_built_from(remainder: frozenset[str], frame: Frame) -> bool:
    return (
        frame.is_built
        and frame.subject | set(frame.attribute[5:].split()) - lexicon.LIGHT_WORDS == remainder
    )


def _is_about_entity(ending: StatedEnding, reading: Reading) -> bool:
    return (
        ending.entity
        and bool(ending.remainder)
        and all(reading.kinds.get(i, "word") != "word" for i in ending.remainder)
    )


def _is_entity_of(remainder: frozenset[str], old: Reading) -> bool:
    told = find_frames(old)
    if told:
        return any(f.subject == remainder for f in told)
    if old.negated and not old.owner:
        return False
    return remainder <= old.items and frozenset(old.owner) <= remainder
