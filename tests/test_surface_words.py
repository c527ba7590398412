"""The core states facts: the words of HTTP, of the command line and of settings live in surfaces."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = Path(__file__).parents[1] / "app"
ROOMS = ("domain", "planning", "classification", "extraction", "services", "store", "embedding")

SURFACE_WORDS = re.compile(
    r"""
    \b(?:GET|POST|PUT|PATCH|DELETE)\ /  # a route
    | \bPOST\b | \bPATCH\b
    | /v1/
    | \bHTTP\b
    | \bheaders?\b
    | \bIf-Match\b
    | \bIdempotency-Key\b
    | \bETags?\b
    | \bRetry-After\b
    | (?<!,)\b[45][0-9][0-9]\b                # a status code
    | \bPALIMPSEST_
    | \bpalimpsest\ [a-z]               # a command
    | \bcascade=true\b
    | (?<![\w-])--[a-z]+                # an option
    """,
    re.VERBOSE,
)

_EXPORT = "The first line of an export or of an archive is its header."
_MODEL = "A client of a model's server speaks HTTP with that server, not with our callers."
_RECORDED = "The answer to a retry is stored as it was sent, so its columns are named after HTTP."

_POOLER = "A pooler is noticed in the middle of a call; the log tells the operator what to set."

# (file, a pattern for the words) -> why they may stand there
ALLOWED = {
    ("store/engine.py", r"PALIMPSEST_"): _POOLER,
    ("services/import_agent.py", r"headers?"): _EXPORT,
    ("store/transfer/lines.py", r"headers?"): _EXPORT,
    ("services/retention.py", r"headers?"): _EXPORT,
    ("store/transfer/exports.py", r"headers?"): _EXPORT,
    ("store/transfer/imports.py", r"headers?"): _EXPORT,
    ("classification/model/judge.py", r"HTTP"): _MODEL,
    ("domain/relation.py", r"HTTP"): _MODEL,
    ("services/metrics.py", r"HTTP"): _MODEL,
    ("embedding/remote.py", r"HTTP|/v1/"): _MODEL,
    ("planning/audit/answer_checks.py", r"headers"): _RECORDED,
    ("store/doctor/reads.py", r"headers"): _RECORDED,
    ("store/idempotency.py", r"headers|HTTP"): _RECORDED,
    ("store/column_values.py", r"headers"): _RECORDED,
    ("store/other_columns.py", r"headers"): _RECORDED,
    ("store/tables.py", r"headers"): _RECORDED,
    ("store/embedded_server.py", r"--[a-z]+"): "The programs of Postgres take options.",
    ("domain/secrets/passwords.py", r"--[a-z]+"): "Options of other programs in a caller's text.",
    ("domain/secrets/vendor_rules.py", r"header"): "The name of a rule that is carried as data.",
    ("classification/signals/tokens.py", r"--force"): "An example of a word in a caller's text.",
}


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield every line of a string, docstring or comment, with its line number."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


def surface_words_in(source: str) -> list[tuple[int, str]]:
    return [
        (number, match[0])
        for number, line in texts_of(source)
        for match in SURFACE_WORDS.finditer(line)
    ]


def is_allowed(file: str, words: str) -> bool:
    return any(file == allowed and re.fullmatch(pattern, words) for allowed, pattern in ALLOWED)


@pytest.mark.parametrize("room", ROOMS)
def test_the_core_speaks_neither_http_nor_command_line_nor_settings(room: str) -> None:
    files = sorted((APP / room).rglob("*.py"))
    assert files
    offences = []
    for path in files:
        file = str(path.relative_to(APP))
        for number, words in surface_words_in(path.read_text()):
            if not is_allowed(file, words):
                offences.append(f"app/{file}:{number}: {words}")
    assert offences == []


def test_every_allowance_is_needed() -> None:
    for file, pattern in ALLOWED:
        words = [words for _, words in surface_words_in((APP / file).read_text())]
        assert any(re.fullmatch(pattern, each) for each in words), (file, pattern)


@pytest.mark.parametrize(
    "line",
    [
        'x = "GET /v1/log lists them."',
        '"""Send cascade=true."""',
        "# see the If-Match header",
        'f"Set PALIMPSEST_{name}."',
        'y = "`palimpsest doctor` says more"',
        'z = "a call answers 409"',
    ],
)
def test_such_words_are_noticed(line: str) -> None:
    assert surface_words_in(line + "\n")
