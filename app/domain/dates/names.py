"""The English names of months, weekdays, units, seasons, numbers and feast days."""

from enum import StrEnum

from app.domain.dates.dated_text import Precision


class Unit(StrEnum):
    """A length of time that words count in."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    FORTNIGHT = "fortnight"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


UNIT_PRECISION = {
    Unit.HOUR: Precision.INSTANT,
    Unit.DAY: Precision.DAY,
    Unit.WEEK: Precision.WEEK,
    Unit.FORTNIGHT: Precision.WEEK,
    Unit.MONTH: Precision.MONTH,
    Unit.QUARTER: Precision.QUARTER,
    Unit.YEAR: Precision.YEAR,
    Unit.DECADE: Precision.DECADE,
}

UNITS = {
    "hour": Unit.HOUR,
    "hr": Unit.HOUR,
    "day": Unit.DAY,
    "night": Unit.DAY,
    "week": Unit.WEEK,
    "wk": Unit.WEEK,
    "fortnight": Unit.FORTNIGHT,
    "month": Unit.MONTH,
    "mth": Unit.MONTH,
    "mo": Unit.MONTH,
    "quarter": Unit.QUARTER,
    "year": Unit.YEAR,
    "yr": Unit.YEAR,
    "decade": Unit.DECADE,
}
UNITS |= {f"{name}s": unit for name, unit in UNITS.items()}

MONTH_NAMES = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
MONTHS = {name: number for number, name in enumerate(MONTH_NAMES, start=1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}

WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAYS = {name: number for number, name in enumerate(WEEKDAY_NAMES)}
WEEKDAYS |= {name[:3]: number for name, number in WEEKDAYS.items()}
WEEKDAYS |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}

# The month in which each season starts; a winter is named after the year in which it starts.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

# Names that are also everyday words. They are dates only with a capital or with a clear neighbour.
ORDINARY_WORDS = frozenset(
    "may march mar jan jun sat sun mon wed fri spring fall summer winter autumn dec".split()
)

ONE_TO_TWENTY = tuple(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
    """.split()
)
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60}
# Words count no stretches of time as long as these.
HIGH_TENS = {"seventy": 70, "eighty": 80, "ninety": 90}
NUMBERS = {name: number for number, name in enumerate(ONE_TO_TWENTY, start=1)}
NUMBERS |= {"a": 1, "an": 1} | TENS

# Words that make a number before them no year: "up to 2000 euros".
COUNTED_THINGS = frozenset(
    "people km kg kcal euro eur usd gbp ml mg kb mb gb rpm psi mm cm sq percent pound".split()
)

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = {name: number for number, name in enumerate(_ORDINALS.split(), start=1)}

DECADES = {
    "twenties": 20,
    "thirties": 30,
    "forties": 40,
    "fifties": 50,
    "sixties": 60,
    "seventies": 70,
    "eighties": 80,
    "nineties": 90,
}

# Month and day of feasts that fall on the same day each year.
FEASTS = {
    ("christmas", "eve"): (12, 24),
    ("christmas", "day"): (12, 25),
    ("christmas",): (12, 25),
    ("boxing", "day"): (12, 26),
    ("new", "year", "'s", "eve"): (12, 31),
    ("new", "year", "'s", "day"): (1, 1),
    ("new", "year", "'s"): (1, 1),
    ("new", "years", "day"): (1, 1),
    ("new", "years", "eve"): (12, 31),
    ("new", "years"): (1, 1),
    ("new", "year"): (1, 1),
    ("halloween",): (10, 31),
    ("valentines", "day"): (2, 14),
    ("valentines",): (2, 14),
    ("valentine", "'s", "day"): (2, 14),
    ("valentine", "'s"): (2, 14),
}

# Days around Easter, counted from its Sunday.
EASTER_DAYS = {
    ("good", "friday"): -2,
    ("easter", "sunday"): 0,
    ("easter", "monday"): 1,
    ("easter",): 0,
}

# Common misspellings and short forms, and the words that they stand for.
SPELLINGS = {
    "febuary": "february",
    "feburary": "february",
    "janurary": "january",
    "septmber": "september",
    "setember": "september",
    "ocotber": "october",
    "novemeber": "november",
    "decemeber": "december",
    "tuseday": "tuesday",
    "teusday": "tuesday",
    "wednsday": "wednesday",
    "wendsday": "wednesday",
    "wensday": "wednesday",
    "wedensday": "wednesday",
    "thrusday": "thursday",
    "thursaday": "thursday",
    "firday": "friday",
    "saterday": "saturday",
    "satuday": "saturday",
    "yesteday": "yesterday",
    "yesturday": "yesterday",
    "yday": "yesterday",
    "tommorow": "tomorrow",
    "tommorrow": "tomorrow",
    "tomorow": "tomorrow",
    "tmrw": "tomorrow",
    "tmr": "tomorrow",
    "tmw": "tomorrow",
    "untill": "until",
    "untl": "until",
    "'til": "til",
    "thru": "through",
    "sice": "since",
    "sinse": "since",
    "nxt": "next",
    "xmas": "christmas",
    "forteen": "fourteen",
    "fourty": "forty",
    "nineth": "ninth",
}
