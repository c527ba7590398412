"""Passwords and tokens that words introduce: assigned, spoken of, or shown to a command."""

import re
from collections.abc import Iterator

from app.domain.secrets.kinds import Secret, SecretKind
from app.domain.secrets.randomness import has_any_word, is_placeholder, looks_random

PASSWORDS = (
    r"(?:pass(?:word|wd|phrase|code|key)|pwd|psk|passwort|kennwort|wachtwoord|mot\ de\ passe|mdp"
    r"|contrase(?:ñ|n)a|senha|l(?:ö|o)senord|salasana|clave|identified\sby|requirepass"
    r"|(?:wi-?fi|wlan|network|router|wireless)[\s-](?:key|pass|schlüssel)"
    r"|(?:backup|recovery|reset|emergency|scratch)\scode)"
)
KEY = r"(?:key|schlüssel|clé|chiave|chave|sleutel|token|jeton)"
_TOKENS = (
    r"(?:(?:api|access|auth(?:entication|orization)?|account|encryption|signing|private|secret"
    r"|client|consumer|refresh|session|master|root|admin|service|server|deploy|licen[cs]e|product"
    r"|webhook|bot|pre-?shared|shared|storage|subscription|app|bearer|ssh|recovery|2fa|totp|otp"
    r"|authenticator|setup)[ _-]?"
    rf"(?:{KEY}|secret|cookie|seed)(?:_base)?"
    r"|secret(?:[ _-]?(?:access[ _-]?)?key)?|token|credential|apikey|cookie)"
)
# Parts of all names above.
NAMES = (
    *("pass", "pw", "psk", "token", "key", "secret", "cookie", "credential", "code", "wort"),
    *("woord", "contrase", "senha", "senord", "salasana", "identified", "mdp"),
    *("schlüssel", "clé", "clave", "chiave", "seed", "chave", "sleutel", "jeton"),
)
# "for Netflix", "that I use at home"
_OBJECT = r"(?P<object>\s[^\n:=.,;!?\"`“”]{1,48}?)??"
_VERB = (
    r"(?:['’]s|\s(?:is|was|are|were|will\sbe|used\sto\sbe|became|to|from|(?P<foreign>ist|lautet"
    r"|est|es|är))"
    r"|\s(?:is|was|got|has\sbeen|have\sbeen)\s(?:changed|set|reset)\sto)"
    r"(?:\s(?:now|still|currently|just|always))?\s{1,3}"
)
# The value of an attribute is one too: <add key="SmtpPwd" value="..." />.
_OPERATOR = r"[\"'`”]?(?:\svalue)?\s{0,3}(?:=>|:=|->|→|==?|:|\||>)\s{0,3}"
_QUOTE = r"[\"'`“”‘’„«»]"
_QUOTED = rf"{_QUOTE}(?P<quoted>[^\"'`“”‘’„«»\n]{{3,200}}){_QUOTE}(?![A-Za-z])"
# The four groups of a password for an application, or a run without spaces.
_BARE = r"(?P<bare>[a-z0-9]{4}(?:[ -][a-z0-9]{4}){3,7}(?![\w-])|[^\s\"'`“”,;<>()]{4,400})"
# "pass" is a name where a value is assigned to it, as in "dbPass" or "SMTP_PASS", unlike "compass".
_SHORT_NAME = r"(?-i:(?<![A-Za-z])|(?<=[a-z])(?=P))pass(?=[\"'`]?\s?[:=]|\sis\b)"
_ASSIGNED = re.compile(
    rf"(?:(?P<password>{PASSWORDS}|\bpw\b|{_SHORT_NAME})|(?P<token>{_TOKENS})"
    r"|(?<![A-Za-z])(?<!public\s)key)s?(?![A-Za-z])"
    rf"(?:(?P<operator>{_OPERATOR})|(?P<adjacent>\s|,\s|\s?[(–—-]\s?)(?={_QUOTE}?[^\s]{{0,100}}\d"
    rf"|{_QUOTE})"
    rf"|{_OBJECT}(?:{_OPERATOR}|{_VERB}))\\?(?:{_QUOTED}|{_BARE})",
    re.IGNORECASE,
)
_ANOTHER = re.compile(rf"{_QUOTE}?(?:,|\s(?:to|and|or))\s{_QUOTE}?([^\s\"'`“”,;<>()]{{4,100}})")


