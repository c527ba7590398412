"""The sliders of the console: steps that stand for times."""

from datetime import UTC, datetime, timedelta

import pytest

from app.console.times import LAST_STEP, find_step, find_time

NOW = datetime(2026, 11, 23, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("step", "age"),
    [
        (0, timedelta(days=3652)),
        (100, timedelta(days=365)),
        (200, timedelta(days=30)),
        (300, timedelta(days=1)),
        (400, timedelta(hours=1)),
    ],
)
def test_a_mark_is_so_long_ago(step: int, age: timedelta) -> None:
    time = find_time(step, NOW)
    assert time
    assert timedelta() <= (NOW - time) - age < timedelta(days=1)
    assert find_step(age) == step


def test_the_last_step_is_the_present() -> None:
    assert find_time(LAST_STEP, NOW) is None
    assert find_step(timedelta(seconds=5)) == LAST_STEP
    assert find_step(timedelta(days=-400)) == LAST_STEP


def test_each_step_is_later_than_the_one_before_or_the_same_day() -> None:
    times = [find_time(step, NOW) for step in range(LAST_STEP)]
    assert times == sorted(time for time in times if time)


@pytest.mark.parametrize("step", range(0, 440, 7))
def test_a_step_is_found_again_by_its_time(step: int) -> None:
    time = find_time(step, NOW)
    assert time
    assert abs(find_step(NOW - time) - step) <= 3


def test_a_step_beyond_the_first_is_the_first() -> None:
    assert find_step(timedelta(days=9999)) == 0
    assert find_time(-5, NOW) == find_time(0, NOW)
