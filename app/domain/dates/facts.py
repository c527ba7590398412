"""Decides which dates of a text say when its fact holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from app.domain.dates.clauses import find_clause
from app.domain.dates.dated_text import DatedBy, DatedText
from app.domain.dates.intervals import Interval, Saying, find_interval
from app.domain.dates.phrases import Phrase, PhraseKind, find_phrases
from app.domain.dates.roles import Role, Ruling, decide_role
from app.domain.dates.words import Word, split_words


@dataclass(frozen=True, slots=True)
class _DatedPhrase:
    phrase: Phrase
    ruling: Ruling
    interval: Interval | None


def date_fact(text: str, said_at: datetime, zone: tzinfo) -> DatedText:
    """Return which words of the text date the fact itself, and the time in which it holds by them.

    Relative dates count from `said_at`, which is aware, in `zone`. Instants are the first ones of
    days in `zone`, in UTC. Dates of events and things inside the fact date nothing; those that may
    be either are left open.
    """
    words = split_words(text)
    saying = Saying(said_at, zone)
    dated = []
    left_open = []
    for phrase in find_phrases(words):
        ruled = _rule_phrase(words, phrase, saying)
        if ruled.ruling.role is Role.OPEN:
            left_open.append(_cut_words(text, words, phrase))
        elif ruled.ruling.role is not Role.VALUE:
            dated.append(ruled)
    return _make_dated_text(text, words, saying, dated, left_open)


def _rule_phrase(words: Sequence[Word], phrase: Phrase, saying: Saying) -> _DatedPhrase:
    ruling = decide_role(words, phrase, find_clause(words, phrase))
    return _DatedPhrase(phrase, ruling, find_interval(phrase, saying, ruling.lean))


def _is_over(interval: Interval, saying: Saying) -> bool:
    return interval.end is not None and interval.end <= saying.at


def _cut_words(text: str, words: Sequence[Word], phrase: Phrase) -> str:
    return text[words[phrase.first].start : words[phrase.end - 1].end]


def _make_dated_text(
    text: str,
    words: Sequence[Word],
    saying: Saying,
    dated: Sequence[_DatedPhrase],
    left_open: list[str],
) -> DatedText:
    if not dated:
        return DatedText(left_open=tuple(left_open))
    if len(dated) > 1:
        doubtful = [_cut_words(text, words, each.phrase) for each in dated]
        return DatedText(left_open=(*doubtful, *left_open))
    only = dated[0]
    is_episode = only.ruling.role is Role.EPISODE
    interval = only.interval
    is_undatable = is_episode and only.phrase.kind is PhraseKind.LASTING
    if interval is None or is_undatable:
        return DatedText(left_open=tuple(left_open), is_episode=is_episode)
    if only.ruling.role is Role.LASTS and _is_over(interval, saying):
        is_episode = True
    first, last = words[only.phrase.first], words[only.phrase.end - 1]
    dated_by = DatedBy(
        text=text[first.start : last.end],
        start=first.start,
        end=last.end,
        holds_from=interval.start,
        holds_until=None if only.ruling.role is Role.STARTS else interval.end,
        precision=interval.precision,
    )
    return DatedText(dated_by, tuple(left_open), is_episode)
