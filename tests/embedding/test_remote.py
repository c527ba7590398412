"""The remote encoder against a scripted server over real HTTP: right vectors in order, or EmbedderUnavailable that says why."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.domain.errors import EmbedderUnavailable
from app.embedding import Embedder
from app.embedding.answer import Vectors, read_vectors
from app.embedding.remote import EmbeddingOptions, RemoteEmbedder
from support import scripted_model
from support.scripted_model import Answer, Request, ScriptedModel, Step, fails
from support.scripted_vectors import answers, embeds, vector_of

KEY = "sk-secret-1234"
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
RIGHT = answers([[3.0, 0.0, 4.0]])


class Sleeps(list[float]):
    """Notes how long it should sleep, and does not."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel(RIGHT) as server:
        yield server


def encoded(
    server: ScriptedModel, *texts: str, sleep: Any = None, times: int = 1, **more: Any
) -> NDArray[np.float32]:
    """What the last of so many calls gave. Sleeps are not slept."""

    async def run() -> NDArray[np.float32]:
        said = {
            "base_url": server.url,
            "api_key": KEY,
            "model": "some-model",
            "dimensions": 3,
            "connect_timeout": 1,
            "read_timeout": 5,
        }
        async with scripted_model.http() as http:
            slept = sleep if sleep is not None else Sleeps()
            options = EmbeddingOptions(**{**said, "total_timeout": 20, **more})
            embedder: Embedder = RemoteEmbedder(
                http, options, sleep=slept, random=lambda: 0.5, now=lambda: MIDNIGHT
            )
            return [await embedder.encode(texts) for _ in range(times)][-1]

    return asyncio.run(run())


def refused(server: ScriptedModel, *steps: Step, **more: Any) -> EmbedderUnavailable:
    server.then(*steps)
    with pytest.raises(EmbedderUnavailable) as raised:
        encoded(server, "a", **more)
    return raised.value


# --- right answers --------------------------------------------------------------------------------------------------------------


def test_vectors_come_in_the_order_of_the_texts_and_are_of_unit_length(
    server: ScriptedModel,
) -> None:
    server.then(embeds(3))
    texts = ["one", "two two", "three"]
    rows = encoded(server, *texts)
    expected = np.array([vector_of(text, 3) / np.linalg.norm(vector_of(text, 3)) for text in texts])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_the_request_names_the_model_the_size_and_the_key(server: ScriptedModel) -> None:
    encoded(server, "hello \ud800")
    [request] = server.requests
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.json == {"model": "some-model", "input": ["hello ?"], "dimensions": 3}


def test_texts_go_out_in_batches(server: ScriptedModel) -> None:
    server.then(embeds(3))
    texts = [f"text {number}" for number in range(25)]
    rows = encoded(server, *texts, batch=10, concurrency=2)
    assert sorted(len(request.json["input"]) for request in server.requests) == [5, 10, 10]
    np.testing.assert_array_equal(rows, np.concatenate([encoded(server, text) for text in texts]))


@pytest.mark.parametrize("size", [1e300, 1e-160, 5e-324])
def test_the_length_of_what_the_server_gives_does_not_matter(
    server: ScriptedModel, size: float
) -> None:
    server.then(answers([[size, 0, size]]))
    np.testing.assert_allclose(encoded(server, "a"), [[0.5**0.5, 0, 0.5**0.5]], atol=1e-6)


def test_no_texts_need_no_request(server: ScriptedModel) -> None:
    assert encoded(server).shape == (0, 3)
    assert server.requests == []


def test_a_server_that_leaves_the_index_out_answers_in_order(server: ScriptedModel) -> None:
    server.then(
        Answer(json.dumps({"data": [{"embedding": [1, 0, 0]}, {"embedding": [0, 2, 0]}]}).encode())
    )
    np.testing.assert_array_equal(encoded(server, "a", "b"), [[1, 0, 0], [0, 1, 0]])


def test_a_server_that_does_not_know_the_word_dimensions_is_asked_without_it_from_then_on(
    server: ScriptedModel,
) -> None:
    server.then(
        lambda request: (
            fails(400, "matryoshka representation is not supported")
            if "dimensions" in request.json
            else RIGHT
        )
    )
    np.testing.assert_allclose(encoded(server, "a", times=3), [[0.6, 0, 0.8]], atol=1e-6)
    assert ["dimensions" in request.json for request in server.requests] == [
        True,
        False,
        False,
        False,
    ]


def test_a_request_refused_for_another_reason_keeps_its_first_complaint(
    server: ScriptedModel,
) -> None:
    problem = refused(server, fails(400, "input is odd"), fails(400, "something else"), RIGHT)
    assert problem.reason == "The embedding server answered 400: input is odd."


def test_the_name_says_model_and_size_and_not_where_it_runs() -> None:
    here, there = (
        EmbeddingOptions(base_url=url, model="m", dimensions=3).name
        for url in ("http://here/v1", "http://there/v1")
    )
    assert here == there == "m/3"


