"""Keys and tokens that their own shape tells: those of this service and of many vendors."""

import re
from collections.abc import Iterator

from app.domain.secrets.kinds import Secret, SecretKind
from app.domain.secrets.randomness import (
    has_any_word,
    has_long_run,
    is_placeholder,
    looks_random,
)

# A token begins at the start of a run of letters, digits, "_" and "-", so that each run is read
# once. Marks of emphasis may stand around it, and an escaped end of line before it.
_RUN_STARTS = r"(?:(?<![A-Za-z0-9_-])[_-]{0,3}|(?<=\\[nrt]))"
_RUN_ENDS = r"(?=[_-]{0,3}(?![A-Za-z0-9_-]))"
_SHAPES = {
    SecretKind.PALIMPSEST_KEY: r"pal_[0-9a-f]{12,16}_[0-9a-f]{32,64}",
    SecretKind.AWS_KEY: r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}",
    SecretKind.GITHUB_TOKEN: r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,120}",
    SecretKind.GITLAB_TOKEN: r"gl(?:pat|ptt|dt|rt|cbt|oas|soat)-[A-Za-z0-9_-]{20,64}",
    SecretKind.SLACK_TOKEN: r"xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{20,250}",
    SecretKind.STRIPE_KEY: r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,250}|whsec_[A-Za-z0-9+/=]{24,64}",
    SecretKind.GOOGLE_KEY: r"AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[\w-]{20,500}",
    SecretKind.SERVICE_TOKEN: (
        r"hf_[A-Za-z0-9]{30,40}|npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{50,500}"
        r"|SG\.[\w-]{16,32}\.[\w-]{32,64}|do[opr]_v1_[a-f0-9]{64}|shp(?:at|ss|ca"
        r"|pa)_[A-Fa-f0-9]{32}"
        r"|SK[a-f0-9]{32}|\d{8,10}:[A-Za-z0-9_-]{33,36}|dckr_pat_[A-Za-z0-9_-]{20,64}"
        r"|hv[bsr]\.[A-Za-z0-9_-]{20,300}|sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,60}|figd_[\w-]{30,60}"
        r"|[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}"
        r"|[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}"
    ),
    SecretKind.MODEL_KEY: r"sk-(?:proj|ant|or|lf|svcacct)-[A-Za-z0-9_-]{16,300}",
    SecretKind.JWT: r"eyJ[\w-]{5,4000}\.eyJ[\w-]{5,8000}(?:\.[\w-]{5,2000})?",
}
_SHAPE = re.compile(
    "|".join(f"{_RUN_STARTS}(?P<{kind}>{shape}){_RUN_ENDS}" for kind, shape in _SHAPES.items()),
    re.ASCII,
)
_MODEL_KEY = re.compile(
    rf"{_RUN_STARTS}((?:sk|gsk|xai|pplx)[-_][A-Za-z0-9_-]{{20,250}}?){_RUN_ENDS}"
)
# What vendors put before their tokens, whose lengths change: nothing else begins so.
_PREFIXED = re.compile(
    rf"{_RUN_STARTS}((?:gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|cbt|oas|soat|ft|imt|agent)-"
    r"|xox[a-z]-|xapp-|AKIA|ASIA|AIza|hf_|npm_|pypi-|do[opr]_v1_|shp(?:at|ss|ca|pa)_|sbp_|figd_"
    r"|dckr_pat_|dbt[cu]_|lin_(?:api|oauth)_|glsa_|glc_|rubygems_|PMAK-|pscale_|sntry[su]_|pcsk_"
    r"|vercel_"
    r"|sq0[a-z]{3}-|whsec_|[srp]k_(?:live|test)_|AGE-SECRET-KEY-|CFPAT-|HRKU-|NRAK-|tskey-"
    r"|ATATT|ATBB|CCIPAT_|bku[a-z]_|nfp_|napi_|hcaik_|sq[upa]_|lsv2_|shippo_|rdme_|pal_"
    r"|dp\.[a-z]{2,5}\.|hv[bsr]\.|[ps]k\.eyJ[\w-]{20,300}\.)"
    rf"[A-Za-z0-9_-]{{16,300}}?){_RUN_ENDS}",
    re.ASCII,
)
# Other words begin like these too, so that the rest must look random.
_MAYBE_PREFIXED = re.compile(
    rf"{_RUN_STARTS}((?:(?:sk|pk|gsk|xai|pplx|nvapi|tvly|r8|re|fw|fo1|rnd|pul|pat|key|ntn|phc|phx"
    rf"|sdk"
    r"|p8e|tfp|secret|ops|lob|wpa)[-_]|dapi|EAA|LTAI|SK|sl\.|1//0|gAAAA|pat[A-Za-z0-9]{14}\."
    rf"|\d/\d{{10,20}}:)[A-Za-z0-9_%-]{{20,400}}?){_RUN_ENDS}",
    re.ASCII,
)
# Keys of licences, and those that open an encrypted disk.
_GROUPED = re.compile(
    rf"{_RUN_STARTS}([A-Z0-9]{{5}}(?:-[A-Z0-9]{{5}}){{4}}|\d{{6}}(?:-\d{{6}}){{7}}){_RUN_ENDS}",
    re.ASCII,
)
_DATA_CENTRE_KEY = re.compile(rf"{_RUN_STARTS}([a-f0-9]{{32}}-us\d{{1,2}}){_RUN_ENDS}")
# What calls itself a key: "lin_api_", "secret_", "key-" and a random rest without words.
_NAMED_TOKEN = re.compile(
    rf"{_RUN_STARTS}((?:[a-z0-9]{{1,12}}[_-]){{0,2}}"
    r"(?:key|token|tkn|tok|secret|pat|api|apikey|auth|oauth|pw)"
    rf"[_-](?:(?:live|test|prod|v\d)[_-])?[A-Za-z0-9]{{16,250}}){_RUN_ENDS}",
    re.ASCII,
)
_LIKELY = (
    (SecretKind.MODEL_KEY, _MODEL_KEY),
    (SecretKind.SERVICE_TOKEN, _MAYBE_PREFIXED),
    (SecretKind.SERVICE_TOKEN, _NAMED_TOKEN),
)
_HOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<slack>\w{3,20}/\w{3,20}/\w{8,40})"
    r"|discord(?:app)?\.com/api/webhooks/\d{5,25}/(?P<discord>[\w-]{40,100})"
)


