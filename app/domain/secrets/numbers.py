"""Numbers that pay, open or name a person: cards, accounts, PINs, identity numbers."""

import re
from collections.abc import Iterator

from app.domain.numbers import is_payment_card, measure_iban
from app.domain.secrets.kinds import Secret, SecretKind
from app.domain.secrets.randomness import has_any_word

# Digits in one run, or in the groups in which they are printed on cards.
_CARD = re.compile(
    r"(?<![\w.+-])(?:\d{14,19}|\d{4}([\s._/-])\d{4}\1\d{4}\1\d{4}|\d{4}([\s.-])\d{6}\2\d{4,5}"
    r"|\d(?:[ -]\d){13,18})(?![\w-])"
)
_NO_DIGITS = re.compile(r"\D")
_OTHER_NUMBER = re.compile(
    r"(?:order|tracking|invoice|imei|isbn|issn|ean|serial|parcel|reference|ref|case|ticket|id)\b"
    r"[^\n\d]{0,16}\Z",
    re.IGNORECASE,
)


# After such a word, a number is a card's although its check digit was mistyped.
_CARD_WORD = re.compile(
    r"\b(?:card|visa|master\s?card|amex|american\sexpress|maestro|discover)\b[^\n\d]{0,24}\Z",
    re.IGNORECASE,
)


# The code on a card's back, behind the date until which the card is valid.
_CODE_BEHIND = re.compile(
    r"[\s,;|/-]{1,3}(?:[a-z]{1,8}[.:\s]{0,2}){0,2}\d\d?[/-](?:20)?\d\d[\s,;"
    r"|/-]{1,3}(\d{3,4})(?![\w/-])",
    re.IGNORECASE,
)


def find_cards(text: str) -> Iterator[Secret]:
    for match in _CARD.finditer(text):
        before = text[max(0, match.start() - 48) : match.start()]
        is_card = is_payment_card(_NO_DIGITS.sub("", match[0])) and not _OTHER_NUMBER.search(before)
        if is_card or _CARD_WORD.search(before):
            yield Secret(SecretKind.CARD_NUMBER, match.start(), match.end())
            if code := _CODE_BEHIND.match(text, match.end()):
                yield Secret(SecretKind.PIN, code.start(1), code.end(1))


# The longest IBAN has 34 characters, with eight spaces when it is printed in groups.
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ .-]?[A-Za-z0-9]){11,30}")


_IBAN_WORD = re.compile(r"\biban\b[^\n\d]{0,24}\Z", re.IGNORECASE)


def find_ibans(text: str) -> Iterator[Secret]:
    for match in _IBAN.finditer(text):
        length = measure_iban(match[0].upper().replace("-", " ").replace(".", " "))
        if not length and _IBAN_WORD.search(text[max(0, match.start() - 32) : match.start()]):
            length = match.end() - match.start()
        if length:
            yield Secret(SecretKind.IBAN, match.start(), match.start() + length)


_IS = (
    r"[\"'`]?\s{0,2}(?:is(?:\snow|\sstill)?|['’]s|was|to|from|ist|lautet|est?|è|é|[:=#,(–—|-])?"
    r"\s{0,2}[\"'`“]?"
)
_DIGIT_WORD = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty)"
)
_OPENED = (
    "alarm atm bank card credit debit keypad lock locker padlock phone safe screen sim suitcase"
)
_SENT = "2fa confirmation mfa one-time otp unlock verification voicemail"
_CODES = "|".join((_OPENED + " " + _SENT).split())
# A PIN is told from other numbers by the words before it. A card's code may have three digits.
_PIN = re.compile(
    r"(?<![A-Za-z])(?:(?P<card_code>cv[vc]2?(?:\s(?:code|number))?|(?:security"
    r"|card\sverification)\s"
    rf"(?:code|value))|(?:pin|passcode|puk|otp|(?:{_CODES})\s(?:code|combo|combination)"
    r"|combination(?=\s(?:of|for|to|on)\s[^\n]{0,20}(?:safe|lock))"
    r"|code(?=\s(?:of|for|to|on)\s[^\n]{0,20}(?:phone|card|account|safe|alarm|locker|tablet"
    r"|laptop))"
    r")s?(?:[ -]?(?:code|number))?(?:\s(?:for|of|to|at|on|in|from|i)\s[A-Za-z' ]{1,30}?)?)"
    rf"{_IS}(?P<value>\d(?:[ -]?\d){{2,7}}|{_DIGIT_WORD}(?:[ ,-]{{1,2}}{_DIGIT_WORD}){{1,7}})"
    r"(?!\w|[.,/:-]\d)",
    re.IGNORECASE,
)
_ANOTHER_PIN = re.compile(r"[\"'`”]?\s(?:to|and|or)\s[\"'`“]?(\d{4,8})(?!\w)")


