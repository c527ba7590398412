"""One way of writing: quotes, dashes, width, contractions and fixed phrases."""

import re
import unicodedata

# What must be in the lower-case text, what is looked for, what is written instead.
_PHRASES = (
    (
        ("in progress", "in review", "in stock", "on hold"),
        r"\b(?:in (?:progress|review|stock)|on hold)\b",
        lambda m: m[0].lower().replace(" ", "-"),
    ),
    (("up to date",), r"\bup to date\b", "up-to-date"),
    (("out of stock",), r"\bout of stock\b", "out-of-stock"),
    (
        ("oh", "hey", "btw", "by the way", "fyi", "so,"),
        r"^(?:(?:oh|hey|btw|by the way|fyi)[,:]?|so,) ",
        "",
    ),
    ((" user",), r"\b(?:this|my|our|the current) user\b", "the user"),
    (
        ("user ",),
        r"\buser (?=(?:interface|experience|stor|account|guide|manual|group|base|data"
        r"|agent|input|session|table|profile|id\b))",
        "user-",
    ),
    (("no", "nr", "num"), r"\b(?:no|nr|num)(?:\. ?| (?=#?\d))(?=#?\d)", "number "),
    (("#",), r"#(?=\d)", "number "),
    (
        ("these days", "now", "at the moment", "at present"),
        r"\b(?:these days|from now on|at the moment|right now|for now|at present|by now)\b",
        "now",
    ),
    (("as of",), r"\bas of (?:now|today|this week|this month)\b", "now"),
    ((" got ",), r"\b(ha(?:ve|s|d)) got\b(?! to\b)", r"\1"),
    (
        (" called ",),
        r"\bcalled (?-i:(?=[A-Z]))|(?<=\bis )called\b|(?<=\bnow )called\b",
        lambda m: "named" + m[0][6:],
    ),
    (("after all", "at all"), r",? (?:after all|at all)\b", ""),
    ((" any more",), r" any more\b(?! than)", " anymore"),
)
_PATTERNS = tuple(
    (hints, re.compile(pattern, re.IGNORECASE), written) for hints, pattern, written in _PHRASES
)
_CONTRACTIONS = (
    (re.compile(r"\b(?:won't)\b", re.IGNORECASE), "will not"),
    (re.compile(r"\bcan't\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"\b(I|you|we|they)'(?:m|re)\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"'(?:ve)\b", re.IGNORECASE), " have"),
    (re.compile(r"'ll\b", re.IGNORECASE), " will"),
    (re.compile(r"\b(I|you|he|she|we|they)'d\b", re.IGNORECASE), r"\1 would"),
    (re.compile(r"\b([a-z]\w+)'s (?=(?:on|at|in|a|an|the|not|now)\b)", re.IGNORECASE), r"\1 is "),
    (re.compile(r"\b(he|she|it|that|there|here|what|who|where|let)'s\b", re.IGNORECASE), r"\1 is"),
)
_PLAIN = str.maketrans(
    {
        "\u2019": "'",
        "\u2018": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": " - ",
        "\u2212": "-",
        "\u00a0": " ",
        "`": "'",
    }
)


def normalise_text(text: str) -> str:
    """The text with quotes, dashes, width and contractions written in one way."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    if "'" in text or "annot" in text:
        for pattern, full in _CONTRACTIONS:
            text = pattern.sub(full, text)
    low = text.lower()
    for hints, pattern, written in _PATTERNS:
        if any(hint in low for hint in hints):
            text = pattern.sub(written, text)
    return " ".join(text.split())
