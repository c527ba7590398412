"""Splits prose into sentences, with their places in the original text."""

import re
from collections.abc import Iterator

from sentencex import get_sentence_boundaries

# The library wants a capital after a full stop, which hurried writers leave out, and takes some
# marks for none. It reads a copy of the same length that has them.
_LOWER_START = re.compile(r"([.!?…][\"')\]]{0,2}\s{1,9})([a-z])")
_WORD_LENGTH = 12
_ABBREVIATIONS = frozenset(
    """
    a.m p.m am pm e.g i.e eg ie etc approx ca cf vs st dr mr mrs ms prof sr jr no nos vol fig inc
    ltd co corp dept est min max tel ext ave rd jan feb mar apr jun jul aug sep sept oct nov dec mon
    tue tues wed thu thur thurs fri sat sun al u.s u.k ft in lbs oz hrs mins sec v
    """.split()
)
_EMOTICON = re.compile(r"(?<=\s)(?:[:;=]-?[)(DPp/]|<3|xD|XD|\^\^)(?=\s+[A-Za-z])")
_EMOJI = re.compile(r"(?<=\s)[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+(?=\s+[A-Za-z])")
# The library takes "May." and others for short words. Before a subject, a full stop ends all.
_SUBJECT_START = re.compile(
    r"\.(?=\s+(?:I|I['’]\w+|We|He|She|They|It|My|Our|His|Her|Their|There|This|The)\b)"
)
_LIST_MARK = re.compile(r"\(?(?:\d{1,2}|[A-Za-z]|[ivx]{2})[.)]|[-*•–]")
_REPEATED_MARK = re.compile(r"[!?]+(?=[!?])")
_ELLIPSIS = re.compile(r"(?:…|(?<!\.)\.{2,}+)(?=\s+(?:[A-Z]|i\b))")


def split_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the half-open places of the sentences between `start` and `end`, without spaces."""
    part = text[start:end]
    for boundary in get_sentence_boundaries("en", _prepare(part)):
        first, last = boundary["start_index"], boundary["end_index"]
        sentence = part[first:last]
        stripped = sentence.strip()
        # Behind a list mark comes its item: "97." alone is an answer.
        is_list_mark = _LIST_MARK.fullmatch(stripped) and part[last:].strip()
        if stripped and not is_list_mark:
            begins = start + first + sentence.index(stripped)
            yield begins, begins + len(stripped)


def _prepare(text: str) -> str:
    """Return a text of the same length that the library splits as a reader would."""
    text = _REPEATED_MARK.sub(lambda match: "," * len(match[0]), text)
    text = _EMOTICON.sub(lambda match: "." * len(match[0]), text)
    text = _SUBJECT_START.sub("!", text)
    text = _EMOJI.sub(lambda match: "." * len(match[0]), text)
    text = _ELLIPSIS.sub(lambda match: "," * (len(match[0]) - 1) + ".", text)
    return _LOWER_START.sub(_write_capital, text)


def _write_capital(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - _WORD_LENGTH) : match.start()].split()
    word = before[-1].lower().lstrip("(\"'") if before else ""
    is_short = word in _ABBREVIATIONS and match[1].startswith(".")
    return match[0] if is_short else match[1] + match[2].upper()
