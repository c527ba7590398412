"""Dates in other languages, as the networks of many languages read them.

They learned from none of these sentences.
"""

import asyncio
from datetime import UTC, datetime
from importlib.util import find_spec

import pytest

from app.domain.dates.dated_text import DatedText
from app.domain.dates.facts import date_fact, find_times
from app.domain.dates.window import find_window
from app.extraction.dates_network import DatesNetwork
from app.networks import FairThreads, find_many_languages
from app.networks.many_languages import PACKAGE

pytestmark = pytest.mark.skipif(
    find_spec(PACKAGE) is None,
    reason="palimpsest-memory-languages is not installed: `make languages`",
)

SAID_AT = datetime(2026, 3, 11, 14, 20, tzinfo=UTC)  # a Wednesday
LEAST_DATED = 0.8

DATED = [
    ("Ich bin letzten Monat nach Kiel gezogen.", "2026-02-01", ""),
    ("Seit 2019 esse ich kein Fleisch mehr.", "2019-01-01", ""),
    ("Das Museum ist bis zum 4. Mai geschlossen.", "", "2026-05-04"),
    ("Me mudé a Vigo en enero de 2024.", "2024-01-01", ""),
    ("Trabajo en Indra desde hace tres años.", "2023-03-11", ""),
    ("Estoy de baja hasta el viernes.", "", "2026-03-13"),
    ("J'habite à Nantes depuis juin.", "2025-06-01", ""),
    ("J'ai changé de banque il y a deux semaines.", "2026-02-25", ""),
    ("Le musée est fermé jusqu'au 15 avril.", "", "2026-04-15"),
    ("Moro em Braga desde 2018.", "2018-01-01", ""),
    ("Comecei na Farfetch na segunda-feira.", "2026-03-09", ""),
    ("Mi sono trasferito a Torino l'anno scorso.", "2025-01-01", ""),
    ("Lavoro in banca dal 5 maggio 2023.", "2023-05-05", ""),
    ("Ik woon sinds april 2022 in Gent.", "2022-04-01", ""),
    ("Ik ben vorige week met roken gestopt.", "2026-03-02", ""),
    ("我去年搬到了厦门。", "2025-01-01", ""),
    ("从2020年3月起我在华为工作。", "2020-03-01", ""),
    ("先月、横浜に引っ越しました。", "2026-02-01", ""),
    ("2021年4月から京都に住んでいます。", "2021-04-01", ""),
    ("Vegan since 2019", "2019-01-01", ""),
]
UNDATED = [
    "Mein Flug geht am 12. Dezember.",
    "Ayer comí pizza con mi hermano.",
    "Mon passeport expire en juin.",
    "Se me mudar em maio, preciso de caixas.",
    "Ho mangiato una pizza ieri.",
    "De vergadering is verplaatst naar vrijdag.",
    "会议改到周五了。",
    "昨日ラーメンを食べた。",
    "Ich habe drei Katzen und 2 Hunde.",
]


@pytest.fixture(scope="module")
def network() -> DatesNetwork:
    return DatesNetwork(FairThreads(1), find_many_languages())


def date_text(network: DatesNetwork, text: str) -> DatedText:
    return date_fact(*asyncio.run(network.rule(find_times(text))), SAID_AT, UTC)


def read_days(dated: DatedText) -> tuple[str, str]:
    by = dated.dated_by
    if by is None:
        return "", ""
    start, end = by.holds_from, by.holds_until
    return start.date().isoformat() if start else "", end.date().isoformat() if end else ""


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Recientemente me mudé a Cádiz", "Recientemente"),
        ("Neulich bin ich umgezogen", "Neulich"),
        ("最近我搬家了", "最近"),
    ],
)
def test_words_that_are_left_open_are_whole(network: DatesNetwork, text: str, word: str) -> None:
    assert date_text(network, text).left_open == (word,)


def test_dates_of_facts_are_read_and_none_wrongly(network: DatesNetwork) -> None:
    read = {text: read_days(date_text(network, text)) for text, *_ in DATED}
    right = [text for text, *days in DATED if read[text] == tuple(days)]
    wrong = [text for text, *_ in DATED if text not in right and read[text] != ("", "")]
    assert wrong == []
    assert len(right) >= LEAST_DATED * len(DATED), set(read) - set(right)


def test_dates_of_things_in_facts_date_nothing(network: DatesNetwork) -> None:
    assert [text for text in UNDATED if date_text(network, text).dated_by is not None] == []


def test_the_words_that_date_a_fact_are_told(network: DatesNetwork) -> None:
    by = date_text(network, "Ich wohne seit April 2022 in Gent.").dated_by
    assert by is not None
    assert by.text == "seit April 2022"


def test_texts_without_words_have_no_dates(network: DatesNetwork) -> None:
    for text in ("", " ", "。", "9" * 5_000, "月" * 3_000):
        assert date_text(network, text).dated_by is None


@pytest.mark.parametrize(
    ("question", "words", "start"),
    [
        ("Was hat sich im März geändert?", "im März", "2026-03-01"),
        ("¿Qué cambió en marzo?", "en marzo", "2026-03-01"),
        ("Où habitais-je en 2019 ?", "en 2019", "2019-01-01"),
        ("Wat is er vorige maand veranderd?", "vorige maand", "2026-10-01"),
        ("2019年我住在哪里？", "2019年", "2019-01-01"),
        ("先月何が変わりましたか", "先月", "2026-10-01"),
    ],
)
def test_a_question_names_the_time_that_it_asks_about(
    network: DatesNetwork, question: str, words: str, start: str
) -> None:
    timed = asyncio.run(network.find_times(question))
    window = find_window(timed, datetime(2026, 11, 30, 12, tzinfo=UTC), UTC)
    assert window is not None
    assert (window.text, str(window.start)[:10]) == (words, start)
