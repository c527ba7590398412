"""Choices for a phrase of time become the phrase that English has for it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.dates.intervals import Saying, find_interval
from app.domain.dates.meanings import CHOICES, NO_STEP, Figure, Form, Meaning, make_phrase
from app.domain.dates.names import Unit
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.phrases import find_phrases
from app.domain.dates.points import Lean
from app.domain.dates.words import split_words

DURING, SINCE, UNTIL, BETWEEN = (
    PhraseKind.DURING,
    PhraseKind.SINCE,
    PhraseKind.UNTIL,
    PhraseKind.BETWEEN,
)
SAME = [
    ("since March", Meaning(SINCE, Form.MONTH, month=3), {}),
    ("since March 2020", Meaning(SINCE, Form.MONTH, month=3), {Figure.YEAR: 2020}),
    ("on 5 May 2024", Meaning(DURING, Form.DAY, month=5), {Figure.DAY: 5, Figure.YEAR: 2024}),
    ("on 5 May 2024", Meaning(DURING, Form.DAY, number=5, month=5), {Figure.YEAR: 24}),
    (
        "on 5 May 1998",
        Meaning(DURING, Form.DAY),
        {Figure.DAY: 5, Figure.MONTH: 5, Figure.YEAR: 98},
    ),
    ("in 2019", Meaning(DURING, Form.YEAR), {Figure.YEAR: 2019}),
    ("on the 15th", Meaning(DURING, Form.DAY_OF_MONTH), {Figure.DAY: 15}),
    ("last week", Meaning(DURING, Form.UNIT, unit=Unit.WEEK, step=-1), {}),
    ("two weeks ago", Meaning(DURING, Form.AGO, unit=Unit.WEEK, step=-1, number=2), {}),
    ("in 3 days", Meaning(DURING, Form.AGO, unit=Unit.DAY, step=1), {Figure.COUNT: 3}),
    ("on Monday", Meaning(DURING, Form.WEEKDAY, weekday=1), {}),
    ("next Friday", Meaning(DURING, Form.WEEKDAY, weekday=5, step=1), {}),
    ("Tuesday next week", Meaning(DURING, Form.WEEKDAY_OF_WEEK, weekday=2, step=1), {}),
    ("last summer", Meaning(DURING, Form.SEASON, season=2, step=-1), {}),
    ("last weekend", Meaning(DURING, Form.WEEKEND, step=-1), {}),
    ("in March last year", Meaning(DURING, Form.MONTH_OF_YEAR, month=3, step=-1), {}),
    ("until the end of June", Meaning(UNTIL, Form.MONTH, closes=True, month=6), {}),
    ("for three weeks", Meaning(PhraseKind.LASTING, unit=Unit.WEEK, number=3), {}),
    (
        "from 2015 to 2018",
        Meaning(BETWEEN, Form.YEAR, Form.YEAR),
        {
            Figure.YEAR: 2015,
            Figure.UNTIL_YEAR: 2018,
        },
    ),
    (
        "from 3 to 10 April",
        Meaning(BETWEEN, Form.DAY, Form.DAY, until_month=4, month=4),
        {
            Figure.DAY: 3,
            Figure.UNTIL_DAY: 10,
        },
    ),
    (
        "from 3 to 10 April",
        Meaning(BETWEEN, Form.DAY, Form.DAY),
        {
            Figure.DAY: 3,
            Figure.UNTIL_DAY: 10,
            Figure.UNTIL_MONTH: 4,
        },
    ),
    ("recently", Meaning(PhraseKind.VAGUE), {}),
]


@pytest.mark.parametrize(("english", "meaning", "figures"), SAME)
def test_the_choices_make_the_phrase_of_english(
    english: str, meaning: Meaning, figures: dict[Figure, int]
) -> None:
    [phrase] = find_phrases(split_words(english))
    made = make_phrase(meaning, figures, phrase.first, phrase.end)
    saying = Saying(datetime(2026, 3, 11, tzinfo=UTC), UTC)
    assert made is not None
    assert made.kind is phrase.kind
    if phrase.kind is not PhraseKind.VAGUE:
        for lean in Lean:
            assert find_interval(made, saying, lean) == find_interval(phrase, saying, lean)


@pytest.mark.parametrize(
    ("meaning", "figures"),
    [
        (Meaning(SINCE, Form.OTHER), {}),
        (Meaning(DURING, Form.AGO, unit=Unit.WEEK, step=-1, number=13), {}),
        (Meaning(DURING, Form.DAY, month=5), {}),
        (Meaning(DURING, Form.QUARTER), {Figure.COUNT: 5}),
        (Meaning(BETWEEN, Form.YEAR), {Figure.YEAR: 2015}),
        (Meaning(PhraseKind.LASTING, number=3), {}),
    ],
)
def test_choices_that_say_too_little_make_none(
    meaning: Meaning, figures: dict[Figure, int]
) -> None:
    assert make_phrase(meaning, figures, 0, 1) is None


chosen = st.fixed_dictionaries({name: st.sampled_from(each) for name, each in CHOICES.items()})
numbers = st.dictionaries(st.sampled_from(Figure), st.integers(0, 9999))
moments = st.datetimes(timezones=st.just(UTC))


@given(chosen, numbers, moments, st.sampled_from(Lean))
def test_whatever_is_chosen_names_an_interval_or_none(
    choices: dict[str, Any], figures: dict[Figure, int], said_at: datetime, lean: Lean
) -> None:
    phrase = make_phrase(Meaning(**choices), figures, 0, 1)
    if phrase is None:
        return
    assert isinstance(phrase, Phrase)
    interval = find_interval(phrase, Saying(said_at, UTC), lean)
    if interval is not None and interval.start is not None and interval.end is not None:
        assert interval.start < interval.end


def test_no_step_is_none_of_the_steps() -> None:
    assert CHOICES["step"].count(NO_STEP) == 1
