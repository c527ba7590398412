"""Decides which dates of a text say when its fact holds."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from itertools import islice

from app.domain.dates.clauses import find_clause
from app.domain.dates.combining import DatedPhrase, combine_phrases
from app.domain.dates.dated_text import DatedBy, DatedText
from app.domain.dates.doubts import is_at_odds, is_doubtful, is_over
from app.domain.dates.intervals import Saying, find_interval
from app.domain.dates.phrase_kinds import Phrase
from app.domain.dates.phrases import find_phrases
from app.domain.dates.roles import Role, Ruling, decide_role
from app.domain.dates.words import Word, split_words

# A text with more dates than these is a list of dates, and none of them dates all of it.
_MOST_DATES = 20


def date_fact(text: str, said_at: datetime, zone: tzinfo) -> DatedText:
    """Return which words of the text date the fact itself, and the time in which it holds by them.

    Relative dates count from `said_at`, which is aware, in `zone`. Instants are the first ones of
    days in `zone`, in UTC. Dates of events and things inside the fact date nothing; those that may
    be either are left open.
    """
    words = split_words(text)
    saying = Saying(said_at, zone)
    dated: list[DatedPhrase] = []
    left_open: list[Phrase] = []
    values: list[Phrase] = []
    phrases = list(islice(find_phrases(words), _MOST_DATES + 1))
    if len(phrases) > _MOST_DATES:
        return DatedText()
    for phrase in phrases:
        ruled = _rule_phrase(words, phrase, saying)
        if ruled.ruling.role is Role.OPEN:
            left_open.append(phrase)
        elif ruled.ruling.role is Role.VALUE:
            values.append(phrase)
        else:
            dated.append(ruled)
    chosen = combine_phrases(words, dated, saying)
    if chosen is None or is_doubtful(words, chosen, values, left_open):
        doubtful = sorted(
            [*left_open, *(each.phrase for each in dated)], key=lambda each: each.first
        )
        return DatedText(left_open=_cut_all(text, words, doubtful))
    return _make_dated_text(text, words, chosen, saying, _cut_all(text, words, left_open))


def drop_date_words(text: str) -> str:
    """Return the text without its phrases of time, whatever they date."""
    words = split_words(text)
    left, place = [], 0
    for phrase in islice(find_phrases(words), _MOST_DATES):
        left.append(text[place : words[phrase.first].start])
        place = words[phrase.end - 1].end
    if not left:
        return text
    return " ".join(" ".join([*left, text[place:]]).split())


def _rule_phrase(words: Sequence[Word], phrase: Phrase, saying: Saying) -> DatedPhrase:
    ruling = decide_role(words, phrase, find_clause(words, phrase))
    interval = find_interval(phrase, saying, ruling.lean)
    if is_at_odds(phrase, ruling, interval, saying):
        ruling = Ruling(Role.OPEN)
    return DatedPhrase(phrase, ruling, interval, phrase.first, phrase.end)


def _cut_all(text: str, words: Sequence[Word], phrases: Sequence[Phrase]) -> tuple[str, ...]:
    return tuple(_cut_words(text, words, each.first, each.end) for each in phrases)


def _cut_words(text: str, words: Sequence[Word], first: int, end: int) -> str:
    return text[words[first].start : words[end - 1].end]


def _make_dated_text(
    text: str,
    words: Sequence[Word],
    chosen: DatedPhrase,
    saying: Saying,
    left_open: tuple[str, ...],
) -> DatedText:
    interval = chosen.interval
    if chosen.is_undated:
        return DatedText(left_open=left_open, is_episode=True)
    if interval is None or (interval.start is None and chosen.ruling.role is Role.STARTS):
        return DatedText(left_open=left_open)
    has_ended = chosen.ruling.role is Role.LASTS and is_over(interval, saying)
    date_words = _cut_words(text, words, chosen.first, chosen.end)
    if has_ended and interval.start is None:
        # Nobody says "is closed until 4 May" after that day: these words are older than said.
        return DatedText(left_open=(date_words, *left_open))
    dated_by = DatedBy(
        text=date_words,
        start=words[chosen.first].start,
        end=words[chosen.end - 1].end,
        holds_from=interval.start,
        holds_until=None if chosen.ruling.role is Role.STARTS else interval.end,
        precision=interval.precision,
    )
    return DatedText(dated_by, left_open, is_episode=chosen.is_episode or has_ended)