# --- texts above the window of the model ---------------------------------------------------------------------------------------


def narrow(window: int, status: int, message: str) -> Step:
    """Embeds texts of so many characters at most, and refuses a request with a longer one."""

    def answer(request: Request) -> Answer:
        if max(map(len, request.json["input"])) > window:
            return fails(status, message)
        return embeds(3)(request)

    return answer


TOO_LONG = [
    (400, "This model's maximum context length is 512 tokens, you requested 900 tokens."),
    (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 900"),
    (422, "The input is too long."),
    (500, "input is too large to process. increase the physical batch size"),
    (400, "the input length exceeds the context length"),
]


@pytest.mark.parametrize(("status", "message"), TOO_LONG)
def test_a_text_above_the_window_has_the_mean_of_its_halves(
    server: ScriptedModel, status: int, message: str
) -> None:
    server.then(narrow(200, status, message))
    text = "winter " * 25 + "summer " * 25
    rows = encoded(server, text)
    halves = [vector_of(half, 3) for half in (text[:175], text[175:])]
    mean = np.mean([half / np.linalg.norm(half) for half in halves], axis=0)
    np.testing.assert_allclose(rows, [mean / np.linalg.norm(mean)], atol=1e-6)
    assert [len(request.json["input"]) for request in server.requests] == [1, 2]


def test_only_the_texts_above_the_window_are_cut(server: ScriptedModel) -> None:
    server.then(narrow(200, *TOO_LONG[0]))
    texts = ["one", "word " * 200, "two", "three"]
    rows = encoded(server, *texts)
    server.then(embeds(3))
    np.testing.assert_allclose(rows[[0, 2, 3]], encoded(server, "one", "two", "three"), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_a_complaint_that_no_cut_ends_is_told(server: ScriptedModel) -> None:
    server.then(narrow(0, *TOO_LONG[2]))
    with pytest.raises(EmbedderUnavailable, match="answered 422: The input is too long"):
        encoded(server, "word " * 3000)
    assert len(server.requests) < 20


def test_a_limit_on_tokens_per_minute_is_no_window(server: ScriptedModel) -> None:
    server.then(fails(429, "Rate limit: 9000 tokens per min"), embeds(3))
    encoded(server, "word " * 100)
    assert [len(request.json["input"]) for request in server.requests] == [1, 1]


# --- failures -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "said", "calls"),
    [
        (fails(429), "answered 429", 3),
        (fails(500), "answered 500", 3),
        (fails(503), "answered 503", 3),
        (scripted_model.SILENCE, "silent too long", 3),
        (scripted_model.RESET, "connection", 3),
        (Answer(RIGHT.body, cut=40), "connection", 3),
        (fails(401), "answered 401", 1),
        (fails(403), "answered 403", 1),
        (fails(404), "answered 404", 1),
        (Answer(b"x" * scripted_model.TEN_MEGABYTES), "longer than", 1),
        (scripted_model.TEN_MB_IN_CHUNKS, "longer than", 1),
        (Answer(RIGHT.body[:40]), "list of embeddings", 1),
        (scripted_model.HTML, "list of embeddings", 1),
        (
            Answer(b'{"data": null, "error": {"message": "model is loading"}}'),
            "model is loading",
            1,
        ),
        (answers([]), "0 embeddings for 1 texts", 1),
        (answers([[1.0, 0, 0], [1.0, 0, 0]]), "2 embeddings for 1 texts", 1),
        (answers([[1.0, 0]]), "2 dimensions where the settings say 3", 1),
        (answers([[1.0, 0, 0]], places=[1]), "`index`", 1),
        (answers([[1.0, 0, 0]], places=[[]]), "`index`", 1),
        (answers([None]), "`index`", 1),
        (answers([[]]), "`index`", 1),
        (answers([[1.0, float("nan"), 0]]), "not finite", 1),
        (answers([[1.0, float("inf"), 0]]), "not finite", 1),
        (answers([[0.0, 0.0, 0.0]]), "zeros", 1),
        (answers([[1.0, None, 0]]), "lists of numbers", 1),
        (answers([["1", "2", "3"]]), "lists of numbers", 1),
        (answers([[[1.0], [0.0], [1.0]]]), "lists of numbers", 1),
        (answers([[10**400, 0, 0]]), "lists of numbers", 1),
    ],
)
def test_every_failure_says_what_went_wrong(
    server: ScriptedModel, step: Step, said: str, calls: int
) -> None:
    problem = refused(server, step, read_timeout=0.1 if step is scripted_model.SILENCE else 5)
    assert said in problem.reason
    assert problem.reason.endswith(".")
    assert "Nothing was written" in str(problem)
    assert len(server.requests) == calls


def test_indices_that_name_a_text_twice_are_refused(server: ScriptedModel) -> None:
    server.then(answers([[1.0, 0, 0], [0, 1.0, 0]], places=[0, 0]))
    with pytest.raises(EmbedderUnavailable, match="index"):
        encoded(server, "a", "b")


def test_one_batch_that_fails_fails_the_call(server: ScriptedModel) -> None:
    server.then(
        lambda request: fails(403) if "bad" in request.json["input"] else embeds(3)(request)
    )
    with pytest.raises(EmbedderUnavailable, match="403"):
        encoded(server, "good", "bad", "good", batch=1)


def test_a_server_that_is_not_there_is_named(server: ScriptedModel) -> None:
    with pytest.raises(EmbedderUnavailable, match="connection to the embedding server"):
        encoded(server, "a", base_url="http://127.0.0.1:9/v1")


def test_the_key_is_not_in_what_the_server_says_about_it(server: ScriptedModel) -> None:
    assert refused(server, fails(401, f"Incorrect API key provided: {KEY}")).reason.startswith(
        "The embedding server answered 401: Incorrect API key provided: [key]."
    )


# --- trying again ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first", [fails(429), fails(500), scripted_model.SILENCE, scripted_model.RESET]
)
def test_a_passing_failure_is_tried_again(server: ScriptedModel, first: Step) -> None:
    server.then(first, RIGHT)
    sleep = Sleeps()
    np.testing.assert_allclose(
        encoded(server, "a", sleep=sleep, read_timeout=0.5), [[0.6, 0, 0.8]], atol=1e-6
    )
    assert sleep == [0.25]


