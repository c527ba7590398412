"""The encoder of many languages, as `make languages` installs it, on a writer that was held out."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from app.embedding import Embedder, many_languages
from app.embedding.choice import encoder_of, open_embedder
from app.embedding.local import LocalEmbedder
from app.network_files import DamagedNetwork
from app.networks import FairThreads, find_many_languages
from app.networks.many_languages import PACKAGE
from app.settings import load_settings

LANGUAGES = Path(__file__).parents[2] / "corpus" / "languages"
ENDINGS = ("UPDATE", "CONTRADICTION", "RETRACTION")

pytestmark = pytest.mark.skipif(
    find_spec(PACKAGE) is None,
    reason="palimpsest-memory-languages is not installed: `make languages`",
)


@pytest.fixture(scope="module")
def embedder() -> Iterator[LocalEmbedder]:
    with closing(FairThreads(2)) as threads:
        yield LocalEmbedder(threads, many_languages.open_network(threads.count))


def encode(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    return asyncio.run(embedder.encode(texts))


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Wo wohne ich?", "Ich bin letzte Woche nach Leipzig gezogen."),
        ("¿dónde trabajo?", "Trabajo en una panadería de Sevilla."),
        ("我喝什么咖啡？", "我每天早上喝一杯美式。"),
        ("犬の名前は？", "うちの犬はコタロウといいます。"),
        ("Where do I live?", "Ich bin letzte Woche nach Leipzig gezogen."),
        ("wo arbeite ich?", "I work at a bakery in Seville."),
    ],
)
def test_a_question_finds_its_fact_in_its_own_and_in_another_language(
    embedder: LocalEmbedder, question: str, fact: str
) -> None:
    others = [
        "Meine Schwester hat zwei Katzen.",
        "Odio el cilantro.",
        "我的车是红色的。",
        "来月、京都へ旅行します。",
        "My phone is a Fairphone.",
    ]
    vectors = encode(embedder, [question, fact, *others])
    assert np.argmax(vectors[1:] @ vectors[0]) == 0


FACTS = (
    "Ich arbeite als Krankenschwester.",
    "Mein Hund heißt Max.",
    "Ich bin gegen Erdnüsse allergisch.",
    "Meine Schwester Anna ist Lehrerin.",
    "Ich trinke keinen Kaffee.",
    "Ich lerne Klavier.",
)
QUESTIONS = (
    "我做什么工作？",
    "我的狗叫什么名字？",
    "我对什么过敏？",
    "我姐姐是做什么的？",
    "我喝咖啡吗？",
    "我在学什么乐器？",
)
IN_CHINESE = (
    "我在医院当护士。",
    "我的狗叫Max。",
    "我对花生过敏。",
    "我姐姐安娜是老师。",
    "我不喝咖啡。",
    "我在学钢琴。",
)


def test_an_answer_in_another_language_comes_before_other_facts(embedder: LocalEmbedder) -> None:
    first = 0
    for place, question in enumerate(QUESTIONS):
        others = [fact for other, fact in enumerate(IN_CHINESE) if other != place]
        vectors = encode(embedder, [question, FACTS[place], *others])
        first += int(np.argmax(vectors[1:] @ vectors[0]) == 0)
    assert first >= len(QUESTIONS) - 1


@pytest.mark.parametrize(("writer", "least"), [("german2", 0.7), ("chinese2", 0.75)])
def test_held_out_questions_have_a_right_fact_first(
    embedder: LocalEmbedder, writer: str, least: float
) -> None:
    folder = LANGUAGES / writer
    scopes = map(json.loads, (folder / "scopes.jsonl").read_text("utf-8").splitlines())
    facts_of = {scope["id"]: scope["facts"] for scope in scopes}
    questions = [
        json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()
    ]
    right = 0
    for question in questions:
        facts = facts_of[question["scope"]]
        relations = [each for fact in facts for each in fact["relations"]]
        ended = {each["to"] for each in relations if each["relation"] in ENDINGS}
        holding = [fact for fact in facts if fact["n"] not in ended]
        vectors = encode(embedder, [question["query"], *(fact["text"] for fact in holding)])
        first = holding[int(np.argmax(vectors[1:] @ vectors[0]))]
        right += first["n"] in question["answers"]
    assert right / len(questions) >= least


def test_odd_and_long_texts_have_vectors_of_unit_length(embedder: LocalEmbedder) -> None:
    texts = ["", " ", "\x00", "\ud800", "🙂", "漢字" * 3_000, "ein Wort " * 2_000]
    vectors = encode(embedder, texts)
    assert vectors.shape == (len(texts), embedder.dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_another_file_than_the_installed_one_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = find_many_languages()
    for name in ("SHA256SUMS", "tokenizer.json"):
        shutil.copy(installed.folder / name, tmp_path)
    (tmp_path / many_languages.FILE).write_bytes(b"another")
    other = replace(installed, folder=tmp_path)
    monkeypatch.setattr(many_languages, "find_many_languages", lambda: other)
    with pytest.raises(DamagedNetwork, match=r"encoder\.onnx"):
        many_languages.open_network(1)
    (tmp_path / "SHA256SUMS").unlink()
    with pytest.raises(DamagedNetwork, match="SHA256SUMS"):
        many_languages.name_encoder()


def test_the_settings_choose_it_under_a_name_of_its_own() -> None:
    settings = load_settings(languages="many")

    async def open_and_name() -> str:
        async with AsyncExitStack() as opened:
            with closing(FairThreads(1)) as threads:
                embedder = await opened.enter_async_context(open_embedder(settings, threads))
                return embedder.name

    assert asyncio.run(open_and_name()) == encoder_of(settings)[0]
    assert encoder_of(load_settings())[0] != encoder_of(settings)[0]
