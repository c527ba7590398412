"""Text search finds writing without spaces by its pairs of characters."""

import httpx
import pytest

from support.builders import store

FACTS = (
    "我住在上海的浦东。",
    "我有两只猫。",
    "東京のラーメン屋で働いています。",
    "犬を飼っています。",
    "저는 서울에 살아요.",
    "제 동생은 부산에서 일해요.",
    "ฉันอยู่กรุงเทพ",
    "ฉันชอบกาแฟ",
    "I live in Porto.",
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("上海", FACTS[0]),
        ("他是不是有猫？两只？", FACTS[1]),
        ("ラーメン", FACTS[2]),
        ("犬", FACTS[3]),
        ("猫", FACTS[1]),
        ("서울", FACTS[4]),
        ("กรุงเทพ", FACTS[6]),
        ("กาแฟ", FACTS[7]),
        ("Porto的房子", FACTS[8]),
    ],
)
def test_a_fact_is_found_by_a_part_of_its_writing(
    client: httpx.Client, query: str, found: str
) -> None:
    for fact in FACTS:
        store(client, fact, classify=False)
    answer = client.get("/v1/search", params={"q": query, "mode": "text"})
    first = answer.json()["results"][0]
    assert first["memory"]["content"] == found
    assert first["scores"]["text"] > 0
