"""What holds for every text, moment and time zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.dates.facts import date_fact, find_times
from app.domain.dates.roles import Role

# Words that the grammar knows, in any order, find more faults than random letters.
WORDS = """
I we she Anna the a my moved to Lisbon lived in was is am are been has have had will not since until
till through from to between and for on at by before after as of effective starting next last this
month week year Monday Friday March May june 2019 2024 1 5 31 9999 the end of start mid late early
yesterday today tomorrow ago two three weeks years now all the rest of whole Q3 2025-02-30
2024-03-05 25/12/2024 '19 1990s 3rd first noon 5pm 3-7 2015-2018 Christmas Easter weekend other day
, . ? : ( ) " ' - – born married closed which when if every half couple recently spring summer
""".split()
texts = st.lists(st.sampled_from(WORDS), max_size=24).map(" ".join) | st.text(max_size=80)
zones = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Asia/Tehran"])
moments = st.datetimes(timezones=st.just(UTC))


@given(texts, st.lists(st.sampled_from(Role), min_size=20, max_size=20), moments, zones)
def test_an_answer_keeps_its_promises(
    text: str, roles: list[Role], said_at: datetime, zone: str
) -> None:
    timed = find_times(text)
    dated = date_fact(timed, roles[: len(timed.phrases)], said_at, ZoneInfo(zone))
    assert all(words in text for words in dated.left_open)
    by = dated.dated_by
    if by is None:
        return
    assert text[by.start : by.end] == by.text
    assert by.holds_from is not None or by.holds_until is not None
    for instant in (by.holds_from, by.holds_until):
        assert instant is None or instant.utcoffset() == timedelta(0)
    if by.holds_from is not None and by.holds_until is not None:
        assert by.holds_from < by.holds_until


@pytest.mark.parametrize(
    ("zone", "text", "role", "holds_from", "holds_until"),
    [
        # Berlin put its clocks forward on 29 March 2026, and New York on 8 March.
        ("Europe/Berlin", "I moved to Rome yesterday", "started", "2026-03-28T23:00", None),
        ("Europe/Berlin", "I'm away until tomorrow", "lasts", None, "2026-03-30T22:00"),
        ("Europe/Berlin", "I moved to Rome in March", "started", "2026-02-28T23:00", None),
        ("Europe/Berlin", "I'm in Rome until July", "lasts", None, "2026-06-30T22:00"),
        ("America/New_York", "I moved to Rome in March", "started", "2026-03-01T05:00", None),
        ("America/New_York", "I'm away until tomorrow", "lasts", None, "2026-03-30T04:00"),
        ("Asia/Tokyo", "I moved to Rome yesterday", "started", "2026-03-28T15:00", None),
    ],
)
def test_days_begin_in_the_zone(
    zone: str, text: str, role: str, holds_from: str | None, holds_until: str | None
) -> None:
    said_at = datetime(2026, 3, 30, 1, tzinfo=UTC)
    by = date_fact(find_times(text), [Role(role)], said_at, ZoneInfo(zone)).dated_by
    assert by is not None
    found = [
        each.strftime("%Y-%m-%dT%H:%M") if each else None
        for each in (by.holds_from, by.holds_until)
    ]
    assert found == [holds_from, holds_until]


@pytest.mark.parametrize("day", range(1, 15))
def test_next_monday_is_the_first_one_after_the_day(day: int) -> None:
    said_at = datetime(2026, 6, day, 12, tzinfo=UTC)
    timed = find_times("From next Monday I work nights")
    by = date_fact(timed, [Role.STARTS], said_at, UTC).dated_by
    assert by is not None
    assert by.holds_from is not None
    ahead = (by.holds_from.date() - said_at.date()).days
    assert by.holds_from.weekday() == 0
    assert 1 <= ahead <= 7