# The key of a wallet looks like the hash of a transaction: what stands before it tells which.
_WALLET_KEY = re.compile(
    r"(?:private|secret|wallet|account|signer|deployer|key|_pk\b)(?P<between>[^\n]{0,48}?)"
    r"(?<![A-Za-z0-9])(?P<value>(?:0x)?[0-9a-f]{64})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_NO_KEY = re.compile(
    r"hash|sha|tx|transaction|block|root|digest|checksum|pub|cache|idempot|address", re.IGNORECASE
)


def find_wallet_keys(text: str) -> Iterator[Secret]:
    if not has_long_run(text):
        return
    for match in _WALLET_KEY.finditer(text):
        if not _NO_KEY.search(text, max(0, match.start() - 48), match.end("between")):
            yield Secret(SecretKind.PRIVATE_KEY, match.start("value"), match.end("value"))


def find_own_keys(text: str, own: tuple[str, ...]) -> Iterator[Secret]:
    """Yield each place where one of these keys of the service stands."""
    for key in own:
        start = text.find(key)
        while start >= 0:
            yield Secret(SecretKind.PALIMPSEST_KEY, start, start + len(key))
            start = text.find(key, start + len(key))


def find_shapes(text: str) -> Iterator[Secret]:
    if not has_long_run(text):
        return
    for match in _SHAPE.finditer(text):
        kind = str(match.lastgroup)
        yield Secret(SecretKind(kind), match.start(kind), match.end(kind))
    for match in _HOOK.finditer(text):
        kind = SecretKind.SLACK_TOKEN if match["slack"] else SecretKind.SERVICE_TOKEN
        group = str(match.lastgroup)
        yield Secret(kind, match.start(group), match.end(group))
    for pattern in (_PREFIXED, _DATA_CENTRE_KEY):
        for match in pattern.finditer(text):
            yield Secret(SecretKind.SERVICE_TOKEN, match.start(1), match.end(1))