@pytest.mark.parametrize(
    ("header", "waited"), [("2", 2.25), ("Thu, 01 Jan 2026 00:00:03 GMT", 3.25)]
)
def test_what_retry_after_asks_is_waited_and_the_jitter_on_top(
    server: ScriptedModel, header: str, waited: float
) -> None:
    server.then(fails(429, retry_after=header), RIGHT)
    sleep = Sleeps()
    encoded(server, "a", sleep=sleep)
    assert sleep == [waited]


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("90", 90),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60),
        ("999999", 3600),
        ("0", 1),
        (None, 5),
        ("soon", 5),
    ],
)
def test_a_wait_too_long_is_handed_on_to_the_caller(
    server: ScriptedModel, header: str | None, told: int
) -> None:
    assert refused(server, fails(429, retry_after=header)).retry_after == told


def test_a_silent_server_is_waited_for_no_longer_than_the_total_timeout(
    server: ScriptedModel,
) -> None:
    assert (
        "within 0.3 s"
        in refused(server, scripted_model.SILENCE, read_timeout=60, total_timeout=0.3).reason
    )
    assert len(server.requests) == 1


def test_every_call_tries_so_that_the_first_one_after_an_outage_succeeds(
    server: ScriptedModel,
) -> None:
    outage = [fails(500)] * 60

    async def run() -> NDArray[np.float32]:
        async with scripted_model.http() as http:
            options = EmbeddingOptions(base_url=server.url, model="m", dimensions=3)
            embedder = RemoteEmbedder(http, options, sleep=Sleeps())
            for _ in range(20):
                with pytest.raises(EmbedderUnavailable):
                    await embedder.encode(["a"])
            return await embedder.encode(["a"])

    server.then(*outage, RIGHT)
    assert asyncio.run(run()).shape == (1, 3)


def test_a_cancelled_caller_stays_cancelled(server: ScriptedModel) -> None:
    server.then(scripted_model.SILENCE)

    async def run() -> None:
        async with scripted_model.http() as http:
            embedder = RemoteEmbedder(
                http, EmbeddingOptions(base_url=server.url, model="m", dimensions=3)
            )
            task = asyncio.create_task(embedder.encode(["a"]))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())


def test_no_more_requests_than_the_limit_are_under_way_at_once(server: ScriptedModel) -> None:
    def slow(request: Request) -> Answer:
        return Answer(embeds(3)(request).body, delay=0.1)

    server.then(slow)
    encoded(server, *"abcdef", batch=1, concurrency=2)
    arrivals = sorted(request.at for request in server.requests)
    assert all(
        later - earlier >= 0.09 for earlier, later in zip(arrivals, arrivals[2:], strict=False)
    )


# --- whatever the bytes ---------------------------------------------------------------------------------------------------------

NUMBERS = st.lists(st.floats() | st.integers() | st.none() | st.text(max_size=2), max_size=4)
ENTRY = st.dictionaries(
    st.sampled_from(["index", "embedding", "object"]), NUMBERS | st.integers(-1, 2) | st.none()
)
BODY = st.fixed_dictionaries(
    {
        "data": st.lists(ENTRY | st.none() | st.integers(), max_size=3)
        | st.none()
        | st.text(max_size=3)
    }
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.binary(max_size=100) | BODY.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_unit_vectors_or_a_trouble(body: bytes) -> None:
    outcome = read_vectors(body, texts=2, dimensions=2)
    if isinstance(outcome, Vectors):
        np.testing.assert_allclose(np.linalg.norm(outcome.rows, axis=1), [1, 1], atol=1e-5)
    else:
        assert outcome.detail.endswith(".")
