"""Scores the reading of dates on labelled sentences.

    score_dates.py [--errors] [--many-languages] FILE

Each line of FILE is JSON: text, said_at, role (validity, episode, value, open, none), from, until.
A line counts as dated if it is read with an interval. Precision is the share of right
intervals among the dated lines, recall the share of right intervals among the lines of validities
and episodes that have a date, "false" the share of dated lines among values, open ones and none.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from app.domain.dates.dated_text import DatedText
from app.domain.dates.facts import date_fact, find_times
from app.extraction.dates_network import DatesNetwork
from app.networks import FairThreads, find_many_languages

DATED_ROLES = ("validity", "episode")


def read_cases(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


async def date_text(network: DatesNetwork, text: str, said_at: datetime) -> DatedText:
    """Return the dates of a text, whose days are those of UTC."""
    return date_fact(*await network.rule(find_times(text)), said_at, UTC)


def describe_instant(instant: datetime | None) -> str | None:
    return instant.date().isoformat() if instant else None


def read_answer(dated: DatedText) -> tuple[str | None, str | None]:
    """Return the first day and the end of the interval, None for what is not dated."""
    if dated.dated_by is None:
        return None, None
    by = dated.dated_by
    return describe_instant(by.holds_from), describe_instant(by.holds_until)


def read_truth(case: dict[str, Any]) -> tuple[str | None, str | None]:
    if case["role"] not in DATED_ROLES:
        return None, None
    return case["from"], case["until"]


def describe_share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.1%}" if whole else "–"


async def score_cases(
    network: DatesNetwork, cases: list[dict[str, Any]], *, show_errors: bool
) -> None:
    counts: Counter[str] = Counter()
    by_role: Counter[tuple[str, str]] = Counter()
    for case in cases:
        said_at = datetime.fromisoformat(case["said_at"])
        dated = await date_text(network, case["text"], said_at)
        answer, truth = read_answer(dated), read_truth(case)
        is_dated, is_due = answer != (None, None), truth != (None, None)
        counts["dated"] += is_dated
        counts["due"] += is_due
        counts["right"] += is_dated and answer == truth
        counts["undated"] += case["role"] not in DATED_ROLES
        counts["false"] += is_dated and case["role"] not in DATED_ROLES
        counts["due_episode"] += is_due and case["role"] == "episode"
        counts["episode"] += is_due and case["role"] == "episode" and dated.is_episode
        counts["precision"] += answer == truth and is_dated and has_precision(dated, case)
        by_role[case["role"], "right" if answer == truth else "wrong"] += 1
        if show_errors and answer != truth:
            print_error(case, dated, answer, truth)
    print(f"precision {describe_share(counts['right'], counts['dated'])}")
    print(f"recall    {describe_share(counts['right'], counts['due'])}")
    print(f"false     {describe_share(counts['false'], counts['undated'])}")
    print(f"episodes known as such {describe_share(counts['episode'], counts['due_episode'])}")
    print(f"unit named as labelled {describe_share(counts['precision'], counts['right'])}")
    for role in (*DATED_ROLES, "value", "open", "none"):
        right, wrong = by_role[role, "right"], by_role[role, "wrong"]
        print(f"  {role:9} right {describe_share(right, right + wrong)}")


def has_precision(dated: DatedText, case: dict[str, Any]) -> bool:
    return dated.dated_by is not None and dated.dated_by.precision == case["precision"]


def print_error(
    case: dict[str, Any],
    dated: DatedText,
    answer: tuple[str | None, str | None],
    truth: tuple[str | None, str | None],
) -> None:
    words = dated.dated_by.text if dated.dated_by else None
    print(f"{case['id']} [{case['role']}] {case['said_at'][:10]} {case['text']}")
    print(f"     due {truth}  answered {answer} by {words!r}, open {dated.left_open}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--errors", action="store_true", help="list the wrong lines")
    parser.add_argument("--many-languages", action="store_true", help="read other languages too")
    arguments = parser.parse_args()
    many = find_many_languages() if arguments.many_languages else None
    network = DatesNetwork(FairThreads(1), many)
    cases = read_cases(arguments.file)
    asyncio.run(score_cases(network, cases, show_errors=arguments.errors))


if __name__ == "__main__":
    main()
