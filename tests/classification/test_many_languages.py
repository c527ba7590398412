"""The judge of many languages, as `make languages` installs it. No sentence here is of the corpus."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from typing import Any

import pytest

from app.classification.local.judge import LocalJudge, Thresholds
from app.classification.local.network import LocalNetwork
from app.classification.local.reading import Reading
from app.domain.relation import Relation
from app.networks import FairThreads, find_many_languages
from app.networks.many_languages import PACKAGE

pytestmark = pytest.mark.skipif(
    find_spec(PACKAGE) is None,
    reason="palimpsest-memory-languages is not installed: `make languages`",
)


@pytest.fixture(scope="module")
def judge() -> Iterator[LocalJudge]:
    with closing(FairThreads(2)) as threads:
        yield LocalJudge(LocalNetwork(threads), LocalNetwork(threads, find_many_languages()))


@pytest.mark.parametrize(
    ("stored", "others", "incoming"),
    [
        (
            "Ich wohne in Rostock.",
            ("Meine Schwester wohnt in Jena.", "Ich trinke meinen Kaffee schwarz."),
            "Ich bin letzten Monat nach Passau gezogen.",
        ),
        (
            "Trabajo en una ferretería.",
            ("Mi hermana trabaja en un banco.", "Tomo el café solo."),
            "El lunes empecé a trabajar en una farmacia.",
        ),
        (
            "J'habite à Brest.",
            ("Ma sœur habite à Pau.", "Je bois mon café noir."),
            "Je viens de déménager à Metz.",
        ),
        (
            "Moro em Braga.",
            ("A minha irmã mora em Faro.", "Bebo o café sem açúcar."),
            "Mudei-me para Évora na semana passada.",
        ),
        (
            "Abito a Lecce.",
            ("Mia sorella abita a Udine.", "Bevo il caffè amaro."),
            "Mi sono appena trasferita a Trieste.",
        ),
        (
            "Ik woon in Breda.",
            ("Mijn zus woont in Delft.", "Ik drink mijn koffie zwart."),
            "Ik ben net verhuisd naar Zwolle.",
        ),
        (
            "我住在南京。",
            ("我妹妹住在苏州。", "我喝咖啡不加糖。"),
            "我上个月搬到厦门了。",
        ),
        (
            "仙台に住んでいます。",
            ("妹は福岡に住んでいます。", "コーヒーはブラックで飲みます。"),
            "先月、札幌に引っ越しました。",
        ),
        (
            "I live in Malmö.",
            ("My sister lives in Oslo.", "I drink my coffee black."),
            "Ich bin gestern nach Wien gezogen.",
        ),
        (
            "我在银行上班。",
            ("我妹妹在学校上班。", "我喝咖啡不加糖。"),
            "I started a new job at a bakery on Monday.",
        ),
    ],
)
def test_a_plain_change_is_seen_among_neighbours(
    judge: LocalJudge, stored: str, others: tuple[str, ...], incoming: str
) -> None:
    changed, *left = asyncio.run(judge.read(incoming, [stored, *others]))
    assert changed.ends >= Thresholds().ask
    assert max(reading.ends for reading in left) < Thresholds().act


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [("Vivo en Vigo", "Acabo de mudarme a Cádiz"), ("我住在南京", "我上个月搬到厦门了")],
)
def test_a_full_stop_is_of_no_matter(judge: LocalJudge, stored: str, incoming: str) -> None:
    assert asyncio.run(judge.read(incoming, [stored])) == asyncio.run(
        judge.read(f"{incoming}.", [f"{stored}."])
    )


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("Ich habe einen Gips am linken Arm", "Der Gips ist ab"),
        ("Je vis avec Paul.", "Paul et moi, c'est fini, il est parti."),
        ("Tengo un perro, Toby.", "Toby murió el martes."),
        ("Sono abbonato alla palestra.", "Ho disdetto l'abbonamento alla palestra."),
        ("Ik werk bij Philips.", "Ik ben ontslagen bij Philips."),
        ("Tomo aspirina todos os dias.", "Já não tomo aspirina."),
        ("我在学钢琴。", "我不学钢琴了。"),
        ("ピアノを習っている。", "ピアノはもうやめた。"),
    ],
)
def test_what_ends_without_a_successor_is_a_retraction(
    judge: LocalJudge, stored: str, incoming: str
) -> None:
    [reading] = asyncio.run(judge.read(incoming, [stored]))
    assert reading.ends >= Thresholds().act
    assert reading.ending_relation is Relation.RETRACTION


def test_english_beside_english_is_left_to_the_english_network(
    judge: LocalJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []

    async def note(network: LocalNetwork, stored: Any, incoming: str) -> list[Any]:
        read.append((network, list(stored)))
        return [Reading(1, 0, 0, 0, 0, 0, 0)] * len(stored)

    monkeypatch.setattr(LocalNetwork, "read", note)
    asyncio.run(judge.read("I live in Porto now.", ["Ich wohne in Ulm.", "I live in Ulm."]))
    [(english, in_english), (of_many, in_others)] = read
    assert english is not of_many
    assert (in_english, in_others) == (["I live in Ulm."], ["Ich wohne in Ulm."])


def test_what_nobody_trained_is_not_read(judge: LocalJudge) -> None:
    read = ["Ich wohne jetzt in Porto.", "我住在波尔图。", "ポルトに住んでいます。", "1º andar"]
    assert all(map(judge.can_read, read))
    assert not any(map(judge.can_read, ["Я живу в Порту.", "포르투에 살아요."]))
