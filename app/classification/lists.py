"""Facts that stand like rows of a list: one form, each with a subject and one value."""

import re
from collections.abc import Iterable

from app.classification.signals.token import count_common

# So many other facts of the form, each about another subject, make it a list.
LEAST_ROWS = 3
# So many words of a form are the same in all rows. "My dog is Rex" has two.
LEAST_WORDS = 3
# Words. A longer text is no row.
LONGEST_ROW = 40
# The share of rows that may give a subject a second value, as one that nobody has ended yet does.
MOST_SECONDS = 0.2


def is_in_list(incoming: str, stored: str, others: Iterable[str]) -> bool:
    """Return True if both texts are rows about one subject in a list where a subject has one value.

    "The capital of Cardonia is Oss" and "The capital of Cardonia is Fen" are, beside the capitals
    of three other countries. They are not if a third text gives Cardonia a capital, or if too many
    of the other countries have two.
    """
    row = _find_row(incoming.split(), stored.split())
    if row is None:
        return False
    before, after = row
    subjects = []
    for words in map(str.split, others):
        if words[: len(before)] == before:
            return False
        subject = _find_subject(words, before, after)
        if subject:
            subjects.append(subject)
    seconds = len(subjects) - len(set(subjects))
    return len(set(subjects)) >= LEAST_ROWS and seconds <= MOST_SECONDS * len(subjects)


def _find_row(incoming: list[str], stored: list[str]) -> tuple[list[str], list[str]] | None:
    """Return the words before and after the value, if the texts differ in nothing else."""
    if max(len(incoming), len(stored)) > LONGEST_ROW:
        return None
    start = count_common(incoming, stored)
    end = count_common(incoming[start:][::-1], stored[start:][::-1])
    has_values = min(len(incoming), len(stored)) > start + end
    return (incoming[:start], incoming[len(incoming) - end :]) if has_values else None


def _find_subject(words: list[str], before: list[str], after: list[str]) -> str | None:
    """Return what stands in place of the subject, if these words are a row of the same form.

    Of the words before the value, at least as many must be the same as stand in the subject.
    """
    if len(words) > LONGEST_ROW:
        return None
    start = count_common(words, before)
    for end in range(start + 1, len(before)):
        same = [*before[:start], *before[end:]]
        if len(same) < max(LEAST_WORDS, end - start):
            return None
        form = [*map(re.escape, before[:start]), "(.+)", *map(re.escape, before[end:]), ".+"]
        row = re.fullmatch(" ".join([*form, *map(re.escape, after)]), " ".join(words))
        if row:
            return row[1]
    return None
