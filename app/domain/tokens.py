"""Estimates of the tokens that a text takes in a prompt, without a model's own vocabulary."""

import re

# Byte-pair vocabularies keep these whole: up to seven letters of a word in one case, up to three
# digits, a mark, a line break. Every other character, such as an ideograph or an emoji, counts by
# itself.
_TOKEN = re.compile(r"[A-Z][a-z]{1,6}|[a-z]{1,7}|[A-Z]{1,7}|[0-9]{1,3}|\n|[^\sa-zA-Z0-9]")


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens of the text, rather too many than too few.

    A line break, a mark, a character beyond ASCII and a group of up to three digits count one
    each. So does every group of up to seven letters of a word. The estimates of a text's lines,
    each with its line break, add up to the estimate of the text.
    """
    return len(_TOKEN.findall(text))
