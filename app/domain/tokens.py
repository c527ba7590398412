"""How many tokens a text takes in a prompt, estimated without any model's own vocabulary."""

import re
from math import ceil

# What byte-pair vocabularies keep whole: a run of letters of one case, up to three digits, a mark, a line break. Every other
# character, such as an ideograph or an emoji, counts by itself.
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]{1,3}|\n|[^\sa-zA-Z0-9]")
_LETTERS_PER_TOKEN = 7


def estimate_tokens(text: str) -> int:
    """Tokens of the text, rather too many than too few. A text's lines, each with its line break, add up to it exactly.

    One per line break, mark or character beyond ASCII, per three digits, and per seven letters of a word begun.
    """
    return sum(ceil(len(piece) / _LETTERS_PER_TOKEN) for piece in _PIECE.findall(text))
