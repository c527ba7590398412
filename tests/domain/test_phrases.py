"""Phrases are found as whole words in a row, and made blank."""

import pytest

from app.domain.phrases import PhraseFinder, blank_spans


@pytest.mark.parametrize(
    ("phrase", "text", "places"),
    [
        ("I live in Lisbon", "I live in Lisbon.", ["I live in Lisbon"]),
        ("I live in Lisbon.", 'You said: "i LIVE  in\nLisbon"!', ["i LIVE  in\nLisbon"]),
        ("I live in Lisbon", "I live in Lisbonne. Did I live in Lisbon?", ["I live in Lisbon"]),
        ("is a vet", "Anna is a vet, Tom is a vet", ["is a vet", "is a vet"]),
        ("a b a", "a b a b a", ["a b a", "a b a"]),
        ("penicillin-allergic", "Is she penicillin allergic?", ["penicillin allergic"]),
        ("我住在里斯本", "记得我住在里斯本吗", ["我住在里斯本"]),
        ("ok", "ok", []),
        ("I", "I think I do", []),
        ("Yes, exactly.", "Yes, exactly.", []),
        ("", "anything", []),
        ("...", "...", []),
    ],
)
def test_a_phrase_is_found_as_whole_words(phrase: str, text: str, places: list[str]) -> None:
    spans = PhraseFinder([phrase]).find_spans(text)
    assert [text[start:end] for start, end in spans] == places


def test_of_several_phrases_each_is_found() -> None:
    phrases = ["I live in Lisbon", "I live in Porto", "I live in Porto with Anna"]
    text = "I live in Porto with Anna."
    spans = sorted(PhraseFinder(phrases).find_spans(text))
    assert [text[start:end] for start, end in spans] == [
        "I live in Porto",
        "I live in Porto with Anna",
    ]


@pytest.mark.parametrize(
    ("text", "spans", "left"),
    [
        ("One two three", [(4, 7)], "One     three"),
        ("One two three", [(0, 7), (4, 13)], None),
        ("One.", [(0, 3)], None),
        ("One two", [(4, 99)], "One    "),
        ("One two", [], "One two"),
    ],
)
def test_blank_spans_leave_all_other_places_as_they_are(
    text: str, spans: list[tuple[int, int]], left: str | None
) -> None:
    assert blank_spans(text, spans) == left
