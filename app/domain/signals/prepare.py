"""Reading a text ahead of judging it."""

from app.domain.signals.correction import corrects
from app.domain.signals.endings import ending_of
from app.domain.signals.explicit_change import changes_in
from app.domain.signals.frames import frames
from app.domain.signals.reading import read


def prepare(text: str) -> None:
    """Reads all of a text that the signals will ask of it. Readings are kept, so this only moves the work to an earlier moment."""
    reading = read(text)
    frames(reading)
    changes_in(text)
    ending_of(text)
    corrects(text)
    _ = (reading.items, reading.folded, reading.asks)
