"""The chat client against a scripted server over real HTTP: every trouble is a value."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.remote.breaker import Breaker
from app.remote.chat import MAX_RESPONSE_BYTES, ChatClient, ChatOptions
from app.remote.completion import Reply, read_completion
from app.remote.json_answer import build_object_schema
from app.remote.trouble import Reason, Trouble
from support import scripted_model
from support.scripted_model import RIGHT, ScriptedModel, Step, fails, says, understands

ENTRY = build_object_schema(candidate={"type": "integer"})
SCHEMA = build_object_schema(judgments={"type": "array", "items": ENTRY})
HELLO = '{"judgments": []}'
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
KEY = "sk-secret-1234"


class Sleeps(list[float]):
    """Notes how long it should sleep, and does not."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel(RIGHT) as server:
        yield server


def asking(
    server: ScriptedModel,
    *,
    times: int = 1,
    breaker: Breaker | None = None,
    sleep: Any = None,
    **more: Any,
) -> list[Reply | Trouble]:
    """What one client is answered, asking so many times, one after the other. Sleeps are not slept."""

    async def run() -> list[Reply | Trouble]:
        said = {
            "base_url": server.url,
            "api_key": KEY,
            "connect_timeout": 1,
            "read_timeout": 5,
            "total_timeout": 20,
            **more,
        }
        async with scripted_model.http() as http:
            slept = sleep if sleep is not None else Sleeps()
            chat = ChatClient(
                http,
                ChatOptions(**said),
                breaker=breaker,
                sleep=slept,
                random=lambda: 0.5,
                now=lambda: MIDNIGHT,
            )
            return [await chat.complete("Be brief.", "Say JSON.", SCHEMA) for _ in range(times)]

    return asyncio.run(run())


def test_a_reply_carries_its_text_and_what_it_cost(server: ScriptedModel) -> None:
    server.then(says(HELLO))
    [reply] = asking(server)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.calls) == (
        HELLO,
        100,
        20,
        1,
    )
    assert 0 < reply.ms < 5000


def test_the_request_asks_for_the_schema_at_temperature_zero_with_the_key(
    server: ScriptedModel,
) -> None:
    asking(server, model="some-model", answer_tokens=77)
    [request] = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "identity"
    assert request.json == {
        "model": "some-model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Say JSON."},
        ],
        "temperature": 0,
        "max_tokens": 77,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }


def test_a_server_without_a_key_gets_none(server: ScriptedModel) -> None:
    asking(server, api_key=None)
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("step", "reason", "calls"),
    [
        (fails(429), Reason.RATE_LIMITED, 3),
        (fails(500), Reason.SERVER_ERROR, 3),
        (fails(503), Reason.SERVER_ERROR, 3),
        (fails(529), Reason.SERVER_ERROR, 3),
        (scripted_model.SILENCE, Reason.TIMEOUT, 3),
        (scripted_model.RESET, Reason.UNREACHABLE, 3),
        (scripted_model.TRUNCATED_BODY, Reason.UNREACHABLE, 3),
        (fails(401), Reason.UNAUTHORIZED, 1),
        (fails(403), Reason.REJECTED, 1),
        (fails(413), Reason.REJECTED, 1),
        (fails(302), Reason.REJECTED, 1),
        (fails(204), Reason.REJECTED, 1),
        (scripted_model.TEN_MB, Reason.TOO_LARGE, 1),
        (scripted_model.TEN_MB_IN_CHUNKS, Reason.TOO_LARGE, 1),
        (scripted_model.HTML, Reason.MALFORMED, 1),
        (scripted_model.Answer(b""), Reason.MALFORMED, 1),
        (scripted_model.Answer(b"\x00\x01"), Reason.MALFORMED, 1),
        (scripted_model.Answer(b"[" * 100_000), Reason.MALFORMED, 1),
        (scripted_model.Answer(b'data: {"choices": []}'), Reason.MALFORMED, 1),
        (
            scripted_model.Answer(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}),
            Reason.MALFORMED,
            1,
        ),
        (scripted_model.REFUSAL, Reason.REFUSAL, 1),
        (says("{}", finish="content_filter"), Reason.REFUSAL, 1),
        (scripted_model.CUT_OFF, Reason.CUT_OFF, 1),
        (scripted_model.EMPTY, Reason.EMPTY, 3),
        (says(" \n "), Reason.EMPTY, 3),
        (says(None), Reason.EMPTY, 3),
        (says("hello"), Reason.UNREADABLE, 3),
    ],
)
def test_every_trouble_is_a_value_with_a_word_and_a_sentence(
    server: ScriptedModel, step: Step, reason: Reason, calls: int
) -> None:
    server.then(step)
    [trouble] = asking(server, read_timeout=0.1 if step is scripted_model.SILENCE else 5)
    assert isinstance(trouble, Trouble)
    assert (trouble.reason, trouble.calls, len(server.requests)) == (reason, calls, calls)
    assert trouble.detail.endswith(".")
    assert trouble.ms > 0


