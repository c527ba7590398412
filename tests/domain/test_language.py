"""Which texts the local judge reads."""

import pytest

from app.domain.language import is_english


@pytest.mark.parametrize(
    "text",
    [
        "I live in El Paso.",
        "deadline: 14 May",
        "Moved to Zürich with my sister",
        "The resistor has 10 kΩ",
        "Rent 900",
        "My name is José Peña, not Jose",
        "",
    ],
)
def test_english_is_read(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne in Leipzig.",
        "Me mudé a Valencia.",
        "Vivo en Madrid.",
        "J'ai déménagé à Bordeaux.",
        "我搬到北京了。",
        "Python 是我最喜欢的语言。",
        "Anna住在柏林。",
        "Tokyo に住んでいます。",
        "Анна живёт в Risa.",
        "Eu moro no Porto.",
        "Ik woon in Gent.",
        "Sono di Torino",
    ],
)
def test_other_languages_are_left_to_the_model(text: str) -> None:
    assert not is_english(text)
