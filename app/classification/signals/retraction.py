"""Retractions: what a text says has ended matches what is stored."""

from collections.abc import Iterator
from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.endings import StatedEnding, find_ending
from app.classification.signals.finding import make_finding
from app.classification.signals.frames import find_frames
from app.classification.signals.pair import Pair
from app.classification.signals.reading import Reading
from app.classification.signals.token import CALENDAR
from app.domain.relation import Finding, Relation


def find_retraction(pair: Pair) -> Iterator[Finding]:
    """Yield a retraction of what a retracting text speaks of, or an update if it says more."""
    ending = find_ending(pair.new.text, pair.incoming.dated_by)
    if ending is None or (ending.trigger in pair.old.words and not ending.attribute):
        return
    # What tells of the same ending is not what ended.
    other = find_ending(pair.old.text, pair.stored.dated_by)
    if other is not None and other.remainder and other.remainder <= ending.remainder:
        return
    relation = Relation.RETRACTION if ending.only else Relation.UPDATE
    name = _find_signal_name(ending, pair)
    if name:
        yield make_finding(name, relation, f'"{ending.trigger}" ends: {pair.old.text}')


def count_leftover(pair: Pair) -> int:
    """Count the content of the stored text that the retraction does not speak of.

    The candidate with the least leftover is the one that is meant.
    """
    ending = find_ending(pair.new.text, pair.incoming.dated_by)
    if ending is None or ending.attribute or _is_about_entity(ending, pair.new):
        return 0
    return len(pair.old.items - ending.remainder - ending.ends)


def _find_signal_name(ending: StatedEnding, pair: Pair) -> str:
    """Return the name of the signal, or "" if the stored text is not meant."""
    frames = find_frames(pair.old)
    if ending.attribute:
        named = {frame.subject for frame in frames if frame.attribute == ending.attribute}
        return "retraction_of_attribute" if ending.remainder in named else ""
    if not ending.remainder:
        return ""
    if _is_about_entity(ending, pair.new):
        return "retraction_of_entity" if _is_entity_of(ending.remainder, pair.old) else ""
    for frame in frames:
        noun = set(frame.attribute[5:].split()) - lexicon.LIGHT_WORDS
        if frame.is_built and frame.subject | noun == ending.remainder:
            return "retraction_of_attribute"
    # The stored text must hold what ended, and the verb must be able to end such a thing.
    dates = {item for item, kind in pair.new.kinds.items() if kind in CALENDAR}
    if not ending.remainder - dates <= pair.old.items | frozenset(pair.old.owner):
        return ""
    if _ends_one_of_several(ending, pair.old):
        return ""
    if ending.ends and not ending.ends & pair.old.words:
        return ""
    return "retraction_loose" if _is_loose(ending, pair) else "retraction"


def _is_loose(ending: StatedEnding, pair: Pair) -> bool:
    """Return True if the stored text says so much more that something else may be meant."""
    left = pair.old.items - ending.remainder
    if len(left) > 4 or any(pair.old.kinds[item] == "name" for item in left):
        return True
    if not ending.ends or not left - ending.ends - lexicon.LIGHT_WORDS:
        return False
    # "Lost a tooth" does not say which one.
    verb = ending.trigger.split()[-1]
    pairs = pairwise(pair.new.tokens)
    return any(token.norm == verb and following.norm in ("a", "an") for token, following in pairs)


def _ends_one_of_several(ending: StatedEnding, old: Reading) -> bool:
    """Return True if one of two things in a list has ended: the gym of "the gym and the pool"."""
    for place, token in enumerate(old.tokens):
        if token.norm not in ("and", "&", ","):
            continue
        before = [t for t in old.tokens[:place] if t.norm in old.items]
        after = [t for t in old.tokens[place:] if t.norm in old.items]
        # "Aspirin, 50 mg" lists nothing.
        if before and after and not (token.norm == "," and after[0].is_value):
            ends_last = before[-1].norm in ending.remainder
            ends_next = after[0].norm in ending.remainder
            if ends_last != ends_next:
                return True
    return False


def _is_about_entity(ending: StatedEnding, reading: Reading) -> bool:
    return (
        ending.entity
        and bool(ending.remainder)
        and all(reading.kinds.get(i, "word") != "word" for i in ending.remainder)
    )


def _is_entity_of(remainder: frozenset[str], old: Reading) -> bool:
    frames = find_frames(old)
    if frames:
        return any(frame.subject == remainder for frame in frames)
    if old.negated and not old.owner:
        return False
    return remainder <= old.items and frozenset(old.owner) <= remainder