def test_a_server_that_is_not_there_is_unreachable(server: ScriptedModel) -> None:
    [trouble] = asking(server, base_url="http://127.0.0.1:9/v1")
    assert isinstance(trouble, Trouble)
    assert (trouble.reason, trouble.calls) == (Reason.UNREACHABLE, 3)


def test_what_a_refusal_cost_is_known(server: ScriptedModel) -> None:
    server.then(scripted_model.REFUSAL)
    [trouble] = asking(server)
    assert (trouble.prompt_tokens, trouble.completion_tokens) == (100, 20)


def test_the_key_is_not_in_what_the_server_says_about_it(server: ScriptedModel) -> None:
    server.then(fails(401, f"Incorrect API key provided: {KEY}\nx"))
    [trouble] = asking(server)
    assert isinstance(trouble, Trouble)
    assert trouble.detail == "The model server answered 401: Incorrect API key provided: [key] x."
    assert KEY not in repr(ChatOptions(api_key=KEY))


def test_json_sent_as_another_type_is_read_all_the_same(server: ScriptedModel) -> None:
    server.then(scripted_model.Answer(says(HELLO).body, headers={"Content-Type": "text/plain"}))
    [reply] = asking(server)
    assert isinstance(reply, Reply)


# --- trying again ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        fails(429),
        fails(500),
        scripted_model.SILENCE,
        scripted_model.RESET,
        scripted_model.EMPTY,
        scripted_model.TRUNCATED_JSON,
    ],
)
def test_a_passing_failure_is_tried_again(server: ScriptedModel, first: Step) -> None:
    server.then(first, says(HELLO))
    sleep = Sleeps()
    [reply] = asking(server, sleep=sleep, read_timeout=0.5)
    assert isinstance(reply, Reply)
    assert (reply.calls, sleep) == (2, [0.25])


@pytest.mark.parametrize(
    ("header", "waited"), [("2", 2.25), ("Thu, 01 Jan 2026 00:00:03 GMT", 3.25)]
)
def test_what_retry_after_asks_is_waited_and_the_jitter_on_top(
    server: ScriptedModel, header: str, waited: float
) -> None:
    server.then(fails(429, retry_after=header), RIGHT)
    sleep = Sleeps()
    [reply] = asking(server, sleep=sleep)
    assert isinstance(reply, Reply)
    assert sleep == [waited]


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_beyond_the_total_timeout_is_not_begun(server: ScriptedModel, status: int) -> None:
    server.then(fails(status, retry_after="3600"), RIGHT)
    sleep = Sleeps()
    [trouble] = asking(server, sleep=sleep)
    assert isinstance(trouble, Trouble)
    assert (trouble.calls, sleep) == (1, [])


@pytest.mark.parametrize(
    ("total", "calls"), [pytest.param(9, 1, id="part left"), pytest.param(12, 3, id="whole left")]
)
def test_a_retry_needs_a_whole_read_timeout(
    server: ScriptedModel, total: float, calls: int
) -> None:
    server.then(fails(500, retry_after="2"))
    [trouble] = asking(server, read_timeout=7, total_timeout=total)
    assert trouble.calls == calls


def test_the_tokens_of_all_tries_are_told(server: ScriptedModel) -> None:
    server.then(says("hello"), says("hello"), RIGHT)
    [reply] = asking(server)
    assert isinstance(reply, Reply)
    assert (reply.calls, reply.prompt_tokens, reply.completion_tokens) == (3, 300, 60)


def test_the_total_timeout_bounds_all_tries(server: ScriptedModel) -> None:
    server.then(scripted_model.SILENCE)
    began = time.monotonic()
    [trouble] = asking(server, read_timeout=60, total_timeout=0.3)
    assert isinstance(trouble, Trouble)
    assert (trouble.reason, trouble.calls) == (Reason.TIMEOUT, 1)
    assert 0.3 <= time.monotonic() - began < 5


def test_a_cancelled_caller_stays_cancelled(server: ScriptedModel) -> None:
    server.then(scripted_model.SILENCE)

    async def run() -> None:
        async with scripted_model.http() as http:
            task = asyncio.create_task(
                ChatClient(http, ChatOptions(base_url=server.url)).complete("", "", SCHEMA)
            )
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())


