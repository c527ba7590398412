"""Texts that state nothing of their own: questions and quoted speech."""

import re
from enum import StrEnum

from app.classification.signals.reading import parse_text


class Speech(StrEnum):
    """What a text does instead of stating a fact. The value is the tag of its memory."""

    QUESTION = "question"
    QUOTATION = "quotation"


_SENTENCE_END = re.compile(r"\w{3}[.!…]['\"”’)]*\s+\S")  # "Dr. Moll" ends nothing
_SAYING = "say|said|write|wrote|written|ask|sing|sang|sung|read|go|shout|reply|replied|insist|claim"
# Who speaks, in a few words, then the quotation up to the end of the text.
_QUOTED = re.compile(
    r"(?P<lead>[^\"“”«»]{0,80}?)[\s:,]*[\"“«](?P<words>[^\"“”«»]+)[\"”»][.!?]?", re.DOTALL
)
_SAYS = re.compile(rf"\b(?:{_SAYING})(?:s|es|ed|ing)?\b[^.]*$", re.IGNORECASE)
_SPEAKER = re.compile(r"\b(?:I|we|user)\b", re.IGNORECASE)
_FEWEST_WORDS = 3  # fewer are a name or a word that is spoken about


def find_speech(text: str) -> Speech | None:
    """Return how the text speaks without stating a fact; None if it states one.

    A question after a statement ("I moved to Bonn. Any tips?") leaves the statement one. What the
    user says of himself in quotation marks is a statement too.
    """
    quoted = _QUOTED.fullmatch(text.strip())
    if quoted and len(quoted["words"].split()) >= _FEWEST_WORDS:
        lead = quoted["lead"].strip()
        if not lead or (_SAYS.search(lead) and not _SPEAKER.search(lead)):
            return Speech.QUOTATION
    if parse_text(text).is_question and not _SENTENCE_END.search(text):
        return Speech.QUESTION
    return None
