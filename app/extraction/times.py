"""Which kinds of time a clause names: a date, a far past, how often something happens."""

import re

from app.extraction import words as lists
from app.extraction.phrases import list_phrases
from app.extraction.tokens import Clause

_YEAR = re.compile(r"\b(?:19|20)\d\d\b|['’]\d\d\b")
_LONG = re.compile(
    r"\bfor (?:over |about |almost |nearly |the (?:last|past) )?[\w-]+ (?:years|months|decades)\b"
)
_CLOCK = re.compile(
    r"\b(?:at|from) \d{1,2}\b(?!\s*(?:%|percent|per|km|mph|degrees|years|people))"
    r"|\bat (?:half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|\b(?:after|before|until|till) (?:\d{1,2}|six|seven|eight|nine|ten|noon)(?=\Z|[,.;])"
    r"|\b\d{1,2}(?::\d\d|\.\d\d\b|\s?[ap]\.?m\b)|\b\d{1,2}(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_WEEKLY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b"
    r"|\b(?:weekends|weekdays|weeknights|mornings|evenings|nights|afternoons)\b"
)
_HABITS = list_phrases(
    """
    every/daily/weekly/monthly/yearly/annually/always/usually/often/never/each/twice a
    /twice daily/once a/once every/times a/rarely/most days/most mornings/most evenings
    /most nights/normally/generally/sometimes/regularly/nightly/per week/per month
    /per year/a week/a day/a month/a year/a night/typically/fortnightly/before meals
    /by default/as a rule/first thing/whenever/an hour/all year/these days/nowadays
    /in the mornings/no longer/any more/anymore/for a living/since/from now on/without fail
    """
)
_AMBIGUOUS_MONTHS = frozenset("may march mar sep".split())
_PLAIN_MONTHS = lists.MONTHS - _AMBIGUOUS_MONTHS
_FAR_PASTS = list_phrases(
    """
    years ago/year ago/months ago/month ago/weeks ago/last year/last month/last summer
    /last winter/last spring/last autumn/last fall/when i was/as a kid/as a child/in may
    /in march/decades ago/in my twenties/in my thirties/in college/in high school
    /at university/at uni/back in the/back in school/back in college/last christmas/this year
    /last week/growing up
    /as a teenager/a while back/in the eighties/in the nineties/easter
    """
)
_DATE_WORDS = lists.WEEKDAYS | frozenset("tomorrow noon midnight christmas easter ramadan".split())
_DATES = list_phrases(
    """
    next week/next month/next year/next summer/next spring/next winter/next autumn
    /this summer/this weekend/next weekend/in may/in march/end of/this winter/this spring
    /this autumn/this month/until/till/next quarter/next term/per cent/in a fortnight
    """
)


def has_habit(clause: Clause) -> bool:
    """Return True if the clause tells how often something happens, or since when it lasts."""
    return clause.contains(*_HABITS) or _WEEKLY.search(clause.text.lower()) is not None


def has_past_date(clause: Clause) -> bool:
    """Return True if the clause names a time that is more than days ago."""
    if _YEAR.search(clause.text) or _LONG.search(clause.text.lower()):
        return True
    return bool(clause.word_set & _PLAIN_MONTHS) or clause.contains(*_FAR_PASTS)


def has_date(clause: Clause) -> bool:
    """Return True if the clause names a day, a month, a year or a time of day."""
    if clause.word_set & (_DATE_WORDS | _PLAIN_MONTHS) or _CLOCK.search(clause.text):
        return True
    return has_past_date(clause) or clause.contains(*_DATES)


def has_schedule(clause: Clause) -> bool:
    """Return True if the clause names a date or how often something happens."""
    return has_date(clause) or has_habit(clause)