def find_pins(text: str) -> Iterator[Secret]:
    if not has_any_word(
        text, ("pin", "code", "puk", "otp", "cvv", "cvc", "combination", "combo", "value")
    ):
        return
    for match in _PIN.finditer(text):
        digits = sum(character.isdigit() for character in match["value"])
        if match["card_code"] or digits != 3:
            yield Secret(SecretKind.PIN, match.start("value"), match.end("value"))
            if another := _ANOTHER_PIN.match(text, match.end()):
                yield Secret(SecretKind.PIN, another.start(1), another.end(1))


_NUMBER_WORD = r"[\s_-]?(?:id\b|numbers?\b|num\b|no\b\.?|nr\b\.?|code\b|#)"
PAPERS = (
    *(r"social\s(?:security|insurance)", r"national\s(?:insurance|id)", r"id(?:entity)?\scard"),
    *(
        r"driv(?:er['’]?s?|ing)\slicen[cs]e",
        r"green\scard",
        r"residence\spermit",
        r"(?:reise)?pass?[ae]?poo?rt[eo]?",
        "reisepass",
        "(?:personal)?ausweis",
        "konto(?=nummer)",
        "führerschein",
        "ssn",
    ),
    *("aadhaar", "ahv", "bsb", "bsn", r"burger\s?service\s?nummer", "clabe", "cnic", "cpf", "cpr"),
    *(
        "curp",
        "dl",
        "dni",
        "hkid",
        "medicare",
        "nhs",
        "nif",
        "nino",
        "nric",
        "personnummer",
        "pesel",
    ),
    *(
        "itin",
        "pps",
        "rrn",
        "tfn",
        r"codice\sfiscale",
        r"(?:sozial|renten|kranken)versicherte?n?\w{0,12}",
    ),
    *(r"steuer-?(?:id\w{0,16}|nummer)", r"s[ée]cu(?:rit[ée]\ssociale)?", r"seguridad\ssocial"),
    *(
        r"(?:permis\sde|permiso\sde|carnet\sde)\scondu\w{2,4}",
        r"patente\sdi\sguida",
        r"carta\sd['’]identit[àa]",
    ),
)
# These words stand before other numbers too.
_PERHAPS_PAPERS = (
    *("alien", "ein", "identification", "identity", "insurance", "licen[cs]e", "military"),
    *("mrn", "nie", "nir", "pan", "permit", "personal", "registration", "rfc", "sin", "student"),
    *(r"tax(?:payer|\sfile)?(?:\sidentification)?", "tin", "voter", "account", "routing", "sort"),
)
_IDENTITY = re.compile(
    rf"(?<![A-Za-z])(?:(?:{'|'.join(PAPERS)})(?:nummer|\b)(?:{_NUMBER_WORD})?"
    rf"|(?:{'|'.join(_PERHAPS_PAPERS)})\b(?:{_NUMBER_WORD}|(?=[\"'`]?\s?[:=]))"
    rf"|account(?=\s\d{{7,17}}\b)|(?-i:EIN|SIN|TIN)\b)"
    rf"(?:\s(?:of|on|for|in)\s[A-Za-z' ]{{1,30}}?)?{_IS}"
    r"(?P<value>(?:(?-i:[A-Z]{1,3})[ ]|[A-Z]{0,6}-?)\d[\dA-Z]*"
    r"(?:[ ./-](?=[\dA-Z]*\d)[\dA-Z]+){0,6}(?:[ -][A-Z])?)(?!\w)",
    re.IGNORECASE,
)
# Numbers of this form without another word: three digits, two and four, as the United States
# issue them.
_SOCIAL_SECURITY = re.compile(
    r"(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-]|\.\d)"
)
# Numbers whose form no other number has: of Italy, Mexico, India, the United Kingdom, Brazil,
# Switzerland, Germany's pensions, China, France and Spain.
_FORMS = re.compile(
    r"(?<![\w.-])(?:[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]|[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d"
    r"|[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]|[A-Z9]{5}\d{6}[A-Z9]{2}\d[A-Z]{2}"
    r"|[A-CEGHJ-PR-TW-Z]{2}( ?)\d\d\1\d\d\1\d\d\1[A-D]|\d{3}\.\d{3}\.\d{3}-\d\d"
    r"|756\.\d{4}\.\d{4}\.\d\d"
    r"|\d\d( ?)(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d\2[A-Z]\2\d{3}"
    r"|[1-9]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}X"
    r"|(?P<nir>[12]( ?)\d\d\4(?:0[1-9]|1[0-2])\4\d\d\4\d{3}\4\d{3}\4\d\d)"
    r"|(?P<dni>[XYZ\d]\d{7}-?[A-Z]))(?![\w-]|\.\d)"
)
_LETTERS_OF_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"


