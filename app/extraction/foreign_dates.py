"""The network that reads phrases of time in many languages.

It is the lower layers of multilingual-e5-small. It finds the phrases, tells what each is to its
fact, and chooses what it means (app/domain/dates/meanings.py).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from app.domain.dates.facts import MOST_DATES, TimedText
from app.domain.dates.meanings import CHOICES, Figure, Meaning, make_phrase
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.roles import Role
from app.domain.dates.words import Word, WordKind, split_words
from app.domain.language import is_in_known_script
from app.extraction.date_roles import ROLES, RuledText, choose_role
from app.networks import LazyNetwork, NetworkSet, locate_tokens, weigh_logits

# Phrases after so many tokens are not read.
MAX_TOKENS: Final = 200
# The choices of a phrase are taken if all of them together are at least this likely.
LEAST_CERTAINTY: Final = 0.7
# A phrase dates the fact only if its dating roles together are at least this likely. Both numbers
# were chosen on sixteen held-out writers, of whose dates .971 are read rightly (.952 with .5, .9).
LEAST_FOREIGN_DATING: Final = 0.98
# The marks of tokens.
OUTSIDE, BEGINS, INSIDE = range(3)
FIGURES: Final = tuple(Figure)
REST_OF_WORD: Final = re.compile(r"(?<=[A-Za-zÀ-ɏ])[A-Za-zÀ-ɏ]+")  # in Latin writing
NUMBER: Final = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
# Where the outputs of each choice begin and end, behind those of the roles.
_ENDS: Final = tuple(accumulate(map(len, CHOICES.values()), initial=len(ROLES)))
PLACES: Final = dict(zip(CHOICES, pairwise(_ENDS), strict=True))

Span = tuple[int, int]
Located = Sequence[tuple[int, Span]]  # the places of tokens, and those of their characters
Logits = NDArray[np.float32]


class ForeignDates:
    """Reads the phrases of time in texts of many languages. Threads may read at once."""

    def __init__(self, networks: NetworkSet) -> None:
        self._networks = networks
        self._network = LazyNetwork("dates.onnx", networks)

    def can_read(self, text: str) -> bool:
        """Return True for what is not English, and in writing that the network was trained on."""
        return is_in_known_script(text) and not self._networks.is_english(text)

    def read(self, text: str) -> RuledText:
        """Return the text with its phrases of time, and what each is to the fact.

        A phrase whose meaning is in doubt is open, unless it is a value in any case.
        """
        encoding = self._network.encode(text)
        ids = encoding.ids[:MAX_TOKENS]
        located = [
            (1 + place, span) for place, span in locate_tokens(encoding, text) if place < len(ids)
        ]
        if not located:
            return TimedText(text, (), ()), []
        inputs = {"ids": np.array([[self._networks.start, *ids, self._networks.end]])}
        [marks], [choices], [figures] = self._network.run(["marks", "choices", "figures"], inputs)
        words: list[Word] = []
        phrases: list[Phrase] = []
        roles: list[Role] = []
        done = 0
        is_cut = len(ids) < len(encoding.ids)
        for tokens in _find_phrases(marks, located):
            if is_cut and tokens[-1] == located[-1]:
                break  # the rest of the phrase was not read
            start, end = tokens[0][1][0], tokens[-1][1][1]
            if rest := REST_OF_WORD.match(text, end):
                end = rest.end()
            if start < done:
                continue  # the phrase before it has the whole word
            words += _split(text, done, start)
            done = end
            weighed = choices[[place for place, _ in tokens]].mean(axis=0)
            phrase = _read_phrase(text, tokens, weighed, figures, len(words))
            role = choose_role(weighed[: len(ROLES)], LEAST_FOREIGN_DATING)
            if phrase is None:
                phrase = Phrase(PhraseKind.VAGUE, len(words), len(words) + 1)
                role = Role.OPEN if role.dates else role
            words.append(Word(text[start:end], "", start, end, WordKind.OTHER))
            phrases.append(phrase)
            roles.append(role)
        if len(phrases) > MOST_DATES:
            return TimedText(text, (), ()), []
        words += _split(text, done, len(text))
        return TimedText(text, words, phrases), roles


def _find_phrases(marks: Logits, located: Located) -> Iterator[Located]:
    phrase: list[tuple[int, Span]] = []
    for place, span in located:
        mark = int(marks[place].argmax())
        if phrase and mark != INSIDE:
            yield phrase
            phrase = []
        if mark != OUTSIDE:
            phrase.append((place, span))
    if phrase:
        yield phrase


def _read_phrase(
    text: str, tokens: Located, logits: Logits, figures: Logits, place: int
) -> Phrase | None:
    """Return the phrase that these tokens mean, None in doubt."""
    certainty = 1.0
    chosen: dict[str, Any] = {}
    for name, (first, end) in PLACES.items():
        likely = weigh_logits(logits[first:end])
        certainty *= float(likely.max())
        chosen[name] = CHOICES[name][int(likely.argmax())]
    numbers: dict[Figure, int] = {}
    start, end = tokens[0][1][0], tokens[-1][1][1]
    for number in NUMBER.finditer(text):
        if not start <= number.start() < end:
            continue
        its = [at for at, (first, last) in tokens if first < number.end() and number.start() < last]
        likely = weigh_logits(figures[its].mean(axis=0))
        certainty *= float(likely.max())
        figure = FIGURES[int(likely.argmax())]
        if figure in numbers or number.end() > end:
            return None
        if figure is not Figure.NONE:
            numbers[figure] = int(number[0])
    if certainty < LEAST_CERTAINTY:
        return None
    return make_phrase(Meaning(**chosen), numbers, place, place + 1)


def _split(text: str, start: int, end: int) -> Iterator[Word]:
    for word in split_words(text[start:end]):
        yield Word(word.text, word.low, start + word.start, start + word.end, word.kind)
