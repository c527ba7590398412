"""Finds what stands in quotation marks, and texts that a request hands over."""

import re

from app.extraction.phrases import build_pattern

# Of one in single marks, which may be an apostrophe, only so many characters are read.
# An apostrophe opens nothing unless its closing mark ends a sentence: "the boys' room".
_QUOTE = re.compile(
    r"""
    (?<!\w)"(?=\S)[^"]*(?:"|\Z)
    | „[^“”]*[“”]
    | »[^«»]*«
    | “[^”]*(?:”|\Z)
    | «[^»]*(?:»|\Z)
    | (?<!\w)['‘](?=\w)[^"“”\n]{0,800}?[.!?,]['’](?!\w)
    """,
    re.VERBOSE,
)


def find_quotes(text: str) -> list[tuple[int, int]]:
    """Return the half-open places of quotations, marks included.

    One whose closing mark is missing reaches to the end of the text.
    """
    return [match.span() for match in _QUOTE.finditer(text)]


_TEXT_ORDERS = build_pattern(
    """
    translate/proofread/correct/rewrite/rephrase/paraphrase/summarise/summarize/shorten/polish
    /improve/edit/spell-check/spellcheck/grammar-check/is this correct/is this right/does this read
    /how does this sound/does this sound
    """
)
_HANDOVER = re.compile(rf"[^:]*\b{_TEXT_ORDERS}[^:]{{0,60}}:(?=\s|\Z)", re.IGNORECASE)


def find_handover_end(sentence: str) -> int | None:
    """Return where a text begins that is to be worked on ("Translate this: …"), None if none is."""
    match = _HANDOVER.match(sentence)
    return match.end() if match else None
