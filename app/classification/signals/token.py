"""A piece of text as it is compared."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text; `norm` is what is compared. `kind`: word, name, possessive, mark, or the type of a value."""

    text: str
    norm: str
    kind: str

    @property
    def is_value(self) -> bool:
        """Whether it is a typed value, such as a date or a number."""
        return self.kind not in ("word", "name", "mark", "possessive")
