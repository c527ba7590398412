"""Frames of a text: subject, attribute and value, if its wording is known or plainly built."""

from collections.abc import Iterator
from functools import lru_cache

from app.classification.signals.built import find_built_frame, find_used_as_frame
from app.classification.signals.cued import find_cued_frame
from app.classification.signals.frame import Frame
from app.classification.signals.known import find_known_frame
from app.classification.signals.reading import Clause, Reading, parse_text
from app.classification.signals.skeleton import build_skeleton


def find_frames(reading: Reading) -> tuple[Frame, ...]:
    """The frames of what was read, at most one per clause."""
    return _find_frames_of_text(reading.text)


@lru_cache(maxsize=4096)
def _find_frames_of_text(text: str) -> tuple[Frame, ...]:
    reading = parse_text(text)
    frames = tuple(_find_clause_frames(reading.clauses))
    if any(not f.is_built and not _is_padded(f, reading) for f in frames):
        return frames
    cued = find_cued_frame(reading)
    return (cued,) if cued else frames


def _is_padded(frame: Frame, reading: Reading) -> bool:
    """Return True if plain words got into the subject, because the wording is not quite a listed
    one.
    """
    return any(reading.kinds.get(i, "word") == "word" for i in frame.subject)


def _find_clause_frames(clauses: tuple[Clause, ...]) -> Iterator[Frame]:
    for clause in clauses:
        bones = build_skeleton(clause.tokens)
        frame = bones and (
            find_used_as_frame(clause, bones)
            or find_known_frame(clause, bones)
            or find_built_frame(clause, bones)
        )
        if frame:
            yield frame
