"""Positions in the write-ahead log, by which a reader says what it must see."""

import re
from dataclasses import dataclass
from typing import Self

# As Postgres writes a pg_lsn: two hexadecimal numbers of at most 32 bits.
POSITION_PATTERN = "^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the write-ahead log of a database. Later ones are greater."""

    bytes: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the position that Postgres writes like this. Raise ValueError."""
        if not re.fullmatch(POSITION_PATTERN, text):
            raise ValueError(f"{text} is no position such as 0/16B3740")
        high, low = text.split("/")
        return cls(int(high, 16) << 32 | int(low, 16))

    def __str__(self) -> str:
        return f"{self.bytes >> 32:X}/{self.bytes & 0xFFFF_FFFF:X}"


# No replica ever has this position, so a read that needs it goes to the primary.
PRIMARY_ONLY = Position(2**64 - 1)
