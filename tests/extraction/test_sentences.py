import pytest

from app.extraction.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I like tea. I hate milk.", ["I like tea.", "I hate milk."]),
        ("i like tea. i hate milk", ["i like tea.", "i hate milk"]),
        ("I work at St. Mary's e.g. on Mondays.", ["I work at St. Mary's e.g. on Mondays."]),
        ("We met Dr. Müller today 😀. Ok?", ["We met Dr. Müller today 😀.", "Ok?"]),
        ("She moves in May. She is a vet.", ["She moves in May.", "She is a vet."]),
        ("hi!! I'm ana", ["hi!!", "I'm ana"]),
        ("I use node.js 3.5 daily", ["I use node.js 3.5 daily"]),
        ("we lost 😭 how do i get faster", ["we lost 😭", "how do i get faster"]),
        ("1. I like tea.", ["I like tea."]),
        ("", []),
    ],
)
def test_sentences_keep_their_places_in_the_text(text: str, sentences: list[str]) -> None:
    for padded, shift in ((text, 0), (f"xx{text}yy", 2)):
        places = [*split_sentences(padded, shift, shift + len(text))]
        assert [padded[start:end] for start, end in places] == sentences