def find_likely_tokens(text: str) -> Iterator[Secret]:
    """Yield what begins like a token and looks random, as some ids do too."""
    if not has_long_run(text):
        return
    for match in _GROUPED.finditer(text):
        yield Secret(SecretKind.SERVICE_TOKEN, match.start(1), match.end(1))
    for kind, pattern in _LIKELY:
        for match in pattern.finditer(text):
            if looks_random(match[1], least_bits=3.0):
                yield Secret(kind, match.start(1), match.end(1))


_KEY_BEGINS = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: \d{1,3}"
)
_KEY_ENDS = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
# A line may be quoted with ">", and its end may be written as "\n".
_KEY_LINE = re.compile(r"(?:\\r|\\n|[>#*|\s]){0,8}[A-Za-z0-9+/=]{16,}(?=\\|\s|\Z)")


def find_private_keys(text: str) -> Iterator[Secret]:
    """Yield each block from its first line to its last, or to the end of its base64."""
    if not has_any_word(text, ("private",)):
        return
    ends = [match.end() for match in _KEY_ENDS.finditer(text)]
    ends.reverse()
    covered = 0
    for match in _KEY_BEGINS.finditer(text):
        if match.start() < covered:
            continue
        while ends and ends[-1] < match.end():
            ends.pop()
        if ends:
            covered = ends[-1]
        else:
            covered = match.end()
            while line := _KEY_LINE.match(text, covered):
                covered = line.end()
        yield Secret(SecretKind.PRIVATE_KEY, match.start(), covered)


# The user's name stays readable: only the password is a secret.
_URL_PASSWORD = re.compile(r"://[^\s:/@?#]{0,64}:([^\s/?#]{3,128})@[\w.\[-]")


def find_url_passwords(text: str) -> Iterator[Secret]:
    for match in _URL_PASSWORD.finditer(text):
        if not is_placeholder(match[1]):
            yield Secret(SecretKind.URL_PASSWORD, match.start(1), match.end(1))


_BEARER = re.compile(r"\b(?:bearer|basic|token)\s{1,3}([A-Za-z0-9._~+/=-]{16,4000})", re.IGNORECASE)
_AUTHORIZATION = re.compile(
    r"\bauthorization[\"'`]?\s{0,2}[:=]\s{0,2}[\"'`]?(?:(?:basic|bearer|token|digest)\s{1,3})?"
    r"([^\s\"'`,]{8,4000})",
    re.IGNORECASE,
)
_COOKIES = re.compile(
    r"\b(?:set-)?cookies?\b[^\n=]{0,48}?[\s:=\"'`(]([\w.-]{1,64}=[^\s\"'`;,]{6,4000}"
    r"(?:;\s{0,2}[\w.-]{1,64}(?:=[^\s\"'`;]{0,4000})?)*)",
    re.IGNORECASE,
)
_SESSION_COOKIE = re.compile(
    r"(?<![A-Za-z0-9])(?:[\w.-]{0,32}sess(?:ion)?[\w.-]{0,12}|(?:connect\.)?sid|remember_?\w{0,12}"
    r"|auth[\w.-]{0,16}|x?csrf[\w.-]{0,12})=([A-Za-z0-9%._~+/-]{12,4000})",
    re.IGNORECASE,
)


def find_bearers_and_cookies(text: str) -> Iterator[Secret]:
    """Yield what a request shows to a server."""
    if not has_any_word(text, ("bearer", "basic", "token", "authorization", "cookie", "=")):
        return
    for match in _BEARER.finditer(text):
        if looks_random(match[1], least_bits=3.0):
            yield Secret(SecretKind.BEARER_TOKEN, match.start(1), match.end(1))
    for match in _AUTHORIZATION.finditer(text):
        if not is_placeholder(match[1]):
            yield Secret(SecretKind.BEARER_TOKEN, match.start(1), match.end(1))
    for match in _COOKIES.finditer(text):
        yield Secret(SecretKind.COOKIE, match.start(1), match.end(1))
    for match in _SESSION_COOKIE.finditer(text):
        if looks_random(match[1], least_bits=3.0):
            yield Secret(SecretKind.COOKIE, match.start(1), match.end(1))
