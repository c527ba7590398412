"""Finds the phrases of time in a text: "since March", "until Friday", "for three weeks"."""

from collections.abc import Iterator, Sequence

from app.domain.dates.counted_days import read_length
from app.domain.dates.names import DECADES, UNITS
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.points import Easter, Feast, NamedWeekday, Point, ShiftedUnit
from app.domain.dates.ranges import read_range
from app.domain.dates.reading import is_hour_only, read_point
from app.domain.dates.scan import ReadPoint, get_low, get_word, skip_low
from app.domain.dates.words import Word, WordKind


def find_phrases(words: Sequence[Word]) -> Iterator[Phrase]:
    """Yield the phrases of time in order, without overlaps."""
    place = 0
    while place < len(words):
        phrase = _read_phrase(words, place)
        if phrase is None:
            place += 1
        else:
            yield phrase
            place = phrase.end


_OPENINGS: tuple[tuple[tuple[str, ...], PhraseKind], ...] = (
    (("ever", "since"), PhraseKind.SINCE),
    (("since",), PhraseKind.SINCE),
    (("up", "to", "and", "including"), PhraseKind.THROUGH),
    (("up", "until", "and", "including"), PhraseKind.THROUGH),
    (("until", "and", "including"), PhraseKind.THROUGH),
    (("up", "through"), PhraseKind.THROUGH),
    (("through", "to"), PhraseKind.THROUGH),
    (("throughout",), PhraseKind.WHOLE),
    (("all", "through"), PhraseKind.WHOLE),
    (("all", "of"), PhraseKind.WHOLE),
    (("for", "all", "of"), PhraseKind.WHOLE),
    (("all",), PhraseKind.WHOLE),
    (("the", "whole", "of"), PhraseKind.WHOLE),
    (("for", "the", "whole", "of"), PhraseKind.WHOLE),
    (("for", "most", "of"), PhraseKind.WHOLE),
    (("most", "of"), PhraseKind.WHOLE),
    (("for", "the", "rest", "of"), PhraseKind.REST),
    (("for", "the", "remainder", "of"), PhraseKind.REST),
    (("the", "rest", "of"), PhraseKind.REST),
    (("through",), PhraseKind.THROUGH),
    (("up", "until"), PhraseKind.UNTIL),
    (("up", "till"), PhraseKind.UNTIL),
    (("up", "to"), PhraseKind.UNTIL),
    (("until",), PhraseKind.UNTIL),
    (("till",), PhraseKind.UNTIL),
    (("til",), PhraseKind.UNTIL),
    (("with", "effect", "from"), PhraseKind.FROM),
    (("effective", "from"), PhraseKind.FROM),
    (("effective", "as", "of"), PhraseKind.FROM),
    (("effective", "on"), PhraseKind.FROM),
    (("effective",), PhraseKind.FROM),
    (("as", "of"), PhraseKind.FROM),
    (("as", "from"), PhraseKind.FROM),
    (("starting", "from"), PhraseKind.FROM),
    (("starting", "in"), PhraseKind.FROM),
    (("starting", "on"), PhraseKind.FROM),
    (("starting",), PhraseKind.FROM),
    (("beginning", "in"), PhraseKind.FROM),
    (("beginning", "on"), PhraseKind.FROM),
    (("beginning",), PhraseKind.FROM),
    (("commencing",), PhraseKind.FROM),
    (("from",), PhraseKind.FROM),
    (("by",), PhraseKind.BY),
    (("before",), PhraseKind.AROUND),
    (("after",), PhraseKind.AROUND),
    (("back", "in"), PhraseKind.DURING),
    (("back", "on"), PhraseKind.DURING),
    (("in",), PhraseKind.DURING),
    (("on",), PhraseKind.DURING),
    (("at",), PhraseKind.DURING),
    (("during",), PhraseKind.DURING),
    (("over",), PhraseKind.DURING),
)


def _read_phrase(words: Sequence[Word], place: int) -> Phrase | None:
    for reader in (read_range, _read_lasting, _read_opened, _read_vague, _read_bare):
        phrase = reader(words, place)
        if phrase is not None:
            return phrase
    return None


_PAST_WORDS = ("last", "past", "previous")
_COMING_WORDS = ("next", "coming", "following", "another")


def _read_lasting(words: Sequence[Word], place: int) -> Phrase | None:
    """Read "for three weeks", "over the past five years", "these ten years"."""
    opening = get_low(words, place)
    if opening not in ("for", "over", "during", "in", "these", "since"):
        return None
    at = skip_low(words, place + 1, "the", "these")
    choice = get_low(words, at)
    is_past = choice in _PAST_WORDS or opening in ("these", "since")
    is_coming = choice in _COMING_WORDS
    if opening != "for" and not is_past and not is_coming:
        return None
    at = skip_low(words, at, *_PAST_WORDS, *_COMING_WORDS)
    has_article = get_low(words, place + 1) in ("the", "these") and choice != get_low(words, at)
    length = read_length(words, at)
    single_unit = UNITS.get(get_low(words, at))
    if length is None and has_article and single_unit is not None:  # "for the next month"
        length = 1, single_unit, at + 1
    if length is None:
        return None
    count, unit, at = length
    is_back = get_low(words, at) == "back" and get_low(words, at + 1) not in ("in", "on", "when")
    if is_back or get_low(words, at) in ("ago", "old", "of", "-", "'"):
        return None
    point, end = _read_counted_from(words, at)
    return Phrase(
        PhraseKind.LASTING,
        place,
        end,
        point=point,
        count=count,
        unit=unit,
    )


