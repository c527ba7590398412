"""The slot of a text, where it is safe to derive one."""

from app.classification.signals.frames import find_frames
from app.classification.signals.reading import parse_text
from app.classification.signals.speech import find_speech
from app.classification.wording import write_as_holding
from app.domain.fact import BaseFact, DerivedSlot

_SPEAKER = frozenset(("i", "user"))


def derive_fact_slot(fact: BaseFact) -> DerivedSlot | None:
    """Return the slot in a fact's text, or None if the caller gave a key, which always wins."""
    if fact.key is not None:
        return None
    return derive_slot(write_as_holding(fact)) or derive_slot(fact.content)


def derive_slot(text: str) -> DerivedSlot | None:
    """(entity, key, value) of a text that plainly states one single-valued attribute.

    "Alice lives in Berlin" gives (alice, residence, Berlin). None for questions, quotations,
    denials, plans, several clauses, and attributes that hold many values.
    """
    reading = parse_text(text)
    frames = find_frames(reading)
    if len(reading.clauses) != 1 or len(frames) != 1:
        return None
    if reading.is_question or find_speech(text):
        return None
    frame = frames[0]
    if not frame.single or not frame.is_assertion or not frame.subject or not frame.spoken:
        return None
    speaker = ["user"] if frame.subject & _SPEAKER else []
    words = [t.norm for t in reading.tokens if t.norm in frame.subject - _SPEAKER]
    entity = " ".join(dict.fromkeys([*speaker, *words]))
    key = frame.attribute.removeprefix("noun:").replace(" ", "_")
    return DerivedSlot(entity or " ".join(sorted(frame.subject)), key, frame.spoken)
