"""Sentences with phrases of time, `corpus/dates`, and what each phrase is to the fact of its sentence."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.domain.dates.roles import Role
from corpus import FOLDER

HELD_OUT_DATES = ("dates2", "dates10", "dates13", "dates18")


@dataclass(frozen=True, slots=True)
class DatedSentence:
    """A sentence, and the half-open places and roles of its phrases of time."""

    text: str
    phrases: Sequence[tuple[int, int, Role]]


def list_date_writers() -> list[str]:
    """Return the writers that are trained on."""
    writers = sorted(file.stem for file in (FOLDER / "dates").glob("*.jsonl"))
    return [writer for writer in writers if writer not in HELD_OUT_DATES]


def read_dates(writers: Sequence[str]) -> Iterator[DatedSentence]:
    """Yield the sentences of these writers."""
    for writer in writers:
        for line in (FOLDER / "dates" / f"{writer}.jsonl").read_text("utf-8").splitlines():
            fields = json.loads(line)
            yield DatedSentence(fields["text"], list(_locate(fields["text"], fields["phrases"])))


def _locate(text: str, phrases: Sequence[dict[str, str]]) -> Iterator[tuple[int, int, Role]]:
    end = 0
    for phrase in phrases:
        start = text.index(phrase["words"], end)
        end = start + len(phrase["words"])
        has_started = phrase["role"] == "starts" and phrase["lean"] == "past"
        yield start, end, Role.STARTED if has_started else Role(phrase["role"])
