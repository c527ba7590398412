"""Reading a text ahead of judging it."""

from app.classification.signals.endings import find_ending
from app.classification.signals.explicit_change import find_changes
from app.classification.signals.frames import find_frames
from app.classification.signals.reading import parse_text
from app.domain.corrections import is_correction


def prepare_text(text: str) -> None:
    """Reads all of a text that the signals will ask of it. Readings are kept, so this only moves
    the work to an earlier moment.
    """
    reading = parse_text(text)
    find_frames(reading)
    find_changes(text)
    find_ending(text, None)
    is_correction(text)
    _ = (reading.items, reading.folded, reading.is_question)