def test_an_endless_answer_is_read_no_further_than_the_bound() -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 2**16
            yield b"x" * 2**16

    async def run() -> Reply | Trouble:
        transport = httpx.MockTransport(lambda _: httpx.Response(200, content=endless()))
        async with httpx.AsyncClient(transport=transport) as http:
            return await ChatClient(http, ChatOptions()).complete("", "", SCHEMA)

    trouble = asyncio.run(run())
    assert isinstance(trouble, Trouble)
    assert (trouble.reason, read) == (Reason.TOO_LARGE, MAX_RESPONSE_BYTES + 2**16)


# --- dialects -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_server_without_schemas_is_asked_for_an_object_and_that_is_remembered(
    server: ScriptedModel, status: int
) -> None:
    server.then(
        lambda request: RIGHT if request.response_format == "json_object" else fails(status)
    )
    replies = asking(server, times=3)
    assert [reply.calls for reply in replies] == [2, 1, 1]
    assert [request.response_format for request in server.requests] == [
        "json_schema",
        "json_object",
        "json_object",
        "json_object",
    ]


def test_a_server_with_neither_is_asked_plainly(server: ScriptedModel) -> None:
    server.then(understands(None, answer=RIGHT))
    replies = asking(server, times=2)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert [reply.calls for reply in replies] == [3, 1]


def test_llama_cpp_complains_about_the_format_in_a_500(server: ScriptedModel) -> None:
    server.then(
        lambda r: (
            RIGHT
            if r.response_format == "json_object"
            else fails(500, 'response_format type must be one of "text"')
        )
    )
    assert [reply.calls for reply in asking(server, times=2)] == [2, 1]


def test_a_reasoning_model_gets_its_own_name_for_the_limit_and_no_temperature(
    server: ScriptedModel,
) -> None:
    def reasoning(request: scripted_model.Request) -> scripted_model.Answer:
        if "max_tokens" in request.json:
            return fails(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            )
        if "temperature" in request.json:
            return fails(
                400, "Unsupported value: 'temperature' does not support 0 with this model."
            )
        return RIGHT

    server.then(reasoning)
    assert [reply.calls for reply in asking(server, times=2, answer_tokens=9)] == [3, 1]
    assert server.requests[-1].json["max_completion_tokens"] == 9
    assert server.requests[-1].response_format == "json_schema"


def test_one_rejected_question_does_not_make_the_next_ones_plainer(server: ScriptedModel) -> None:
    server.then(*[fails(400, "odd")] * 4, RIGHT)
    trouble, reply = asking(server, times=2)
    assert isinstance(trouble, Trouble)
    assert (trouble.reason, trouble.calls) == (Reason.REJECTED, 4)
    assert isinstance(reply, Reply)
    assert server.requests[-1].response_format == "json_schema"
    assert "temperature" in server.requests[-1].json


# --- the breaker ----------------------------------------------------------------------------------------------------------------


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_the_breaker_opens_after_failures_in_a_row_and_lets_one_probe_through_per_pause() -> None:
    clock = Clock()
    breaker = Breaker(after=3, pause=30, clock=clock)
    breaker.record_failure()
    breaker.record_failure()
    breaker.record_success()
    breaker.record_failure()
    breaker.record_failure()
    assert breaker.admit_call()
    breaker.record_failure()
    assert not breaker.admit_call()
    clock.now = 30
    assert [breaker.admit_call() for _ in range(3)] == [
        True,
        False,
        False,
    ]  # this probe never reports
    clock.now = 60
    assert breaker.admit_call()
    breaker.record_failure()
    clock.now = 89
    assert not breaker.admit_call()
    clock.now = 90
    assert breaker.admit_call()
    breaker.record_success()
    assert breaker.admit_call()
    assert all(breaker.admit_call() for _ in range(5))


def test_a_server_that_keeps_failing_is_left_alone_until_a_probe_succeeds(
    server: ScriptedModel,
) -> None:
    clock = Clock()
    breaker = Breaker(after=2, pause=30, clock=clock)
    server.then(fails(500))
    answers = asking(server, times=4, breaker=breaker)
    assert [isinstance(a, Trouble) and a.reason for a in answers] == [Reason.SERVER_ERROR] * 2 + [
        Reason.CIRCUIT_OPEN
    ] * 2
    assert (len(server.requests), answers[-1].calls) == (6, 0)
    clock.now = 31
    probe, after = asking(server, times=2, breaker=breaker)
    assert isinstance(probe, Trouble)
    assert isinstance(after, Trouble)
    assert (probe.reason, probe.calls, after.reason) == (
        Reason.SERVER_ERROR,
        1,
        Reason.CIRCUIT_OPEN,
    )
    clock.now = 62
    server.then(RIGHT)
    assert all(isinstance(answer, Reply) for answer in asking(server, times=3, breaker=breaker))