def find_assigned(text: str) -> Iterator[Secret]:
    """Yield the values that are assigned to names such as "password" and "token"."""
    if not has_any_word(text, NAMES):
        return
    place = 0
    while match := _ASSIGNED.search(text, place):
        group = "quoted" if match["quoted"] else "bare"
        value = match[group] if match["quoted"] else match[group].rstrip(".?:…")
        if text[max(0, match.start() - 1) : match.start()] in ("?", "&"):
            value = value.partition("&")[0]
        # The name of the next one may stand where a value was looked for.
        place = match.end("token") if match["token"] else match.start() + 2
        if not _is_assigned_secret(match, value):
            continue
        kind = SecretKind.PASSWORD if match["password"] else SecretKind.SERVICE_TOKEN
        place = match.start(group) + len(value)
        yield Secret(kind, match.start(group), place)
        while match["password"] and (another := _ANOTHER.match(text, place)):
            value = another[1].rstrip(".?:")
            if not _is_password(value):
                break
            place = another.start(1) + len(value)
            yield Secret(kind, another.start(1), place)


# "for Netflix", "that I use": what the name is a part of.
_OF_NAME = re.compile(
    r"\s(?:for|of|to|on|at|in|from|that|which|i|we|fürs?|vo[nm]|van|d[aeou]l?)\b", re.IGNORECASE
)


def _is_assigned_secret(match: re.Match[str], value: str) -> bool:
    is_of_another = match["object"] and not _OF_NAME.match(match["object"])
    if is_of_another and (match["password"] is None or value.isalpha()):
        return False  # "the password store is KeePass", "the commit of the token fix is 9fceb02"
    if match["token"]:
        if match["operator"] and match["quoted"] and _mixes_digits(value) and " " not in value:
            return True
        in_fours = _IN_FOURS.fullmatch(value) and any(map(str.isdigit, value))
        return bool(in_fours) or _is_token(value, least=16 if match["adjacent"] else 12)
    if match["password"] is None:
        return _is_token(value, least=20) and not _IDENTIFIER.fullmatch(value)
    if match["adjacent"]:
        # "login bob password hunter22": only the form of the value tells that it is one.
        return _mixes_digits(value) or (bool(match["quoted"]) and _is_password(f"{value}#1"))
    if match["quoted"]:
        return not is_placeholder(value)
    if _is_password(value) or _IN_FOURS.fullmatch(value):
        return True
    # "PASSWORD=letmeinplease" in the environment, and the mark at the end of "letmeinnow!".
    if _is_told_word(match, value):
        return True
    is_variable = match["operator"] == "=" and match["password"].isupper()
    return _is_marked_word(value) or (is_variable and len(value) >= 6 and value.isalpha())


# Values of settings that share a name with secrets: versions, paths, calls, plain numbers.
_PLAIN_VALUE = re.compile(
    r"v?\d+(?:[.:/-]\d+)*|\d{1,3}[+x]?-[a-z]+|(?:~|\.{1,2})?/.*|\w+\(.*|https?://.*"
    r"|[\w.-]+@[\w-]+\..*|[\w.-]+/[\w./-]*\.[a-z]{2,7}|SHA\d+:.*|age1\w+|0x[0-9a-f]{40}"
    r"|(?:argon2|sha-?\d|md5|pbkdf2|base64|utf-?8|oauth2)\w*",
    re.DOTALL | re.IGNORECASE,
)
_COMPOUND = re.compile(r"[^\W\d_]+(?:['’_/.-][^\W\d_]+)*['’]?")
_IN_FOURS = re.compile(r"[a-z0-9]{4}(?:[ -][a-z0-9]{4}){3,7}", re.IGNORECASE)
# Hashes and UUIDs, which name things.
_IDENTIFIER = re.compile(r"[0-9a-f-]+", re.IGNORECASE)


