"""Cuts a text into words, and hides the words of quotations, code and addresses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from app.domain.dates.names import SPELLINGS


class WordKind(Enum):
    """The form of a word, as far as dates need it."""

    WORD = auto()
    NUMBER = auto()
    ORDINAL = auto()
    ISO_DATE = auto()
    SLASHED_DATE = auto()
    YEAR_RANGE = auto()
    DAY_RANGE = auto()
    SHORT_YEAR = auto()
    DECADE = auto()
    QUARTER = auto()
    HOUR = auto()
    LINE_BREAK = auto()
    ISO_MONTH = auto()
    MONTH_YEAR = auto()
    MARK = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a mark of a text: its place, and its lower-case form with straight apostrophes.

    Words of quotations, code and addresses are of the kind OTHER and have no lower-case form.
    """

    text: str
    low: str
    start: int
    end: int
    kind: WordKind

    @property
    def is_capitalised(self) -> bool:
        return self.text[:1].isupper()


_FREE_LEFT = r"(?<![\w.,/:#$£€@+\\=-])"
_FREE_RIGHT = r"(?![\w/@%\\=]|[.,:][\w]|[-–—][\w])"
_WORD = re.compile(
    rf"(?P<ISO_DATE>{_FREE_LEFT}[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}"
    r"(?:T[0-9]{2}:[0-9:.]{2,20}(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w-]))"
    rf"|(?P<MONTH_YEAR>{_FREE_LEFT}(?:0?[1-9]|1[0-2])/(?:19|20)[0-9]{{2}}{_FREE_RIGHT})"
    rf"|(?P<ISO_MONTH>{_FREE_LEFT}[12][0-9]{{3}}-0[1-9](?![\w-]))"
    rf"|(?P<HOUR>{_FREE_LEFT}[0-9]{{1,2}}(?::[0-9]{{2}}(?:\s?[ap]m)?|\s?[ap]m"
    rf"|\s?o['’]?clock){_FREE_RIGHT})"
    rf"|(?P<SLASHED_DATE>{_FREE_LEFT}[0-9]{{1,4}}(?P<sep>[/.])[0-9]{{1,2}}"
    rf"(?P=sep)[0-9]{{2,4}}{_FREE_RIGHT})"
    rf"|(?P<YEAR_RANGE>{_FREE_LEFT}[12][0-9]{{3}}[-–—][12][0-9]{{3}}{_FREE_RIGHT})"
    rf"|(?P<DECADE>{_FREE_LEFT}(?:[12][0-9]{{2}}|['’]?[0-9])0['’]?s{_FREE_RIGHT})"
    rf"|(?P<SHORT_YEAR>(?<!\w)['’][0-9]{{2}}{_FREE_RIGHT})"
    rf"|(?P<ORDINAL>{_FREE_LEFT}[0-9]{{1,2}}(?:st|nd|rd|th){_FREE_RIGHT})"
    rf"|(?P<QUARTER>{_FREE_LEFT}[qQ][1-4]{_FREE_RIGHT})"
    rf"|(?P<DAY_RANGE>{_FREE_LEFT}[0-9]{{1,2}}[-–—][0-9]{{1,2}}{_FREE_RIGHT})"
    rf"|(?P<NUMBER>{_FREE_LEFT}[0-9]{{1,4}}(?:{_FREE_RIGHT}|(?=(?:yr|wk|mth|mo)s?\b)))"
    r"|(?P<WORD>['’](?:s|ve|ll|m|re|d|t|til)\b|[^\W\d_]+(?![\d_]))"
    r"|(?P<LINE_BREAK>\n(?=[ \t]{0,20}(?:\n|[-*•#A-Z]|[0-9]{1,3}[.)])))"
    r"|(?P<OTHER>\w+)"
    r"|(?P<MARK>[^\w\s])"
)

# Each pattern reads a bounded stretch, so that hostile texts are read in linear time.
_QUOTED = re.compile(
    r"```[^`]{0,4000}```"
    r"|`[^`\n]{1,400}`"
    r'|"[^"\n]{1,400}"'
    r"|“[^“”\n]{1,400}”"
    r"|«[^«»\n]{1,400}»"
    r"|(?<!\w)['‘](?=[^\W\d_])[^'‘’\n]{1,300}['’](?!\w)"
)
_CHUNK = re.compile(r"\S+")
_CODE_MARK = re.compile(r"[_=@\\]|://|^www\.")
_BRACKETED = re.compile(r"[(\[]([^()\[\]\n]{1,200})[)\]]")
_DATING_START = re.compile(
    r"\s*(?:ever since|since|until|till|til|through|from|as of|effective|starting|for)\b", re.I
)


def _is_code(chunk: str) -> bool:
    """Return True for addresses, paths and assignments: characters without spaces."""
    if _CODE_MARK.search(chunk):
        return True
    return "/" in chunk and any(map(str.isalpha, chunk)) and any(map(str.isdigit, chunk))


def split_words(text: str) -> Sequence[Word]:
    """Return the words and marks of the text in order."""
    # The places, in order, whose dates are not the fact's.
    hidden = [match.span() for match in _QUOTED.finditer(text)]
    hidden += [match.span() for match in _CHUNK.finditer(text) if _is_code(match[0])]
    bracketed = _BRACKETED.finditer(text)
    hidden += [match.span() for match in bracketed if not _DATING_START.match(match[1])]
    hidden.sort()
    words: list[Word] = []
    place = 0
    for match in _WORD.finditer(text):
        while place < len(hidden) and hidden[place][1] <= match.start():
            place += 1
        if place < len(hidden) and hidden[place][0] <= match.start():
            words.append(Word(match[0], "", match.start(), match.end(), WordKind.OTHER))
            continue
        kind = WordKind[match.lastgroup or "MARK"]
        low = match[0].lower().replace("’", "'")
        low = SPELLINGS.get(low, low)
        words.append(Word(match[0], low, match.start(), match.end(), kind))
    return words