def _read_counted_from(words: Sequence[Word], place: int) -> tuple[Point | None, int]:
    """Read the "now" of "for five years now" and the "from Monday" of "for a week from Monday"."""
    low = get_low(words, place)
    if low in ("now", "already"):
        return None, place + 1
    if low not in ("from", "starting"):
        return None, place
    start = read_point(words, place + 1)
    if start is None:
        return None, place
    return start.point, start.end


def _read_opened(words: Sequence[Word], place: int) -> Phrase | None:
    """Read a phrase that starts with a preposition."""
    low = get_low(words, place)
    for opening, kind in _OPENINGS:
        if opening[0] != low:
            continue
        behind = place + len(opening)
        if any(get_low(words, place + i) != part for i, part in enumerate(opening)):
            continue
        # "Until noon on Friday", "since at least 2019".
        at = skip_low(words, behind, "at", "about", "around", "roughly", "approximately", ":")
        reading = read_point(words, skip_low(words, at, "least"))
        if reading is None and kind in _WHOLES:
            reading = _read_this_unit(words, behind)
        if reading is not None:
            return _make_opened(words, place, kind, opening, reading)
        event = _read_event(words, place, kind, behind)
        if event is not None:
            return event
    return None


# An event may be told in so many words before its date.
_LONGEST_EVENT = 6
_NOT_IN_EVENTS = frozenset("are was were am will has have 'm since until till can".split())


def _read_event(words: Sequence[Word], place: int, kind: PhraseKind, behind: int) -> Phrase | None:
    """Read "since the accident in 2019" and "until Jo is back in June" by the date at the end."""
    if kind not in (PhraseKind.SINCE, PhraseKind.UNTIL):
        return None
    for at in range(behind + 1, behind + _LONGEST_EVENT + 1):
        word = get_word(words, at - 1)
        if word.kind is not WordKind.WORD or word.low in _NOT_IN_EVENTS:
            return None
        if get_low(words, at) not in ("in", "on"):
            continue
        reading = read_point(words, at + 1)
        if reading is not None and not is_hour_only(reading):
            return _make_opened(words, place, kind, words[place].low.split(), reading)
    return None


_ENDING = (PhraseKind.UNTIL, PhraseKind.THROUGH)
_WHOLES = (PhraseKind.WHOLE, PhraseKind.REST)


def _read_this_unit(words: Sequence[Word], place: int) -> ReadPoint | None:
    """Read the "week" of "all week" and of "the rest of the week"."""
    at = skip_low(words, place, "the")
    unit = UNITS.get(get_low(words, at))
    if unit is None or get_low(words, at).endswith("s"):
        return None
    return ReadPoint(ShiftedUnit(unit, 0), at + 1)


# "Over Christmas" is longer than the day.
_AROUND = ("over", "at", "during")


def _make_opened(
    words: Sequence[Word],
    place: int,
    kind: PhraseKind,
    opening: Sequence[str],
    reading: ReadPoint,
) -> Phrase | None:
    end = reading.end
    if is_hour_only(reading) and kind not in _ENDING:
        return None
    if kind is PhraseKind.FROM and get_low(words, end) in ("on", "onward", "onwards", "forward"):
        end += 1
    is_around = opening[0] in _AROUND and isinstance(reading.point, Feast | Easter)
    return Phrase(
        kind,
        place,
        end,
        point=reading.point,
        is_vague=reading.is_vague or is_around,
        hour=reading.hour,
    )


def _read_bare(words: Sequence[Word], place: int) -> Phrase | None:
    """Read a date without a preposition, if its words are a date by themselves."""
    reading = read_point(words, place)
    if reading is None:
        return _read_bare_length(words, place)
    is_weekday = isinstance(reading.point, NamedWeekday)
    if not reading.is_named and not is_weekday:
        return None
    return Phrase(
        PhraseKind.DURING,
        place,
        reading.end,
        point=reading.point,
        is_vague=reading.is_vague,
        hour=reading.hour,
    )


def _read_bare_length(words: Sequence[Word], place: int) -> Phrase | None:
    """Read the "ten years now" of "I've been here ten years now"."""
    length = read_length(words, place)
    if length is None:
        return None
    count, unit, at = length
    end = skip_low(words, at, "now", "already")
    ends = (WordKind.MARK, WordKind.LINE_BREAK)
    if end < len(words) and get_word(words, end).kind not in ends:
        return None
    if get_low(words, end) in ("'", "-"):
        return None
    return Phrase(PhraseKind.LASTING, place, end, count=count, unit=unit)


_VAGUE_COUNTS = ("few", "couple", "several", "some", "many")


def _read_vague(words: Sequence[Word], place: int) -> Phrase | None:
    """Read "the other day", "a few weeks ago", "recently", "in my twenties"."""
    if get_low(words, place) in ("recently", "lately"):
        return Phrase(PhraseKind.VAGUE, place, place + 1)
    if [get_low(words, place + i) for i in range(3)] == ["the", "other", "day"]:
        return Phrase(PhraseKind.VAGUE, place, place + 3)
    if get_low(words, place) == "in" and get_low(words, place + 1) in ("my", "his", "her", "their"):
        at = skip_low(words, place + 2, "early", "mid", "late", "-")
        is_age = get_low(words, at) in ("teens", *DECADES)
        return Phrase(PhraseKind.VAGUE, place, at + 1) if is_age else None
    at = skip_low(words, place, "a", "quite")
    at = skip_low(words, at, "a")
    at = skip_low(words, at, *_VAGUE_COUNTS)
    low = get_low(words, at)
    is_several = low in UNITS and low.endswith("s")
    if not is_several and low not in ("ages", "while", "time"):
        return None
    if get_low(words, at + 1) not in ("ago", "back"):
        return None
    return Phrase(PhraseKind.VAGUE, place, at + 2)
