"""Joins the phrases of one text that date its fact: "from Monday" and "for two weeks"."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.dates.intervals import Interval, Saying, find_interval
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.roles import Role
from app.domain.dates.words import Word

# What stands between two phrases that tell of two things.
_BETWEEN_THINGS = frozenset("and but so or then n & yet , ; : . – —".split())


@dataclass(frozen=True, slots=True)
class DatedPhrase:
    """A phrase that dates the fact.

    `first` and `end` are the half-open place of the words that date the fact.
    """

    phrase: Phrase
    role: Role
    interval: Interval
    first: int
    end: int

    @property
    def is_episode(self) -> bool:
        return self.role is Role.EPISODE

    @property
    def is_undated(self) -> bool:
        """True for "I worked there for two years", which names no day."""
        return self.is_episode and self.phrase.kind is PhraseKind.LASTING


def combine_phrases(
    words: Sequence[Word], dated: Sequence[DatedPhrase], saying: Saying
) -> DatedPhrase | None:
    """Return the one that dates the fact, joined of two if need be; None if they do not fit."""
    if len(dated) == 1:
        return dated[0]
    if len(dated) != 2:
        return None
    undated = [each for each in dated if each.is_undated]
    if undated:
        return undated[0] if all(each.is_episode for each in dated) else None
    first, second = dated
    if any(word.low in _BETWEEN_THINGS for word in words[first.end : second.first - 1]):
        return None  # "she had a baby in May and is on leave until July"
    return (
        _join_start_and_length(first, second, saying)
        or _join_start_and_length(second, first, saying)
        or _join_start_and_end(first, second)
        or _join_start_and_end(second, first)
    )


def _join_start_and_length(
    start: DatedPhrase, length: DatedPhrase, saying: Saying
) -> DatedPhrase | None:
    """Join "from Monday" and "for two weeks"; "since 2019" says more than "for three years".

    "Vegetarian for ten years, vegan since 2020" tells of two things.
    """
    if length.phrase.kind is not PhraseKind.LASTING or not start.role.is_start:
        return None
    if length.role.is_start:
        return start
    if start.role is Role.STARTED:
        return None
    counted = replace(length.phrase, point=start.phrase.point)
    interval = find_interval(counted, saying, start.role.lean)
    return _span_both(start, length, interval)


def _join_start_and_end(start: DatedPhrase, end: DatedPhrase) -> DatedPhrase | None:
    """Join "from Monday" and "until Christmas"."""
    if start.role is not Role.STARTS:
        return None
    first, last = start.interval.start, end.interval.end
    if first is None or last is None or end.interval.start is not None or last <= first:
        return None
    interval = Interval(first, last, start.interval.precision)
    return _span_both(start, end, interval)


def _span_both(
    one: DatedPhrase, other: DatedPhrase, interval: Interval | None
) -> DatedPhrase | None:
    if interval is None:
        return None
    first, end = min(one.first, other.first), max(one.end, other.end)
    return DatedPhrase(one.phrase, Role.LASTS, interval, first, end)
