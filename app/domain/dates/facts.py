"""Decides which dates of a text say when its fact holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import islice

from app.domain.dates.combining import DatedPhrase, combine_phrases
from app.domain.dates.dated_text import DatedBy, DatedText
from app.domain.dates.doubts import is_at_odds, is_doubtful, is_over, names_no_day
from app.domain.dates.intervals import Saying, find_interval
from app.domain.dates.phrase_kinds import Phrase
from app.domain.dates.phrases import find_phrases
from app.domain.dates.roles import Role
from app.domain.dates.words import Word, split_words

# A text with more dates than these is a list of dates, and none of them dates all of it.
MOST_DATES = 20


@dataclass(frozen=True, slots=True)
class TimedText:
    """A text, its words, and the phrases of time in it."""

    text: str
    words: Sequence[Word]
    phrases: Sequence[Phrase]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The half-open places of the phrases, in characters."""
        return [(self.words[p.first].start, self.words[p.end - 1].end) for p in self.phrases]


def find_times(text: str) -> TimedText:
    """Return the text with its phrases of time; with none of them if they are too many."""
    words = split_words(text)
    phrases = list(islice(find_phrases(words), MOST_DATES + 1))
    return TimedText(text, words, phrases if len(phrases) <= MOST_DATES else ())


def date_fact(
    timed: TimedText, roles: Sequence[Role], said_at: datetime, zone: tzinfo
) -> DatedText:
    """Return which words of the text date the fact itself, and the time in which it holds by them.

    `roles` are those of the phrases. Relative dates count from `said_at`, which is aware, in
    `zone`. Instants are the first ones of days in `zone`, in UTC. Dates of events and things inside
    the fact date nothing; those that may be either are left open.
    """
    saying = Saying(said_at, zone)
    dated: list[DatedPhrase] = []
    left_open: list[Phrase] = []
    values: list[Phrase] = []
    for phrase, role in zip(timed.phrases, roles, strict=True):
        if role is Role.VALUE:
            values.append(phrase)
        elif (ruled := _find_date(timed.words, phrase, role, saying)) is None:
            left_open.append(phrase)
        else:
            dated.append(ruled)
    chosen = combine_phrases(timed.words, dated, saying)
    if chosen is None or is_doubtful(timed.words, chosen, values, left_open):
        doubtful = sorted(
            [*left_open, *(each.phrase for each in dated)], key=lambda each: each.first
        )
        is_episode = bool(doubtful) and all(role is Role.EPISODE for role in roles)
        return DatedText(left_open=_cut_all(timed, doubtful), is_episode=is_episode)
    return _make_dated_text(timed, chosen, saying, _cut_all(timed, left_open))


def drop_date_words(text: str) -> str:
    """Return the text without its phrases of time, whatever they date."""
    words = split_words(text)
    left, place = [], 0
    for phrase in islice(find_phrases(words), MOST_DATES):
        left.append(text[place : words[phrase.first].start])
        place = words[phrase.end - 1].end
    if not left:
        return text
    return " ".join(" ".join([*left, text[place:]]).split())


def _find_date(
    words: Sequence[Word], phrase: Phrase, role: Role, saying: Saying
) -> DatedPhrase | None:
    """Return the date that a phrase of this role gives the fact, None if it is left open."""
    interval = find_interval(phrase, saying, role.lean)
    if role is Role.OPEN or interval is None or names_no_day(words, phrase):
        return None
    if is_at_odds(phrase, role, interval, saying):
        return None
    return DatedPhrase(phrase, role, interval, phrase.first, phrase.end)


def _cut_all(timed: TimedText, phrases: Sequence[Phrase]) -> tuple[str, ...]:
    return tuple(_cut_words(timed, each.first, each.end) for each in phrases)


def _cut_words(timed: TimedText, first: int, end: int) -> str:
    return timed.text[timed.words[first].start : timed.words[end - 1].end]


def _make_dated_text(
    timed: TimedText, chosen: DatedPhrase, saying: Saying, left_open: tuple[str, ...]
) -> DatedText:
    interval = chosen.interval
    if chosen.is_undated:
        return DatedText(left_open=left_open, is_episode=True)
    has_ended = chosen.role is Role.LASTS and is_over(interval, saying)
    date_words = _cut_words(timed, chosen.first, chosen.end)
    if has_ended and interval.start is None:
        # Nobody says "is closed until 4 May" after that day: these words are older than said.
        return DatedText(left_open=(date_words, *left_open))
    dated_by = DatedBy(
        text=date_words,
        start=timed.words[chosen.first].start,
        end=timed.words[chosen.end - 1].end,
        holds_from=interval.start,
        holds_until=None if chosen.role.is_start else interval.end,
        precision=interval.precision,
    )
    return DatedText(dated_by, left_open, is_episode=chosen.is_episode or has_ended)
