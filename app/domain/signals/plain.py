"""One way of writing: quotes, dashes, width, contractions and fixed phrases."""

import re
import unicodedata

_PHRASES = (
    (re.compile(r"\b(in) (progress|review|stock)\b|\b(on) (hold)\b", re.IGNORECASE), lambda m: m[0].lower().replace(" ", "-")),
    (re.compile(r"\bup to date\b", re.IGNORECASE), lambda _: "up-to-date"),
    (re.compile(r"\bout of stock\b", re.IGNORECASE), lambda _: "out-of-stock"),
    (re.compile(r"^(?:oh|hey|so|btw|by the way|fyi|ps)[,:]? ", re.IGNORECASE), lambda _: ""),
    (re.compile(r"\b(?:this|my|our|the current) user\b", re.IGNORECASE), lambda _: "the user"),
    (re.compile(r"\b(?:no|nr|num)(?:\. ?| (?=#?\d))(?=#?\d)", re.IGNORECASE), lambda _: "number "),
    (re.compile(r"#(?=\d)"), lambda _: "number "),
    (re.compile(r"\b(?:these days|from now on|at the moment|right now|for now|at present|by now)\b", re.IGNORECASE), lambda _: "now"),
    (re.compile(r"\bas of (?:now|today|this week|this month)\b", re.IGNORECASE), lambda _: "now"),
    (re.compile(r"\b(ha(?:ve|s|d)) got\b(?! to\b)", re.IGNORECASE), lambda m: m[1]),
    (re.compile(r"\bcalled (?=[A-Z])"), lambda _: "named "),
    (re.compile(r",? (?:after all|at all)\b", re.IGNORECASE), lambda _: ""),
    (re.compile(r" any more\b(?! than)", re.IGNORECASE), lambda _: " anymore"),
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
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": " - ", "\u2212": "-", "\u00a0": " ", "`": "'"}
)


def plain(text: str) -> str:
    """The text with quotes, dashes, width and contractions written in one way."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    if "'" in text or "annot" in text:
        for pattern, full in _CONTRACTIONS:
            text = pattern.sub(full, text)
    for phrase, short in _PHRASES:
        text = phrase.sub(short, text)
    return " ".join(text.split())