def _has_check_digit(match: re.Match[str]) -> bool:
    """Return False if a number of France or Spain does not fit the digits or letter at its end."""
    if nir := match["nir"]:
        digits = nir.replace(" ", "")
        return 97 - int(digits[:-2]) % 97 == int(digits[-2:])
    if dni := match["dni"]:
        number = int(dni[:-1].rstrip("-").translate(str.maketrans("XYZ", "012")))
        return _LETTERS_OF_DNI[number % 23] == dni[-1]
    return True


_DATE = re.compile(
    r"(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)?\d\d"
)
_LEAST_DIGITS = 5
_DIGIT = re.compile(r"\d")
# Four digits with a letter or a mark between them, or eight letters and digits. All numbers of
# papers have one of these, and the search for their names takes long.
_MAY_BE_NUMBER = re.compile(
    r"\d(?:[A-Za-z]{0,8}[ ./-]?[A-Za-z]{0,8}\d){3}|\b(?=[A-Za-z\d]{8})[A-Za-z]{0,6}\d"
)
_LETTERS_AND_DIGITS = re.compile(r"(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{8,18}")


def is_letters_and_digits(value: str) -> bool:
    """Return True for a number like C4VJ9RN2K, in which capitals and digits stand in any order."""
    return _LETTERS_AND_DIGITS.fullmatch(value) is not None


def find_identity_numbers(text: str) -> Iterator[Secret]:
    if not _DIGIT.search(text):
        return
    for match in _IDENTITY.finditer(text) if _MAY_BE_NUMBER.search(text) else ():
        value = match["value"].rstrip()
        digits = sum(character.isdigit() for character in value)
        least = _LEAST_DIGITS if value.isdigit() else _LEAST_DIGITS - 1
        is_number = digits >= least or is_letters_and_digits(value)
        if is_number and not _DATE.fullmatch(value):
            start = match.start("value")
            yield Secret(SecretKind.IDENTITY_NUMBER, start, start + len(value))
    for match in _SOCIAL_SECURITY.finditer(text):
        yield Secret(SecretKind.IDENTITY_NUMBER, match.start(), match.end())
    for match in _FORMS.finditer(text):
        if _has_check_digit(match):
            yield Secret(SecretKind.IDENTITY_NUMBER, match.start(), match.end())
