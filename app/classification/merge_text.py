"""Merging two texts: what a merged text must not lose, and how to join two without a model."""

import re
from collections.abc import Iterator
from itertools import groupby, product
from math import ceil

from app.classification.signals.lemma import reduce_to_lemma
from app.classification.signals.values import NUMBER_WORDS
from app.domain.dates.names import MONTH_NAMES, WEEKDAY_NAMES
from app.domain.language import is_english
from app.domain.text import fold, fold_loosely

# Words that start a sentence without being names. One missing here costs little: a merge that drops
# it is refused, and both are joined.
_COMMON_WORDS = """
    a about above according actually added after again all almost along already also although
    always am among an and another any anybody anyone anything are around as ask asked at attended
    attends back be because been before being believes below best better between born both bought
    broke builds but buys by call called came can cancelled cannot changed check chose come could
    currently dates day despite develops did do does doesn't don't done down drinks drives during
    each earlier earns eats either enjoys even ever every everybody everyone everything except
    favorite favourite few finally finished first for formerly founded from gave get gets goes got
    graduated grew had has hates have having he hello help hence her here hers herself hi him
    himself hired his how however i i'd i'll i'm i've if in includes instead into is it it's items
    its itself joined just keep keeps kept knew knows last late lately later leads learned least
    left less let likes lives long lost loves made make makes manages many married may maybe me
    means meanwhile met might mine more moreover most mostly moved much must my myself near nearly
    needs neither never new next nicknamed no nobody none nor not nothing now of off often old on
    once one only or originally other others our out over own owned owners owns people per perhaps
    plans plays please practices practises prefers previously probably project provides put quit
    rather reads really recently remember reports runs said same saw says see seems sees several
    shall she should since so sold some somebody someone something sometimes soon speaks started
    starts still stopped stops studied studies such supports takes teaches team tends than thanks
    that that's the their theirs them then there these they thing things think thinks this those
    though three through thus to today together told tomorrow tonight too took tried tries turned
    two under unless until up upon us use used user uses usually version very visited visits
    volunteers want wants was watches we wears well went were what when whenever where whether
    which while who whoever whom whose why will wishes with within without won't worked works would
    writes wrote yes yesterday yet you your yours
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_COMMON_LEMMAS = frozenset(map(reduce_to_lemma, [*_COMMON, "name", "titled", "entitled"]))
_NUMBER_WORDS = {
    word: digits for word, digits in NUMBER_WORDS.items() if word not in ("zero", "one", "dozen")
}
_LARGE = {"dozen", "hundred", "thousand", "million", "billion"}
_MONTH_STARTS = [name[:3] for name in MONTH_NAMES]
_DAYS_SAID = {"today", "yesterday", "tomorrow", "tonight"}
_NEGATIONS = {
    "not",
    "no",
    "never",
    "none",
    "nobody",
    "nothing",
    "neither",
    "nor",
    "without",
    "cannot",
}

_MONTH = "(" + "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTH_NAMES) + r")\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?!\d)"),
    re.compile(rf"\b(?P<d>{_DAY}) (?:of )?(?P<m>{_MONTH}),? (?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<m>{_MONTH}) (?P<d>{_DAY}),? (?P<y>\d{{4}})\b", re.IGNORECASE),
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,:/-]\d+)*%?|\d+(?:[.,:/-]\d+)*%?")
_I = re.compile("I(['’](m|ve|d|ll))?")
_WORD = re.compile(r"\w[\w'’.@+#&/-]*(?<=[\w+#])")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|\n+|[。！？]")
_SENTENCE_END = re.compile(r"[.!?…。！？।؟][\"'”’»」』)\]]*$")
# Scripts without spaces between words are compared by their characters.
_WORD_OR_CHARACTER = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])[^\\W\\d_])+"
)
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff]$")


_LEAST_KEPT = 1 / 3  # of the words of a text of which only a part changes
# Two forms of a word begin with so many of the same letters, and this share of the longer one.
_SHORTEST_STEM = 3
_LEAST_ALIKE = 0.6
_SHORT = 3
_MOST_COMMON = 0.2  # of the words of a text


def find_merge_loss(merged: str, one: str, other: str) -> str | None:
    """Return the reason why a merged text may not replace the two texts, or None.

    A merged text may not drop a date, a number, a negation, a name or another word that carries
    meaning: nouns above all. Function words and common verbs may change, and numbers may be
    written in words or digits.
    """
    for text in (one, other):
        if loss := find_detail_loss(merged, text):
            return loss
    words = f" {' '.join(_folded_words(merged))} "
    missing = [
        name for text in (one, other) for name in _extract_names(text) if f" {name} " not in words
    ]
    if missing:
        return f"It drops the name {missing[0]!r}."
    dropped = (_extract_words(one) | _extract_words(other)) - _extract_words(merged)
    return f"It drops the word {min(dropped)!r}." if dropped else None


def find_detail_loss(text: str, source: str) -> str | None:
    """Return the date, number or negation of a source that the text does not have."""
    for what, extract in _DETAILS:
        if dropped := extract(source) - extract(text):
            return f"It drops the {what} {min(dropped)!r}."
    return None


def has_new_name(text: str, source: str) -> bool:
    """Return True if the source has a word with a capital within a sentence, not in the text."""
    words = set(_folded_words(text)) | {"user"}
    names: set[str] = set()
    for sentence in _SENTENCE.split(source):
        names |= {_fold_word(word) for word in _WORD.findall(sentence)[1:] if _looks_named(word)}
    return bool(_drop_forms(names, words))


def find_rewriting_fault(text: str, stored: str, incoming: str) -> str | None:
    """Return why a text is not the stored one with a part changed as the incoming one says, or
    None.

    It has words of the two texts alone, in whatever form, and a third of those of the stored one.
    """
    if fold(text) in (fold(stored), fold(incoming)):
        return "It is one of the two texts."
    for what, extract in _DETAILS:
        if invented := extract(text) - extract(stored) - extract(incoming):
            return f"It has the {what} {min(invented)!r}, which neither text has."
    words = _extract_words(text)
    invented = _drop_forms(words, _extract_words(stored) | _extract_words(incoming))
    # The common words of other languages are not known here. They are short, and a few may be new.
    are_common = not is_english(text) and all(len(word) <= _SHORT for word in invented)
    if invented and not (are_common and len(invented) <= _MOST_COMMON * len(words)):
        return f"It has the word {min(invented)!r}, which neither text has."
    of_stored = _extract_words(stored) | _extract_numbers(stored)
    lost = _drop_forms(of_stored, words | _extract_numbers(text))
    if len(lost) > (1 - _LEAST_KEPT) * len(of_stored):
        return "It drops most of the stored text."
    return None


def _drop_forms(words: set[str], others: set[str]) -> set[str]:
    """Return the words that are no form of one of the others. Forms of a word begin alike."""
    left = set(words)
    for word, other in product(words, others):
        stem = max(_SHORTEST_STEM, ceil(_LEAST_ALIKE * max(len(word), len(other))))
        if word[:stem] == other[:stem]:
            left.discard(word)
    return left


def join_texts(one: str, other: str) -> str:
    """Both texts as one, in their own words: the longer where it contains the other (case, spacing
    and marks folded), else both as sentences, one after the other.
    """
    one, other = one.strip(), other.strip()
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    if f" {fold_loosely(shorter)} " in f" {fold_loosely(longer)} " or not shorter:
        return longer
    first, second = _as_sentence(one), _as_sentence(other)
    return first + ("" if first.endswith(("。", "！", "？")) else " ") + second


def _as_sentence(text: str) -> str:
    """The text with the mark that ends a sentence, where it has none."""
    if _SENTENCE_END.search(text):
        return text
    text = text.rstrip(",;: ")
    return text + ("。" if _EAST_ASIAN.search(text) else ".")


# --- what a text states exactly -------------------------------------------------------------------


def _extract_dates(text: str) -> set[str]:
    """Full dates in one form, months and weekdays by their names, and the days said as today or
    tomorrow.
    """
    dates: set[str] = set()
    for form in _DATES:
        for match in form.finditer(text):
            month, day = match["m"], re.sub("[^0-9]", "", match["d"])
            if not month.isdigit():
                month = f"{_MONTH_STARTS.index(month[:3].casefold()) + 1:02}"
            dates.add(f"{match['y']}-{month}-{int(day):02}")
    for word in re.findall(r"[^\W\d_]+", _without_dates(text)):
        if name := _calendar_name(word):
            dates.add(name)
        if word.casefold() in _DAYS_SAID:
            dates.add(word.casefold())
    return dates


def _extract_numbers(text: str) -> set[str]:
    """Numbers outside full dates: digits with their sign and percent mark, thousands joined, and
    those written as words.
    """
    written = _NUMBER.findall(_without_dates(text))
    numbers = {re.sub(r",(?=\d{3}\b)", "", number) for number in written}
    # "Ten" is a number in English, and "this" in Polish.
    words = set(re.findall(r"[a-z]+", text.casefold())) if is_english(text) else set[str]()
    numbers |= {_NUMBER_WORDS[word] for word in words & _NUMBER_WORDS.keys()}
    return numbers | (words & _LARGE)


def _extract_negations(text: str) -> set[str]:
    """Not which word negates, but whether one does."""
    words = set(_folded_words(text))
    return {"not"} if words & _NEGATIONS or any(word.endswith("n't") for word in words) else set()


def _extract_names(text: str) -> Iterator[str]:
    """Runs of words with a capital or a mark of identifiers, folded. A sentence's first word stands
    alone, if it is no common word.
    """
    for sentence in _SENTENCE.split(text):
        words = _WORD.findall(sentence)
        if words and _looks_named(words[0]):
            first = _fold_word(words[0])
            if first not in _COMMON and not first.endswith("n't"):
                yield first
        for named, run in groupby(words[1:], _looks_named):
            if named and (name := " ".join(_fold_word(word) for word in run)):
                yield name


def _extract_words(text: str) -> set[str]:
    """The dictionary forms of the words that are neither common words nor parts of dates."""
    words = _WORD_OR_CHARACTER.findall(_without_dates(text))
    plain = {fold(word) for word in words if not _calendar_name(word)} - _NUMBER_WORDS.keys()
    long = {word for word in plain if len(word) > 1 or _EAST_ASIAN.match(word)}
    return {reduce_to_lemma(word) for word in long} - _COMMON_LEMMAS


_DETAILS = (
    ("date", _extract_dates),
    ("number", _extract_numbers),
    ("negation", _extract_negations),
)


def _looks_named(word: str) -> bool:
    if _calendar_name(word) or _I.fullmatch(word):
        return False
    return (
        any(c.isupper() for c in word)
        or "@" in word
        or (word[0].isalpha() and any(c.isdigit() for c in word))
    )


def _folded_words(text: str) -> list[str]:
    return [_fold_word(word) for word in _WORD.findall(text)]


def _fold_word(word: str) -> str:
    """The word folded, without a possessive ending."""
    return fold(word).replace("’", "'").removesuffix("'s").removesuffix("'")


def _without_dates(text: str) -> str:
    for form in _DATES:
        text = form.sub(" ", text)
    return text


def _calendar_name(word: str) -> str | None:
    """A month or weekday by its first three letters; abbreviations and "may", "march" only with a
    capital, as they are words too.
    """
    folded = word.casefold()
    if folded.removesuffix("s") in WEEKDAY_NAMES:
        return folded[:3]
    names = [*MONTH_NAMES, *WEEKDAY_NAMES]
    if folded in names and (word[0].isupper() or folded not in ("may", "march")):
        return folded[:3]
    return folded if word[0].isupper() and folded in {name[:3] for name in names} else None