def _is_password(value: str) -> bool:
    """Return True for a value that no ordinary word or setting looks like.

    A password mixes letters with digits or marks, or is a number of at least four digits.
    """
    bare = value.rstrip("!")
    if is_placeholder(value):
        return False
    if bare.isdigit():
        return 4 <= len(bare) <= 12
    if len(value) < 6 or _PLAIN_VALUE.fullmatch(bare) or _COMPOUND.fullmatch(bare):
        return False
    has_letter = any(character.isalpha() for character in bare)
    has_digit = any(character.isdigit() for character in bare)
    has_mark = any(not character.isalnum() for character in bare)
    return has_letter + has_digit + has_mark >= 2


# What a sentence says of a password, other than the password.
_PREDICATE = re.compile(
    r".*(?:ed|ing|able|ible|ive|al|ous|ary|ory|less|ful|ic|ent|ant)|.{0,4}|wrong|right|correct"
    r"|weak|strong|secret|short|again|known|unknown|here|there|gone|stolen|broken|forgotten|hidden"
    r"|written|simple|complex|easy|hard|unique|secure|insecure|private|public|empty|fresh|outdated"
    r"|invalid|valid|mandatory|yours|mine|ready|enough|safe|tricky|useless|obsolete|something"
    r"|someone|nothing|anything|everything|different|string|number|numbers|please|case|terrible"
    r"|awful|better|worse|stale|stronger|weaker|longer|shorter|safer",
    re.IGNORECASE,
)
_SENTENCE_GOES_ON = re.compile(r":|[\"'`”’]?(?:\s(?!and\s))?[a-z]")


def _is_told_word(match: re.Match[str], value: str) -> bool:
    """Return True for "my password is swordfish", where a clause ends with the word."""
    if " are " in match[0]:
        return False  # "passkeys are planned"
    if match["foreign"] and value.islower():
        return False  # "das Passwort ist falsch": the words below are English
    ends = _SENTENCE_GOES_ON.match(match.string, match.start("bare") + len(value)) is None
    return ends and len(value) >= 5 and value.isalpha() and not _PREDICATE.fullmatch(value)


def _is_marked_word(value: str) -> bool:
    """Return True for a word with the mark at its end that a password needs: "abcdefghijkl!"."""
    word, mark = value[:-1], value[-1:]
    return len(word) >= 7 and word.isalpha() and mark in "!#$*?" and not _PREDICATE.fullmatch(word)


def _mixes_digits(value: str) -> bool:
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    return has_digit and has_letter and _is_password(value)


def _is_token(value: str, *, least: int) -> bool:
    if len(value) < least or is_placeholder(value) or _PLAIN_VALUE.fullmatch(value):
        return False
    return " " not in value and looks_random(value, least_bits=3.0)


_OWNER = r"(?:my|our|the|a|his|her|their|your|[\w-]{1,20}['’]s?)\s"
_CODE = (
    r"(?:pin|otp|(?:verification|security|login|access|confirmation|one-time|2fa)\s(?:pass)?code)"
)
_SPOKEN_OF = re.compile(
    r"(?<![^\s\"'`“‘(])(?P<value>[^\s\"'`“”‘’(]{4,100})[\"'`”’]?"
    rf"\s(?:(?:as|for|=)\s(?:{_OWNER})?|(?:is"
    rf"|was)\s{_OWNER})(?:[\w'’-]{{1,20}}\s){{0,2}}(?:(?P<password>{PASSWORDS})|(?P<pin>{_CODE})\b)"
    r"(?!s?\s(?:manager|vault|app|store|policy|hint))",
    re.IGNORECASE,
)
_QUOTED_SPOKEN_OF = re.compile(
    rf"{_QUOTE}(?P<value>[^\"'`“”‘’\n]{{3,100}}){_QUOTE}\s(?:as|for|is|was)\s"
    rf"(?:{_OWNER})?(?:[\w'’-]{{1,20}}\s){{0,2}}{PASSWORDS}",
    re.IGNORECASE,
)


