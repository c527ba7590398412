"""The examples of docs/guide/dates.md are what the grammar answers."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.dates.dated_text import DatedText
from support.dates import date_text

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "dates.md"
SAID_AT = datetime(2026, 3, 11, 14, 20, tzinfo=UTC)


def list_examples() -> list[tuple[str, ...]]:
    """Return the cells of each line of the table of examples."""
    rows = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
        if line.startswith("| ") and len(cells) == 5 and cells[0] not in ("text", "---"):
            rows.append(cells)
    return rows


def name_role(dated: DatedText) -> str:
    if dated.is_episode:
        return "episode"
    if dated.dated_by is not None:
        return "fact"
    return "open" if dated.left_open else "value"


def describe_day(instant: datetime | None) -> str:
    return "–" if instant is None else instant.date().isoformat()


def test_the_page_has_its_examples() -> None:
    assert len(list_examples()) > 30
    assert {example[1] for example in list_examples()} == {"fact", "episode", "value", "open"}


@pytest.mark.parametrize(("text", "role", "words", "first", "last"), list_examples())
def test_each_example_is_true(text: str, role: str, words: str, first: str, last: str) -> None:
    dated = date_text(text, SAID_AT)
    assert name_role(dated) == role
    if dated.dated_by is None:
        assert ", ".join(dated.left_open) == words.replace("–", "")
        assert (first, last) == ("–", "–")
        return
    by = dated.dated_by
    assert by.text.casefold() == words.casefold()
    assert (describe_day(by.holds_from), describe_day(by.holds_until)) == (first, last)
