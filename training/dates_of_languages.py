"""Sentences with phrases of time in many languages, and what each phrase means.

Those of English are `corpus/dates`. Those of other languages, `corpus/languages/<writer>/dates.jsonl`, have each phrase in English too: what
the app reads in that is what the phrase means.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from babel import Locale
from dates import list_date_writers
from questions import list_language_writers

from app.domain.dates.meanings import (
    FIRST_MONTHS,
    NO_STEP,
    OTHER_NUMBER,
    WHICH,
    Figure,
    Form,
    Meaning,
)
from app.domain.dates.phrase_kinds import Phrase, PhraseKind
from app.domain.dates.phrases import find_phrases
from app.domain.dates.points import (
    DayOfShiftedMonth,
    DayOfThisMonth,
    InShiftedYear,
    LastPart,
    NamedDay,
    NamedDecade,
    NamedMonth,
    NamedQuarter,
    NamedSeason,
    NamedWeekday,
    NamedYear,
    Point,
    ShiftedDay,
    ShiftedUnit,
    WeekdayOfWeek,
    Weekend,
)
from app.domain.dates.roles import Role
from app.domain.dates.words import split_words
from app.extraction.foreign_dates import NUMBER
from corpus import FOLDER

LOCALES: Final = {
    "chinese": "zh",
    "dutch": "nl",
    "english": "en",
    "french": "fr",
    "german": "de",
    "italian": "it",
    "japanese": "ja",
    "portuguese": "pt",
    "spanish": "es",
}
UNSPACED: Final = ("chinese", "japanese")
STEPS: Final = {which: step for step, which in WHICH.items()}
FARTHEST_STEP: Final = 2
MONTH_SIGN: Final = "月"  # where it stands, months come before days
DAYS: Final = (Figure.DAY, Figure.UNTIL_DAY)
NOT_A_PHRASE: Final = "now"

Values = dict[Figure, int]


@dataclass(frozen=True, slots=True)
class Told:
    """A phrase of time in a text: its half-open place, its role, and what it means, and what each number in it is."""

    start: int
    end: int
    role: Role
    meaning: Meaning
    figures: Sequence[Figure]


@dataclass(frozen=True, slots=True)
class Timed:
    """A sentence of a language, with all its phrases of time."""

    language: str
    text: str
    phrases: Sequence[Told]


def read_trained() -> list[Timed]:
    """Return the sentences of all writers but those held out."""
    timed = [
        _read_line("english", json.loads(line))
        for writer in list_date_writers()
        for line in (FOLDER / "dates" / f"{writer}.jsonl").read_text("utf-8").splitlines()
    ]
    for folder in list_language_writers("dates.jsonl", is_held_out=False):
        timed += read_writer(folder)
    return timed


def read_writer(folder: Path) -> list[Timed]:
    """Return the sentences of a writer of another language."""
    file = folder / "dates.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    language = folder.name.rstrip("0123456789")
    return [_read_line(language, json.loads(line)) for line in lines]


def _read_line(language: str, line: dict[str, Any]) -> Timed:
    text, place = line["text"], 0
    phrases = []
    for phrase in line["phrases"]:
        words = phrase["words"]
        start = text.index(words, place)
        place = start + len(words)
        if phrase.get("english") == NOT_A_PHRASE:
            continue
        has_started = phrase["role"] == "starts" and phrase["lean"] == "past"
        role = Role.STARTED if has_started else Role(phrase["role"])
        meaning, figures = find_meaning(words, phrase.get("english", words))
        phrases.append(Told(start, place, role, meaning, figures))
    return Timed(language, text, phrases)


@cache
def find_meaning(words: str, english: str) -> tuple[Meaning, tuple[Figure, ...]]:
    """Return what the words mean by their English, and what each of their numbers is.

    What the app does not read in English is vague. If the numbers of the words do not show its date, as those of other eras, no date is made
    of it.
    """
    phrases = list(find_phrases(split_words(english)))
    numbers = [int(number[0]) for number in NUMBER.finditer(words)]
    nothing = (Figure.NONE,) * len(numbers)
    described = _describe(phrases[0]) if len(phrases) == 1 else None
    if described is None:
        return Meaning(PhraseKind.VAGUE), nothing
    meaning, values = described
    figures = _align(words, numbers, values)
    spelled = _spell(meaning, values, figures) if figures is not None else None
    if figures is None or spelled is None:
        return Meaning(meaning.kind, Form.OTHER), nothing
    return spelled, figures


def _describe(phrase: Phrase) -> tuple[Meaning, Values] | None:
    """Return the choices that make the phrase, and its values, which stand in figures or in words."""
    kind = phrase.kind
    if kind is PhraseKind.VAGUE:
        return Meaning(kind), {}
    if phrase.hour is not None:
        return Meaning(kind, Form.OTHER), {}
    if kind is PhraseKind.LASTING:
        form = Form.NONE if phrase.point is None else Form.OTHER
        return Meaning(kind, form, unit=phrase.unit), {Figure.COUNT: phrase.count}
    point, until = phrase.point, phrase.until
    closes = phrase.is_through
    if isinstance(point, LastPart) and until is None:
        point, closes = point.whole, True
    if isinstance(until, LastPart):
        until, closes = until.whole, True
    if point is None:
        return None
    meaning, values = _describe_point(Meaning(kind, closes=closes, is_vague=phrase.is_vague), point)
    if until is None:
        return meaning, values
    match until:
        case NamedDay(year, month, day):
            meaning = replace(meaning, until=Form.DAY, until_month=month)
            values |= {Figure.UNTIL_DAY: day, Figure.UNTIL_MONTH: month}
        case NamedMonth(year, month):
            meaning = replace(meaning, until=Form.MONTH, until_month=month)
            values |= {Figure.UNTIL_MONTH: month}
        case NamedYear(year):
            meaning = replace(meaning, until=Form.YEAR)
        case NamedWeekday(weekday):
            return replace(meaning, until=Form.WEEKDAY, until_weekday=weekday + 1), values
        case _:
            return replace(meaning, form=Form.OTHER, until=Form.OTHER), values
    return meaning, values | ({Figure.UNTIL_YEAR: year} if year is not None else {})


def _describe_point(meaning: Meaning, point: Point) -> tuple[Meaning, Values]:
    year = getattr(point, "year", None)
    values: Values = {} if year is None else {Figure.YEAR: year}
    match point:
        case NamedDay(_, month, day):
            values |= {Figure.DAY: day, Figure.MONTH: month}
            return replace(meaning, form=Form.DAY, month=month), values
        case NamedMonth(_, month, which):
            values |= {Figure.MONTH: month}
            return replace(meaning, form=Form.MONTH, month=month, step=STEPS[which]), values
        case NamedQuarter(_, quarter):
            return replace(meaning, form=Form.QUARTER), values | {Figure.COUNT: quarter}
        case NamedSeason(_, first, which):
            season = FIRST_MONTHS.index(first)
            return replace(meaning, form=Form.SEASON, season=season, step=STEPS[which]), values
        case NamedYear():
            return replace(meaning, form=Form.YEAR), values
        case NamedDecade():
            return replace(meaning, form=Form.DECADE), values
        case NamedWeekday(weekday, which):
            weekday += 1
            return replace(meaning, form=Form.WEEKDAY, weekday=weekday, step=STEPS[which]), {}
        case DayOfThisMonth(day):
            return replace(meaning, form=Form.DAY_OF_MONTH), {Figure.DAY: day}
        case _:
            near, values = _describe_near_point(meaning, point)
            is_far = near.step != NO_STEP and abs(near.step) > FARTHEST_STEP
            return (replace(meaning, form=Form.OTHER), {}) if is_far else (near, values)


def _describe_near_point(meaning: Meaning, point: Point) -> tuple[Meaning, Values]:
    match point:
        case WeekdayOfWeek(weekday, step):
            weekday += 1
            return replace(meaning, form=Form.WEEKDAY_OF_WEEK, weekday=weekday, step=step), {}
        case Weekend(step):
            return replace(meaning, form=Form.WEEKEND, step=step), {}
        case DayOfShiftedMonth(day, step):
            return replace(meaning, form=Form.DAY_OF_SHIFTED_MONTH, step=step), {Figure.DAY: day}
        case InShiftedYear(NamedDay(_, month, day), step):
            values = {Figure.DAY: day, Figure.MONTH: month}
            return replace(meaning, form=Form.DAY_OF_YEAR, month=month, step=step), values
        case InShiftedYear(NamedMonth(_, month), step):
            values = {Figure.MONTH: month}
            return replace(meaning, form=Form.MONTH_OF_YEAR, month=month, step=step), values
        case InShiftedYear(NamedSeason(_, first), step):
            season = FIRST_MONTHS.index(first)
            return replace(meaning, form=Form.SEASON_OF_YEAR, season=season, step=step), {}
        case ShiftedUnit(unit, step):
            return replace(meaning, form=Form.UNIT, unit=unit, step=step), {}
        case ShiftedDay(unit, count):
            side = 1 if count > 0 else -1
            return replace(meaning, form=Form.AGO, unit=unit, step=side), {Figure.COUNT: abs(count)}
        case _:
            return replace(meaning, form=Form.OTHER), {}


def _align(words: str, numbers: Sequence[int], values: Values) -> tuple[Figure, ...] | None:
    """Return what each number is, None if that is not plain.

    "10 October" and "from May to June 2024" have a number that fits two: it is the day, and the year of the end.
    """
    figures: list[Figure] = []
    for number in numbers:
        fitting = [figure for figure, value in values.items() if _is_same(figure, number, value)]
        if len(fitting) > numbers.count(number):
            fitting = [next((one for one in fitting if one in DAYS), fitting[-1])]
        elif len(fitting) > 1:
            fitting = [one for one in fitting if one not in figures]
            if Figure.DAY in fitting and Figure.MONTH in fitting:
                fitting = [Figure.MONTH if MONTH_SIGN in words else Figure.DAY]
        figures.append(fitting[0] if fitting else Figure.NONE)
    known = [figure for figure in figures if figure is not Figure.NONE]
    return tuple(figures) if len(set(known)) == len(known) else None


def _is_same(figure: Figure, number: int, value: int) -> bool:
    is_short = figure in (Figure.YEAR, Figure.UNTIL_YEAR) and number == value % 100
    return number == value or is_short


def _spell(meaning: Meaning, values: Values, figures: Sequence[Figure]) -> Meaning | None:
    """Return the meaning with the number that the words spell, and without months in figures.

    It is None if the words show too little of it.
    """
    is_range = meaning.kind is PhraseKind.BETWEEN
    if Figure.UNTIL_MONTH in figures:
        meaning = replace(meaning, until_month=0)
    if Figure.MONTH in figures or Figure.UNTIL_MONTH in figures:
        meaning = replace(meaning, month=0)
    optional = (Figure.MONTH, Figure.UNTIL_MONTH, *((Figure.YEAR,) if is_range else ()))
    missing = [one for one in values if one not in figures and one not in optional]
    if not missing:
        return meaning
    if len(missing) > 1 or missing[0] not in (Figure.COUNT, Figure.DAY):
        return None
    value = values[missing[0]]
    return replace(meaning, number=value if value < OTHER_NUMBER else OTHER_NUMBER)


Alike = dict[tuple[str, Role, PhraseKind, Form], list[tuple[str, Told]]]


def collect_phrases(sentences: Sequence[Timed]) -> Alike:
    """Return the words of phrases by what they have in common."""
    alike: Alike = defaultdict(list)
    for sentence in sentences:
        for told in sentence.phrases:
            alike[_find_key(sentence, told)].append((sentence.text[told.start : told.end], told))
    return alike


def _find_key(sentence: Timed, told: Told) -> tuple[str, Role, PhraseKind, Form]:
    return sentence.language, told.role, told.meaning.kind, told.meaning.form


def redate(sentence: Timed, alike: Alike, rng: random.Random) -> Timed:
    """Return the sentence with other phrases of the same language, role, kind and form, with other names and numbers."""
    text, done = "", 0
    phrases = []
    for told in sentence.phrases:
        text += sentence.text[done : told.start]
        words, other = rng.choice(alike[_find_key(sentence, told)])
        words, other = rename(words, other, sentence.language, rng)
        words, other = renumber(words, other, rng)
        if sentence.text[told.start].isupper():
            words = words[:1].upper() + words[1:]
        elif not told.start or sentence.text[told.start].islower():
            words = words[:1].lower() + words[1:]
        start = len(text)
        text += words
        phrases.append(replace(other, start=start, end=len(text)))
        done = told.end
    return Timed(sentence.language, text + sentence.text[done:], phrases)


def rename(words: str, told: Told, language: str, rng: random.Random) -> tuple[str, Told]:
    """Return the words with another month or weekday. The names are those of CLDR."""
    meaning = told.meaning
    is_single = meaning.kind is not PhraseKind.BETWEEN
    for field, first in (("month", 1), ("weekday", 0)):
        names = _read_names(language, field)
        number = getattr(meaning, field)
        if not number or not is_single or meaning.form is Form.OTHER:
            continue
        name = names[number - 1 + first]
        other = rng.randrange(len(names) - first) + first
        edge = "" if language in UNSPACED else r"\b"
        pattern = re.compile(rf"(?<!\d){edge}{re.escape(name)}{edge}", re.I)
        if len(pattern.findall(words)) == 1:
            [old] = pattern.findall(words)
            new = names[other].capitalize() if old[0].isupper() else names[other]
            words = words.replace(old, new)
            meaning = _replace(meaning, field, other + 1 - first)
    return words, replace(told, meaning=meaning)


def _replace(meaning: Meaning, field: str, number: int) -> Meaning:
    if field == "month":
        return replace(meaning, month=number)
    return replace(meaning, weekday=number)


@cache
def _read_names(language: str, field: str) -> tuple[str, ...]:
    """Return the names of the months behind an empty one, or those of the weekdays from Monday."""
    locale = Locale(LOCALES[language])
    if field == "weekday":
        return tuple(locale.days["format"]["wide"][day] for day in range(7))
    return ("", *(locale.months["format"]["wide"][month] for month in range(1, 13)))


def renumber(words: str, told: Told, rng: random.Random) -> tuple[str, Told]:
    """Return the words with other days, years and counts in figures. A range keeps its own."""
    if told.meaning.kind is PhraseKind.BETWEEN:
        return words, told
    figures = iter(told.figures)

    def draw(number: re.Match[str]) -> str:
        old = number[0]
        match next(figures):
            case Figure.DAY:
                return str(rng.randint(1, 28)).zfill(len(old) if old.startswith("0") else 1)
            case Figure.MONTH:
                return str(rng.randint(1, 12)).zfill(len(old) if old.startswith("0") else 1)
            case Figure.YEAR if len(old) == len("2024") and told.meaning.form is not Form.DECADE:
                return str(rng.randint(1985, 2030))
            case Figure.COUNT if told.meaning.form is not Form.QUARTER and int(old) > 1:
                return str(rng.randint(2, 30))
            case _:
                return old

    return NUMBER.sub(draw, words), told
