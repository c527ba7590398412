"""JSON documents as facts: names, texts and values that the service would compare or refuse."""

import itertools
import math

import pytest

from app.domain.text import fold
from palimpsest_client.documents import (
    build_content,
    escape_word,
    pack_value,
    unescape_word,
    unpack_value,
)

WORDS = [
    "ada",
    "Ada",
    "ADA",
    "ada ",
    " ada",
    "a/da",
    "a%2fda",
    "ａｄａ",
    "é",
    "e\u0301",
    "ß",
    "ss",
    "中文",
    "İ",
    "i\u0307",
    "ﬁ",
    "fi",
    "가",
    "\u1100\u1161",
    "a\x00",
    "\ud800",
    "a\n",
    "²",
    "2",
    "user-1_x.md",
]


@pytest.mark.parametrize("word", WORDS, ids=ascii)
def test_an_escaped_word_is_read_back(word: str) -> None:
    assert unescape_word(escape_word(word)) == word


def test_no_two_words_are_one_for_the_service() -> None:
    for one, other in itertools.combinations(WORDS, 2):
        assert fold(escape_word(one)) != fold(escape_word(other)), (one, other)


@pytest.mark.parametrize("word", ["ada", "user-1_x.md", "中文"])
def test_a_usual_word_stays_readable(word: str) -> None:
    assert escape_word(word) == word


VALUES = {
    "plain": {"a": 1, "b": [1.5, None, True, "x"], "c": {"d": {}}},
    "deep": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}},
    "long": {"text": "x" * 50_000},
    "many": {"rows": list(range(5_000))},
    "big": {"number": 10**40},
    "nul": {"text": "a\x00b", "k\x00": 1},
    "surrogate": {"text": "\ud800"},
    "parts": {"json_parts": ["not", "json"]},
    "empty": {},
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_read_back(name: str) -> None:
    packed = pack_value(VALUES[name])
    assert unpack_value(packed) == VALUES[name]
    assert (packed == VALUES[name]) == (name in ("plain", "empty"))


def test_what_is_no_number_is_read_back() -> None:
    assert math.isnan(unpack_value(pack_value({"x": math.nan}))["x"])


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        pack_value({"x": object()})


@pytest.mark.parametrize(
    ("texts", "content"),
    [
        (["one", "two"], "one\ntwo"),
        ([" \u200b\n"], "path"),
        ([], "path"),
        (["a\x00"], "a\ufffd"),
        (["x" * 20_000], "x" * 16_000),
    ],
)
def test_the_content_is_one_that_the_service_takes(texts: list[str], content: str) -> None:
    assert build_content(texts, otherwise="path") == content