def find_spoken_of(text: str) -> Iterator[Secret]:
    """Yield the values that come before their name: "I use X as my password"."""
    if not has_any_word(text, (*NAMES, "pin", "otp")):
        return
    for match in _SPOKEN_OF.finditer(text):
        value = match["value"].rstrip(",:")
        if match["password"] and _is_password(value) and not value.isdigit():
            yield Secret(SecretKind.PASSWORD, match.start(), match.start() + len(value))
        elif match["pin"] and value.isdigit() and len(value) <= 8:
            yield Secret(SecretKind.PIN, match.start(), match.start() + len(value))
    for match in _QUOTED_SPOKEN_OF.finditer(text):
        if not is_placeholder(match["value"]):
            yield Secret(SecretKind.PASSWORD, match.start("value"), match.end("value"))


_MIXED = re.compile(
    r"(?<![^\s\"'`“”‘’(:,;=>|])[A-Za-z\d_-]{2,64}[!$^&#][\w!$^&#+-]{2,64}(?=[\s\"'`“”‘’),;:.<|?]"
    r"|\Z)",
    re.ASCII,
)
_NUMBERED = re.compile(r"\w+#\d+")


def find_mixed(text: str) -> Iterator[Secret]:
    """Yield words that mix what rules for passwords demand, whatever the text says about them.

    They have capitals, small letters, digits, and a mark inside, as no name and no word has.
    """
    if not has_any_word(text, ("!", "$", "^", "&", "#")):
        return
    for match in _MIXED.finditer(text):
        value = match[0]
        mixes_cases = not (value.islower() or value.isupper()) and _mixes_digits(value)
        if mixes_cases and len(value) >= 8 and not _NUMBERED.fullmatch(value):
            yield Secret(SecretKind.PASSWORD, match.start(), match.end())


# A name and a password, as in "login: inge / Zomer2026!", "admin:Admin123".
_PAIR = re.compile(
    rf"\b(?:(?:log-?in|log\sin|sign\sin|credential|creds|user(?:name)?|account|{PASSWORDS})s?"
    r"(?:\s(?:is|are|with|as))?\s{0,2}[:=]?\s{0,2}[\"'`]?[^\s:/|\"'`,;]{2,64}"
    r"|admin(?:istrator)?|root|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63})[\"'`]?"
    r"(?:\s{0,2}[/|]\s{0,2}|:|,?\s(?:pass|pw|with|and)\s|\s[–—-]\s|,\s)"
    r"[\"'`]?([^\s\"'`,;()]{6,128})",
    re.IGNORECASE,
)
_PASS_PHRASE = re.compile(
    rf"(?:(?P<phrase>pass\s?phrase)|{PASSWORDS}){_OBJECT}(?:{_OPERATOR}|{_VERB})"
    r"(?P<value>[a-z]{3,12}(?:[ -][a-z]{3,12}){2,11})"
    r"(?=[.,;!?)\n]|\Z)",
    re.IGNORECASE,
)
# Words that sentences need, and that no list of words for passphrases has.
_OF_SENTENCES = frozenset(
    "the and for too not are was has had you your our his her their its that this than then with"
    " from into only just must should can may will all any same never always still been".split()
)
_SECURITY_ANSWER = re.compile(
    r"\b(?:(?:security|secret)\s(?:question\s)?answer|answer\sto\s(?:[\w'’]{1,20}\s){0,3}?"
    r"(?:security|secret)\squestion)(?:\s[^\n:=.,;!?]{1,60}?)?(?:\s(?:is|was)\s|\s?[:=]\s?)",
    re.IGNORECASE,
)
_SHORT_ANSWER = re.compile(r"[\"'`“]?([^\s\"'`“”.,;!?]{2,40}(?:\s[^\s\"'`“”.,;!?]{1,40}){0,3})")


