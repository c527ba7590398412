"""Typed values in running text: dates, times, money, percentages, phone numbers, versions, codes
and numbers.
"""

import re

from app.domain.dates.names import HIGH_TENS, MONTH_NAMES, ONE_TO_TWENTY, TENS

MONTHS = [name.capitalize() for name in MONTH_NAMES]
_MONTH = (
    "(?:" + "|".join(f"{m[:3]}(?:{m[3:]})?" if m != "May" else m for m in MONTHS) + r"|Sept)\.?"
)
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_AMOUNT = r"\d[\d,]*(?:\.\d+)?"
_SIGN = (
    r"(?:(?<![\w.,:;)%/-])-)?"  # A minus stands alone before its number; between two it is a dash.
)
_SCALE = r"(?:\s?(?:k|K|M|m|bn|thousand|million|billion)\b)?"
NUMBER_WORDS = {word: str(number) for number, word in enumerate(("zero", *ONE_TO_TWENTY))}
NUMBER_WORDS |= {word: str(number) for word, number in (TENS | HIGH_TENS).items()}
NUMBER_WORDS["dozen"] = "12"

_BEFORE_BARE_MONTH = "|".join(
    rf"(?<={word} )" for word in ("in", "by", "until", "since", "from", "last", "next", "till")
)
_DATE = "|".join(
    [
        r"\d{4}-\d{1,2}-\d{1,2}(?:T[\d:.]+Z?)?(?![\w-])|\d{4}/\d{1,2}/\d{1,2}",
        rf"{_DAY}(?: of)? {_MONTH},? \d{{4}}|{_MONTH} {_DAY},? \d{{4}}|{_MONTH} \d{{4}}",
        rf"{_DAY}(?: of)? {_MONTH}(?!\w)|{_MONTH} {_DAY}(?!\w|\.\d)",
        rf"(?:{_BEFORE_BARE_MONTH})(?:{'|'.join(MONTHS)})\b",
        r"\d{1,2}[/.]\d{1,2}[/.]\d{4}|Q[1-4](?: \d{4})?\b",
    ]
)
_PHONE = "|".join(
    [
        r"(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)\s?|\d{2,4}[ .-])"
        r"\d{3}[ .-]?\d{3,4}(?:[ .-]?\d{2,4})?(?![\w-]|\.\d)",
        r"\b555-\d{4}\b|\+\d[\d ]{7,}\d",
    ]
)

PATTERN = "|".join(
    [
        r"(?P<address>[\w.+-]+@[\w-]+\.[\w.-]*\w|https?://[^\s,;]*\w/?"
        r"|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|eu|de|uk)\b)",
        rf"(?P<date>{_DATE})",
        r"(?P<time>\d{1,2}:\d{2}(?:\s?[aApP]\.?[mM]\b\.?)?"
        r"|\d{1,2}\.[0-5]\d\s?[aApP]\.?[mM]\b\.?|(?<=\bat )(?:1?\d|2[0-3])\.[0-5]\d(?![\w%]|\.\d)"
        r"|\d{1,2}\s?(?:[aApP]\.[mM]\.|[aApP][mM]\b)|\b(?:noon|midnight)\b)",
        rf"(?P<money>{_SIGN}[$€£¥]\s?{_SIGN}{_AMOUNT}{_SCALE}"
        rf"|{_SIGN}{_AMOUNT}{_SCALE}\s?(?:dollars?|euros?|pounds|USD|EUR|GBP|CHF)\b"
        rf"|(?:USD|EUR|GBP|CHF)\s?{_AMOUNT}{_SCALE})",
        rf"(?P<percent>{_SIGN}{_AMOUNT}\s?(?:%|percent\b|per cent\b))",
        rf"(?P<phone>{_PHONE})",
        r"(?P<version>\b[vV]?\d+(?:\.\d+){2,}(?:[-+.]?\w+)*|\b[vV]\d+(?:\.\d+)*(?:[-+]\w+)*"
        r"|\b\d+\.\d+(?:[-+][\w.+-]*\w|[a-z]\w*))",
        r"(?P<ordinal>\b\d+(?:st|nd|rd|th)\b)",
        r"(?P<code>\b(?=[\w./-]{0,64}\d)(?=[\w./-]{0,64}[A-Za-z])\w+(?:[-./]\w+)*\+*)",
        rf"(?P<number>{_SIGN}{_AMOUNT}(?:-\d+)*\+?)",
    ]
)


def _normalise_date(text: str) -> str:
    """Return an ISO date as far as it is known, such as 2024-05 and --05-03."""
    iso = re.match(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})", text)
    if iso:
        return f"{iso[1]}-{int(iso[2]):02d}-{int(iso[3]):02d}"
    month = next((i for i, m in enumerate(MONTHS, 1) if m[:3] in text), 0)
    if not month:
        return text.lower()
    year = re.search(r"\d{4}", text)
    day = re.search(r"(?<!\d)\d{1,2}(?!\d)", text)
    return f"{year[0] if year else '-'}-{month:02d}" + (f"-{int(day[0]):02d}" if day else "")


def _normalise_number(text: str) -> str:
    """Return the number with its sign, without commas between thousands."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", text).replace(",", ".")
    return plain.rstrip(".")


_UNITS = {"$": "usd", "dollar": "usd", "€": "eur", "euro": "eur", "£": "gbp", "pound": "gbp"}


def _normalise_amount(text: str) -> str:
    digits = _normalise_number(re.sub(r"[^\d.,]", "", text)) or "0"
    scale = re.search(r"(?<=\d)\s?(k|m|bn|thousand|million|billion)\b", text, re.IGNORECASE)
    factor = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}[scale[1][0].lower()] if scale else 1
    number = float(digits) * factor if digits.count(".") <= 1 else 0.0
    sign = "-" if text.lstrip("$€£¥ ").startswith("-") else ""
    return sign + (f"{number:g}" if abs(number) < 1e6 else f"{number:.0f}")


def _normalise_time(text: str) -> str:
    clock = re.match(r"(\d{1,2})(?:[:.](\d\d))?\s?([ap])?", text.lower())
    if not clock:
        return {"noon": "12:00", "midnight": "00:00"}.get(text.lower(), text.lower())
    hour = int(clock[1])
    if clock[3]:
        hour = hour % 12 + 12 * (clock[3] == "p")
    return f"{hour:02d}:{clock[2] or '00'}"


def normalise_value(kind: str, text: str) -> str:
    """Return one spelling per value: "5 May 2024" and "2024-05-05" are equal."""
    match kind:
        case "date":
            return _normalise_date(text)
        case "time":
            return _normalise_time(text)
        case "money":
            unit = re.search(r"[$€£¥]|dollar|euro|pound|usd|eur|gbp|chf", text.lower())
            return f"{_normalise_amount(text)} {_UNITS.get(unit[0], unit[0]) if unit else ''}"
        case "percent":
            return _normalise_amount(text) + "%"
        case "phone":
            return re.sub(r"[^\d+]", "", text)
        case "version":
            return text.lower().removeprefix("v")
        case "number":
            return _normalise_number(text)
        case _:
            return text.lower()
