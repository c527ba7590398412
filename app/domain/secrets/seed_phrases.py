"""The words from which a wallet is restored (BIP 39)."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from app.domain.secrets.kinds import Secret, SecretKind
from app.domain.secrets.randomness import has_any_word

# The shortest phrase has twelve words. Behind a word that announces one, half of it will do.
_LEAST_WORDS = 12
_LEAST_ANNOUNCED = 6
# Some wallets have lists of their own, which share most of their words with this one.
_LISTED_SHARE = 0.9
_LISTED_SHARE_ANNOUNCED = 0.6
_ANNOUNCED = re.compile(
    r"\b(?:seed|mnemonic|metamask|ledger|trezor|(?:12|24|twelve|twenty-?four)\s(?:\w+\s)?words"
    r"|(?:recovery|backup|wallet|secret)\s(?:phrase|words?|seed))\b",
    re.IGNORECASE,
)
_BEFORE = 80  # characters
_LONG = re.compile(rf"(?:[A-Za-z]{{3,8}}[^A-Za-z]{{1,8}}){{{_LEAST_WORDS - 1}}}[A-Za-z]{{3,8}}")
_WORD = re.compile(r"[A-Za-z]+")
# Words of a list may be numbered.
_GAP = re.compile(r"[\s,;|\"'`*-]{1,6}(?:\d{1,2}[.):]?\s{0,2})?|\s{0,2}\d{1,2}[.):]\s{0,2}")
# Words that sentences need and no list has.
_OF_SENTENCES = frozenset(
    "the and for was are has had his her but not our who how its they them then your with from were"
    " been said says".split()
)


@cache
def _load_words() -> frozenset[str]:
    return frozenset(files(__package__).joinpath("seed_words.txt").read_text("ascii").split())


def find_seed_phrases(text: str) -> Iterator[Secret]:
    if not (
        has_any_word(text, ("seed", "mnemonic", "phrase", "word", "metamask", "ledger", "trezor"))
        or _LONG.search(text)
    ):
        return
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if run and not _GAP.fullmatch(text, run[-1].end(), word.start()):
            yield from _check_run(text, run)
            run = []
        if 3 <= len(word[0]) <= 8 and word[0].lower() not in _OF_SENTENCES:
            run.append(word)
        else:
            yield from _check_run(text, run)
            run = []
    yield from _check_run(text, run)


def _check_run(text: str, run: list[re.Match[str]]) -> Iterator[Secret]:
    if len(run) < _LEAST_ANNOUNCED:
        return
    start, end = run[0].start(), run[-1].end()
    listed = sum(word[0].lower() in _load_words() for word in run) / len(run)
    is_announced = _ANNOUNCED.search(text, max(0, start - _BEFORE), run[2].end()) is not None
    if (len(run) >= _LEAST_WORDS and listed >= _LISTED_SHARE) or (
        is_announced and listed >= _LISTED_SHARE_ANNOUNCED
    ):
        yield Secret(SecretKind.SEED_PHRASE, start, end)