def find_pairs(text: str) -> Iterator[Secret]:
    """Yield passwords behind a user's name, passphrases of plain words, and answers."""
    if not has_any_word(
        text, (*NAMES, *("log", "sign", "user", "account", "admin", "root", "@", "answer"))
    ):
        return
    for match in _PAIR.finditer(text):
        value = match[1].rstrip(".?:")
        if _mixes_digits(value):
            yield Secret(SecretKind.PASSWORD, match.start(1), match.start(1) + len(value))
    for match in _PASS_PHRASE.finditer(text):
        words = re.split(r"[ -]", match["value"].lower())
        is_plain = any(map(_PREDICATE.fullmatch, words)) and not match["phrase"]
        if not (is_plain or _OF_SENTENCES & set(words)):
            yield Secret(SecretKind.PASSWORD, match.start("value"), match.end("value"))
    for match in _SECURITY_ANSWER.finditer(text):
        if answer := _SHORT_ANSWER.match(text, match.end()):
            yield Secret(SecretKind.PASSWORD, answer.start(1), answer.end(1))


_OPTION = re.compile(
    r"(?:^|\s)(?:--?(?:[a-z]{1,16}-?)??pass(?:word|phrase|wd|in|out)?[ =](?:pass:)?|sshpass\s-p\s?)"
    r"[\"']?(?P<value>[^\s\"']{4,128})"
)
# "-p" is a password behind the name of a user, and of some commands without one.
_SHORT_OPTION = re.compile(
    r"(?:\s-{1,2}(?:u|U|D|user|username)(?:[ =]?[^\s=-]\S{0,63})"
    r"|\b(?:mysql(?:dump|admin)?|7za?|redis-cli|(?:un)?zip(?=[^\n]{0,80}\s-P))\b)"
    r"[^\n]{0,80}?\s-[pPaw]\s?[\"']?(?P<value>[^\s\"']{4,128})"
)
_USER_OPTION = re.compile(
    r"\s(?:-u|-U|-a|--user|--proxy-user|--auth)[ =]{0,2}"
    r"(?:(?P<mark>[\"'])[^\s:\"'/]{0,64}:(?P<quoted>[^\"'\n]{3,128})(?P=mark)"
    r"|[^\s:%,\"'/]{0,64}[:%,](?P<value>[^\s\"']{3,128}))"
)
_CALLERS = re.compile(r"\b(?:curl|wget|https?|xh|l?ftp|smbclient)\b", re.IGNORECASE)
# Two texts for a function that signs in: a name and a password.
_SIGN_IN_CALL = re.compile(
    r"(?:auth|login|pw_set|credentials?)[ =]{0,3}\(\s?[\"'][^\"'\n]{1,64}[\"'],\s?"
    r"[\"'](?P<value>[^\"'\n]{4,128})[\"']",
    re.IGNORECASE,
)
# A signature that opens an address for whoever has it.
_SIGNATURE = re.compile(
    r"(?:[?&;]|\b)(?:sig|x-amz-signature|x-goog-signature|signature|sharedaccesskey|accountkey)="
    r"(?P<value>[A-Za-z0-9%+/=_-]{20,600})",
    re.IGNORECASE,
)


def find_options(text: str) -> Iterator[Secret]:
    """Yield what command lines and addresses carry."""
    if not has_any_word(text, ("-", "=")):
        return
    for match in _OPTION.finditer(text):
        if not is_placeholder(match["value"]):
            yield Secret(SecretKind.PASSWORD, match.start("value"), match.end("value"))
    for match in _SIGN_IN_CALL.finditer(text):
        if _is_password(match["value"]):
            yield Secret(SecretKind.PASSWORD, match.start("value"), match.end("value"))
    for match in _SHORT_OPTION.finditer(text):
        value = match["value"].rstrip(".,;:`)")
        if _mixes_digits(value):
            yield Secret(
                SecretKind.PASSWORD, match.start("value"), match.start("value") + len(value)
            )
    if _CALLERS.search(text):
        for match in _USER_OPTION.finditer(text):
            group = "quoted" if match["quoted"] else "value"
            if not is_placeholder(match[group]):
                yield Secret(SecretKind.PASSWORD, match.start(group), match.end(group))
    for match in _SIGNATURE.finditer(text):
        if looks_random(match["value"], least_bits=3.0):
            yield Secret(SecretKind.SERVICE_TOKEN, match.start("value"), match.end("value"))
