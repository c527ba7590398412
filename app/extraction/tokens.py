"""Words of a clause in lower case, with contractions written out."""

import re
from dataclasses import dataclass
from functools import cached_property

from app.extraction import words as lists

_WORD = re.compile(r"[^\W_](?:[\w'’.+#&/@:-]*[\w+#])?|[^\w\s]")
# Short forms that are one word, and those without their apostrophe.
_SHORT_FORMS = """
    im=i+am ive=i+have dont=do+not doesnt=does+not cant=can+not cannot=can+not can't=can+not
    isnt=is+not arent=are+not wont=will+not won't=will+not didnt=did+not wasnt=was+not
    theres=there+is thats=that+is weve=we+have hasnt=has+not havent=have+not ain't=am+not
    gonna=going+to wanna=want+to gotta=have+to hes=he+is shes=she+is theyre=they+are youre=you+are
    let's=let+us lets=let+us whats=what+is couldnt=could+not wouldnt=would+not shouldnt=should+not
    i'd=i+would itll=it+will ill=i+will u=you ur=your
    """
_WHOLE = {
    short: tuple(long.split("+"))
    for short, long in (pair.split("=") for pair in _SHORT_FORMS.split())
}
_ENDINGS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
# After these, "'s" is short for "is" or "has"; after a noun it may mark an owner.
_SHORT_IS = frozenset("he she it that there here what who where how".split())


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark: as written, in lower case, and its place in the clause."""

    text: str
    lower: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.lower[0].isalnum()

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()


@dataclass(frozen=True)
class Clause:
    """The words of a part of a sentence."""

    text: str

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The words, a contraction as the words that it stands for."""
        matches = [*_WORD.finditer(self.text)]
        tokens: list[Token] = []
        for place, match in enumerate(matches):
            following = matches[place + 1][0].lower() if place + 1 < len(matches) else ""
            for lower in _write_out(match[0], following):
                tokens.append(Token(match[0], lower, match.start(), match.end()))
        return tuple(tokens)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The tokens that are words, in lower case."""
        return tuple(token.lower for token in self.tokens if token.is_word)

    @cached_property
    def word_set(self) -> frozenset[str]:
        return frozenset(self.words)

    def starts_with(self, *phrases: str) -> bool:
        """Return True if the clause begins with one of the phrases, word by word."""
        return any(
            self.words[: phrase.count(" ") + 1] == tuple(phrase.split()) for phrase in phrases
        )

    def contains(self, *phrases: str) -> bool:
        """Return True if one of the phrases stands in the clause, word by word."""
        return any(f" {phrase} " in self._spaced for phrase in phrases)

    @cached_property
    def _spaced(self) -> str:
        return f" {' '.join(self.words)} "


def _write_out(word: str, following: str) -> tuple[str, ...]:
    lower = word.lower().replace("’", "'")
    if lower in _WHOLE:
        return _WHOLE[lower]
    if lower.endswith("n't") and len(lower) > 3:
        return lower[:-3], "not"
    for ending, long in _ENDINGS.items():
        if lower.endswith(ending) and len(lower) > len(ending):
            return lower[: -len(ending)], long
    if lower.endswith("'s"):
        return _write_out_is(lower[:-2], following)
    return (lower,)


_AFTER_IS = frozenset(
    """
    a an the not always never also now still already just only been from in at on for full with by
    near half one two three four five six seven eight nine ten my our currently no
    """.split()
)


def _write_out_is(noun: str, following: str) -> tuple[str, ...]:
    """Return the noun with "is", "has" or "'s" for an owner."""
    following = following.replace("’", "'")
    if noun in _SHORT_IS:
        return noun, "has" if following in {"been", "got"} else "is"
    is_verb = (
        following[:1].isdigit()
        or following in _AFTER_IS
        or following.endswith("ing")
        or following in lists.STATES
    )
    if not is_verb:
        return (f"{noun}'s",)
    return noun, "has" if following == "been" else "is"
