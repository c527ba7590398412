"""What a text says as (subject, attribute, value), where its wording is known or plainly built."""

from collections.abc import Iterator
from functools import lru_cache

from app.domain.signals.built import built_frame_of, used_as
from app.domain.signals.cued import cued_frame
from app.domain.signals.frame import Frame
from app.domain.signals.known import known_frame
from app.domain.signals.reading import Clause, Reading, read
from app.domain.signals.skeleton import skeleton


def frames(reading: Reading) -> tuple[Frame, ...]:
    """The frames of what was read, at most one per clause."""
    return _frames_of(reading.text)


@lru_cache(maxsize=4096)
def _frames_of(text: str) -> tuple[Frame, ...]:
    reading = read(text)
    told = tuple(_each(reading.clauses))
    if any(not f.is_built and not _is_padded(f, reading) for f in told):
        return told
    cued = cued_frame(reading)
    return (cued,) if cued else told


def _is_padded(frame: Frame, reading: Reading) -> bool:
    """Whether plain words got into the subject, because the wording is not quite a listed one."""
    return any(reading.kinds.get(i, "word") == "word" for i in frame.subject)


def _each(clauses: tuple[Clause, ...]) -> Iterator[Frame]:
    for clause in clauses:
        bones = skeleton(clause.tokens)
        frame = bones and (used_as(clause, bones) or known_frame(clause, bones) or built_frame_of(clause, bones))
        if frame:
            yield frame
