"""Taking out what is added about somebody between commas: "Margaret, who chairs the society, …"."""

from app.extraction.compound import lexicon
from app.extraction.compound.clause import find_clause
from app.extraction.compound.words import Word, Words, carry_words

_MAX_NAME = 5


def split_relatives(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """Return the words without the addition, and the addition as a clause of its own."""
    if sum(word.low == "who" for word in words) != 1:
        return [words]
    for comma in range(1, len(words) - 2):
        if words[comma].low != "," or words[comma + 1].low != "who":
            continue
        name_start = _find_name_start(words, comma)
        end = _find_end(words, comma + 2)
        if name_start is None or _goes_on_as_list(words, end):
            continue
        addition = (*carry_words(words[name_start:comma]), *words[comma + 2 : end])
        rest = (*words[:comma], *words[end + 1 :])
        if find_clause(addition) is not None and find_clause(rest) is not None:
            return [rest, addition]
    return [words]


def _goes_on_as_list(words: Words, end: int) -> bool:
    return end + 1 < len(words) and words[end + 1].low in ("and", "or")


def _find_name_start(words: Words, end: int) -> int | None:
    """Return the start of a name, or of a phrase such as "my sister Lena", that ends there."""
    start = end
    while start > 0 and end - start < _MAX_NAME and words[start - 1].is_capitalised:
        start -= 1
    if start > 0 and words[start - 1].low in lexicon.PERSON_NOUNS:
        if start == 1 or words[start - 2].low not in lexicon.POSSESSIVES:
            return None
        return start - 2
    if 0 < start < end and words[start - 1].low == "the":
        start -= 1
    return start if start < end else None


def _find_end(words: Words, start: int) -> int:
    """Return the place of the next comma, or the end of the words."""
    for place in range(start, len(words)):
        if words[place].low in (",", ";", "."):
            return place
    return len(words)
