"""What callers of the local encoder rely on, checked on the shipped model."""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.embedding import Embedder
from app.embedding.local import (
    MOST_WINDOWS,
    STEP_BYTES,
    STEP_TEXTS,
    WINDOW_TOKENS,
    LocalEmbedder,
    cut_windows,
    group_texts,
    split_pieces,
)
from app.networks import FairThreads

SENTENCES = [
    "The office moved to Lisbon in March.",
    "Redis 7.2 is no longer supported.",
    "Her dentist is Dr. Okafor.",
    "",
    "The quarterly report is due on Friday, not on Thursday as announced at the meeting last week.",
]


@pytest.fixture(scope="module")
def embedder() -> Iterator[LocalEmbedder]:
    with closing(FairThreads(2)) as threads:
        yield LocalEmbedder(threads)


@pytest.fixture(scope="module")
def original() -> Any:
    """Sentences and the float32 model's cosines of pairs of them, written by scripts/measure_encoder.py."""
    return json.loads((Path(__file__).parent / "fp32_cosines.json").read_text(encoding="utf-8"))


def encode(embedder: Embedder, *texts: str) -> NDArray[np.float32]:
    return asyncio.run(embedder.encode(texts))


def ranks(values: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)


def spearman(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    return float(np.corrcoef(ranks(left), ranks(right))[0, 1])


def test_each_text_becomes_a_row_of_unit_length(embedder: LocalEmbedder) -> None:
    vectors = encode(embedder, *SENTENCES)
    assert vectors.shape == (len(SENTENCES), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_no_texts_give_no_rows(embedder: LocalEmbedder) -> None:
    assert encode(embedder).shape == (0, embedder.dimensions)


def test_a_text_has_the_same_vector_alone_and_in_any_company(embedder: LocalEmbedder) -> None:
    alone = np.concatenate([encode(embedder, text) for text in SENTENCES])
    crowd = SENTENCES * 20
    assert np.array_equal(encode(embedder, *crowd), np.tile(alone, (20, 1)))
    assert np.array_equal(encode(embedder, *reversed(crowd)), np.tile(alone[::-1], (20, 1)))


def test_callers_at_the_same_time_get_their_own_vectors(embedder: LocalEmbedder) -> None:
    async def all_at_once() -> list[NDArray[np.float32]]:
        return await asyncio.gather(*(embedder.encode([text]) for text in SENTENCES * 8))

    assert np.array_equal(
        np.concatenate(asyncio.run(all_at_once())), encode(embedder, *SENTENCES * 8)
    )


def test_rewording_is_nearer_than_another_subject(embedder: LocalEmbedder) -> None:
    fact, reworded, other = encode(
        embedder,
        "Anna lives in Berlin.",
        "Berlin is where Anna lives.",
        "The build takes nine minutes.",
    )
    assert fact @ reworded > 0.8
    assert fact @ other < 0.3


@pytest.mark.parametrize("way", ["near", "random"])
def test_similarities_rank_as_with_the_float32_original(
    embedder: LocalEmbedder, original: Any, way: str
) -> None:
    left, right, cosines = np.array(original[way]).T
    vectors = encode(embedder, *original["texts"])
    measured = (vectors[left.astype(int)] * vectors[right.astype(int)]).sum(axis=1)
    assert spearman(cosines, measured) >= 0.99
    assert measured == pytest.approx(cosines, abs=0.05)


def test_a_change_beyond_the_first_window_changes_the_vector(embedder: LocalEmbedder) -> None:
    # Both endings have one token, so that every window but the last is the same.
    beginning = "The river passes the old mill. " * 100
    one, other = encode(embedder, beginning + "approved", beginning + "rejected")
    assert np.abs(one - other).max() > 1e-3


def test_a_long_text_is_the_normalised_mean_of_its_windows(embedder: LocalEmbedder) -> None:
    # One token a word: 300 words are two windows of 150.
    halves = ["river " * 150, "engine " * 150]
    whole, first, second = encode(embedder, "".join(halves), *halves)
    mean = (first + second) / 2
    assert whole == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_text_of_many_windows_is_the_mean_of_some_at_even_distances(
    embedder: LocalEmbedder,
) -> None:
    tokens = list(range(31 * WINDOW_TOKENS))
    windows = cut_windows(tokens)
    starts = [int(window[0]) // WINDOW_TOKENS for window in windows]
    assert starts == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
    assert len(cut_windows(tokens[: 16 * WINDOW_TOKENS])) == MOST_WINDOWS
    words = " ".join(["river", "engine", "cloud"] * 3_000)
    assert np.linalg.norm(encode(embedder, words)) == pytest.approx(1, abs=1e-6)


def test_pieces_of_a_long_text_have_the_tokens_of_the_whole(embedder: LocalEmbedder) -> None:
    text = " ".join(SENTENCES) * 60
    pieces = split_pieces(text)
    assert len(pieces) > 5
    assert "".join(pieces) == text
    tokens = [token for piece in pieces for token in embedder.tokenize(piece)]
    assert tokens == embedder.tokenize(text)


def count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


@given(texts=st.lists(st.text(max_size=300), max_size=60))
def test_texts_of_one_step_are_few_and_short_and_none_is_left_out(texts: list[str]) -> None:
    groups = list(group_texts(texts))
    assert [place for group in groups for place in group] == list(range(len(texts)))
    for group in groups:
        assert 1 <= len(group) <= STEP_TEXTS
        assert (
            len(group) == 1 or sum(map(count_bytes, texts[group.start : group.stop])) <= STEP_BYTES
        )


def test_long_words_are_told_apart(embedder: LocalEmbedder) -> None:
    one, other = encode(
        embedder, *(hashlib.sha512(seed).hexdigest() for seed in (b"one", b"other"))
    )
    assert one @ other < 0.99


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n",
        "🎉" * 300,
        "👩\u200d👩\u200d👧",
        "\u0301",
        "e" + "\u0301" * 500,
        "x" * 16_000,
        "\x00\x01\x1f\x7f",
        "\ud800",
        "ひらがな" * 200,
        "[CLS] [PAD] [SEP]",
    ],
)
def test_odd_texts_have_vectors_too(embedder: LocalEmbedder, text: str) -> None:
    assert np.linalg.norm(encode(embedder, text)) == pytest.approx(1, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(text=st.text(st.characters(), max_size=200))
def test_any_text_has_a_vector(embedder: LocalEmbedder, text: str) -> None:
    assert np.linalg.norm(encode(embedder, text)) == pytest.approx(1, abs=1e-6)


def test_the_event_loop_keeps_running_while_texts_are_encoded(embedder: LocalEmbedder) -> None:
    async def ticks_during_encoding() -> int:
        work = asyncio.create_task(embedder.encode(SENTENCES * 40))
        ticks = 0
        while not work.done():
            await asyncio.sleep(0.002)
            ticks += 1
        await work
        return ticks

    assert asyncio.run(ticks_during_encoding()) >= 10


def test_a_sentence_does_not_wait_for_all_of_a_callers_texts() -> None:
    async def sentence_beside_many(embedder: LocalEmbedder) -> bool:
        many = asyncio.create_task(embedder.encode(SENTENCES * 60))
        await asyncio.sleep(0)
        await embedder.encode(SENTENCES[:1])
        overtaken = not many.done()
        await many
        return overtaken

    with closing(FairThreads(1)) as threads:
        assert asyncio.run(sentence_beside_many(LocalEmbedder(threads)))


def test_nothing_is_recorded_for_the_maker_of_the_runtime(tmp_path: Path) -> None:
    """onnxruntime keeps what it would send in the user's cache folder."""
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    encode = (
        "from app.embedding.local import LocalEmbedder; from app.networks import FairThreads; "
        "LocalEmbedder(FairThreads(1)).encode_texts(['Has a dog'])"
    )
    subprocess.run([sys.executable, "-c", encode], env=environment, check=True, timeout=60)
    assert list(tmp_path.iterdir()) == []
