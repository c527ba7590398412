"""Decides which dates of a text say when its fact holds."""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from app.domain.dates.clauses import find_clause, is_sentence_end
from app.domain.dates.combining import DatedPhrase, combine_phrases
from app.domain.dates.dated_text import DatedBy, DatedText
from app.domain.dates.intervals import Interval, Saying, find_interval
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.phrases import find_phrases
from app.domain.dates.points import Lean
from app.domain.dates.roles import Role, Ruling, decide_role
from app.domain.dates.words import Word, split_words

# A text with more words outside of the dated sentence says more than one fact.
_MOST_OTHER_WORDS = 12


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
    for phrase in find_phrases(words):
        ruled = _rule_phrase(words, phrase, saying)
        if ruled.ruling.role is Role.OPEN:
            left_open.append(phrase)
        elif ruled.ruling.role is Role.VALUE:
            values.append(phrase)
        else:
            dated.append(ruled)
    chosen = combine_phrases(dated, saying)
    if chosen is None or _is_doubtful(words, chosen, values, left_open):
        doubtful = sorted(
            [*left_open, *(each.phrase for each in dated)], key=lambda each: each.first
        )
        return DatedText(left_open=_cut_all(text, words, doubtful))
    return _make_dated_text(text, words, chosen, saying, _cut_all(text, words, left_open))


def _rule_phrase(words: Sequence[Word], phrase: Phrase, saying: Saying) -> DatedPhrase:
    ruling = decide_role(words, phrase, find_clause(words, phrase))
    interval = find_interval(phrase, saying, ruling.lean)
    is_unfinished = _is_unfinished_episode(phrase, ruling, interval, saying)
    if is_unfinished or _has_begun(ruling, interval, saying):
        ruling = Ruling(Role.OPEN)
    return DatedPhrase(phrase, ruling, interval, phrase.first, phrase.end)


def _is_unfinished_episode(
    phrase: Phrase, ruling: Ruling, interval: Interval | None, saying: Saying
) -> bool:
    """Return True if the words tell of the past, and end at a date to come."""
    is_stretch = phrase.kind in (PhraseKind.BETWEEN, PhraseKind.UNTIL, PhraseKind.THROUGH)
    if ruling.role is not Role.EPISODE or not is_stretch or interval is None:
        return False
    return interval.end is not None and not _is_over(interval, saying)


def _has_begun(ruling: Ruling, interval: Interval | None, saying: Saying) -> bool:
    """Return True if the words tell of a change to come in a month that has begun."""
    if ruling.role is not Role.STARTS or ruling.lean is not Lean.FUTURE:
        return False
    if interval is None or interval.start is None:
        return False
    return interval.start < saying.find_first_instant()


_NEVER_DATING = (PhraseKind.VAGUE, PhraseKind.AROUND)


def _is_doubtful(
    words: Sequence[Word],
    chosen: DatedPhrase,
    values: Sequence[Phrase],
    left_open: Sequence[Phrase],
) -> bool:
    """Return True if other dates or other sentences make it doubtful what the phrase dates."""
    if any(phrase.kind not in _NEVER_DATING for phrase in left_open):
        return True
    is_counted = chosen.phrase.kind is PhraseKind.LASTING and chosen.phrase.point is None
    if is_counted and chosen.ruling.role is Role.LASTS and values:
        return True
    return not _is_about_all(words, chosen)


def _is_about_all(words: Sequence[Word], chosen: DatedPhrase) -> bool:
    """Return True if the text says little besides the sentence that the phrase stands in."""
    first = chosen.first
    while first > 0 and not is_sentence_end(words, first - 1):
        first -= 1
    end = chosen.end
    while end < len(words) and not is_sentence_end(words, end):
        end += 1
    return first <= 3 and len(words) - end <= _MOST_OTHER_WORDS


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
    if interval is None:
        return DatedText(left_open=left_open)
    is_over = chosen.ruling.role is Role.LASTS and _is_over(interval, saying)
    dated_by = DatedBy(
        text=_cut_words(text, words, chosen.first, chosen.end),
        start=words[chosen.first].start,
        end=words[chosen.end - 1].end,
        holds_from=interval.start,
        holds_until=None if chosen.ruling.role is Role.STARTS else interval.end,
        precision=interval.precision,
    )
    return DatedText(dated_by, left_open, is_episode=chosen.is_episode or is_over)


def _is_over(interval: Interval, saying: Saying) -> bool:
    return interval.end is not None and interval.end <= saying.at