def test_a_probe_may_find_out_the_dialect(server: ScriptedModel) -> None:
    clock = Clock()
    breaker = Breaker(after=1, pause=30, clock=clock)
    breaker.record_failure()
    clock.now = 31
    server.then(understands(None, answer=RIGHT))
    assert [reply.calls for reply in asking(server, times=2, breaker=breaker)] == [3, 1]
    assert breaker.admit_call()


@pytest.mark.parametrize(
    "step",
    [
        fails(400),
        fails(403),
        scripted_model.REFUSAL,
        scripted_model.CUT_OFF,
        scripted_model.EMPTY,
        says("hello"),
    ],
)
def test_no_question_can_open_the_breaker_for_the_others_by_what_it_asks(
    server: ScriptedModel, step: Step
) -> None:
    breaker = Breaker(after=2)
    server.then(step)
    asking(server, times=4, breaker=breaker)
    assert breaker.admit_call()


@pytest.mark.parametrize(
    "step",
    [fails(401), fails(429), scripted_model.RESET, scripted_model.HTML, scripted_model.TEN_MB],
)
def test_a_server_that_is_of_no_use_opens_it(server: ScriptedModel, step: Step) -> None:
    breaker = Breaker(after=2)
    server.then(step)
    asking(server, times=2, breaker=breaker)
    assert not breaker.admit_call()


# --- concurrency ----------------------------------------------------------------------------------------------------------------


def together(server: ScriptedModel, questions: int, **more: Any) -> list[Reply | Trouble]:
    async def run() -> list[Reply | Trouble]:
        async with scripted_model.http() as http:
            chat = ChatClient(
                http, ChatOptions(base_url=server.url, read_timeout=5, **more), sleep=Sleeps()
            )
            return await asyncio.gather(*(chat.complete("", "", SCHEMA) for _ in range(questions)))

    return asyncio.run(run())


def test_no_more_questions_than_the_limit_are_under_way_at_once(server: ScriptedModel) -> None:
    server.then(scripted_model.Answer(RIGHT.body, delay=0.1))
    assert all(isinstance(reply, Reply) for reply in together(server, 6, concurrency=2))
    arrivals = sorted(request.at for request in server.requests)
    assert all(
        later - earlier >= 0.09 for earlier, later in zip(arrivals, arrivals[2:], strict=False)
    )


def test_a_question_that_finds_no_place_in_time_says_so_and_is_not_held_against_the_server(
    server: ScriptedModel,
) -> None:
    server.then(scripted_model.SILENCE)
    answers = together(server, 3, concurrency=1, total_timeout=0.3)
    reasons = [answer.reason for answer in answers if isinstance(answer, Trouble)]
    # All run out of time at about the same moment: one more may get the place just before.
    assert set(reasons) == {Reason.BUSY, Reason.TIMEOUT}
    assert len(server.requests) <= reasons.count(Reason.TIMEOUT) < 3


# --- whatever the bytes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["", "api.example.com/v1", "ftp://x/v1", "http:///v1"])
def test_an_address_that_no_request_could_go_to_is_refused_at_once(bad: str) -> None:
    with pytest.raises(ValueError, match="base URL"):
        ChatOptions(base_url=bad)


@pytest.mark.parametrize("bad", ["sk-\n1", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_at_once(bad: str) -> None:
    with pytest.raises(ValueError, match="API key"):
        ChatOptions(api_key=bad)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3),
)
MESSAGE = st.dictionaries(st.sampled_from(["content", "refusal", "role"]), JSON)
COMPLETION = st.fixed_dictionaries(
    {
        "choices": JSON
        | st.lists(
            st.fixed_dictionaries({"message": JSON | MESSAGE, "finish_reason": JSON}), max_size=2
        ),
        "usage": JSON
        | st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), JSON),
        "error": JSON | st.dictionaries(st.just("message"), JSON),
    }
)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.binary(max_size=200) | (COMPLETION | JSON).map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_as_a_value(body: bytes) -> None:
    outcome = read_completion(body)
    assert outcome.prompt_tokens >= 0
    assert outcome.completion_tokens >= 0
    if isinstance(outcome, Reply):
        assert outcome.text.strip()
    else:
        assert outcome.detail.endswith(".")
        assert len(outcome.detail) < 400
