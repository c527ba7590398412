"""A piece of text as it is compared."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

# The kinds of values that name a point in the calendar.
CALENDAR = ("date", "weekday", "time")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text; `norm` is what is compared. `kind`: word, name, possessive, mark, or the
    type of a value.
    """

    text: str
    norm: str
    kind: str

    @property
    def is_value(self) -> bool:
        """Return True if it is a typed value, such as a date or a number."""
        return self.kind not in ("word", "name", "mark", "possessive")


def find_place(tokens: Sequence[Token], norms: Container[str], start: int = 0) -> int | None:
    """Return the place of the first token, from `start`, whose normal form is one of `norms`."""
    for place in range(start, len(tokens)):
        if tokens[place].norm in norms:
            return place
    return None


def join_texts(tokens: Iterable[Token]) -> str:
    """Return the tokens as they were written, with spaces between them."""
    return " ".join(token.text for token in tokens)


def count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
