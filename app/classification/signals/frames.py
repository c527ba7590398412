"""Frames of a text: subject, attribute and value, if its wording is known or plainly built."""

from functools import lru_cache

from app.classification.signals.built import find_built_frame, find_used_as_frame
from app.classification.signals.cued import find_cued_frame
from app.classification.signals.frame import Frame
from app.classification.signals.known import find_known_frame
from app.classification.signals.reading import Reading, parse_text
from app.classification.signals.skeleton import build_skeleton


def find_frames(reading: Reading) -> tuple[Frame, ...]:
    """The frames of what was read, at most one per clause."""
    return _find_frames_of_text(reading.text)


@lru_cache(maxsize=4096)
def _find_frames_of_text(text: str) -> tuple[Frame, ...]:
    reading = parse_text(text)
    frames = []
    for clause in reading.clauses:
        bones = build_skeleton(clause.tokens)
        frame = bones and (
            find_used_as_frame(clause, bones)
            or find_known_frame(clause, bones)
            or find_built_frame(clause, bones)
        )
        if frame:
            frames.append(frame)
    for frame in frames:
        # Plain words in the subject tell that the wording is not quite a listed one.
        is_padded = any(reading.kinds.get(item, "word") == "word" for item in frame.subject)
        if not frame.is_built and not is_padded:
            return tuple(frames)
    cued = find_cued_frame(reading)
    return (cued,) if cued else tuple(frames)
