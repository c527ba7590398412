"""Numbers with a check digit: payment cards (ISO/IEC 7812) and IBANs (ISO 13616)."""

# Prefixes of the large card schemes, and the digits that their numbers have.
_CARD_SCHEMES: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = (
    (("4",), (16, 19)),
    (tuple(str(prefix) for prefix in range(51, 56)), (16,)),
    (tuple(str(prefix) for prefix in range(2221, 2721)), (16,)),
    (("34", "37"), (15,)),
    (("6011", "644", "645", "646", "647", "648", "649", "65"), (16, 19)),
    (tuple(str(prefix) for prefix in range(3528, 3590)), (16,)),
    (("300", "301", "302", "303", "304", "305", "36", "38", "39"), (14,)),
    (("62",), (16, 17, 18, 19)),
)

# Lengths of IBANs by country, from the registry of SWIFT.
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL SD FK",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK MN",
        21: "CH CR HR LI LV",
        22: "BG BH DE GB GE IE ME RS VA",
        23: "AE IL IQ TL GI SO OM",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "PT ST LY",
        26: "IS TR",
        27: "FR GR IT MC MR SM BI DJ",
        28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}


def is_payment_card(text: str) -> bool:
    """Return True for the number of a large card scheme; spaces and hyphens do not count."""
    digits = text.replace(" ", "").replace("-", "")
    has_scheme = any(
        digits.startswith(prefixes) and len(digits) in lengths
        for prefixes, lengths in _CARD_SCHEMES
    )
    return has_scheme and len(set(digits)) > 1 and passes_luhn(digits)


def passes_luhn(digits: str) -> bool:
    """Return True if the last digit is the check digit of the others (Luhn)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def measure_iban(text: str) -> int:
    """Return how many characters at the start of the text are an IBAN, 0 if none.

    Spaces between the groups count. What follows the IBAN's own length does not matter.
    """
    length = _IBAN_LENGTHS.get(text[:2], 0)
    place = 0
    characters: list[str] = []
    while place < len(text) and len(characters) < length:
        if text[place] != " ":
            characters.append(text[place])
        place += 1
    if not length or len(characters) < length:
        return 0
    return place if _passes_mod_97("".join(characters)) else 0


def _passes_mod_97(iban: str) -> bool:
    rearranged = iban[4:] + iban[:4]
    return int("".join(str(int(character, 36)) for character in rearranged)) % 97 == 1
