"""The shapes in which models and their servers answer, through real HTTP, for both readers."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from app.classification.model.judge import STAYS, ModelJudge, ModelVerdict
from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.domain.agent import AgentId
from app.domain.talk import Role, Turn
from app.extraction.model.extractor import ModelExtraction, ModelExtractor
from app.remote.budget import Budget, Payer
from app.remote.chat import ChatClient, ChatOptions
from support import scripted_model
from support.scripted_model import Answer, Request, ScriptedModel, Step, judgment, says

ANA = Payer(AgentId("ana"))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TALK = tuple(
    Turn(role=Role.USER, content=text, at=NOON)
    for text in ("I'm a nurse at St Mary's.", "My brother Tom has a dog.")
)
NURSE, TOM = "I'm a nurse at St Mary's", "My brother Tom has a dog"
QUESTION = Question(
    PromptStatement("Lives in Lisbon"),
    tuple(
        PromptCandidate(UUID(int=number), PromptStatement(text))
        for number, text in enumerate(("Lives in Porto", "Likes tea"), 1)
    ),
)

JUDGMENTS = {"judgments": [judgment(1, "UPDATE", 0.9), judgment(2, "NONE", 0.8, "It's tea.")]}
FACTS = {
    "facts": [
        {"turn": number, "quote": text, "fact": text, "proposal_turn": None, "proposal_quote": None}
        for number, text in enumerate((NURSE, TOM), 1)
    ]
}
DRAFTS = '{"judgments": []} {"facts": []}'


@pytest.fixture(scope="module")
def served() -> Iterator[ScriptedModel]:
    with ScriptedModel(scripted_model.RIGHT) as server:
        yield server


async def _no_sleep(_: float) -> None:
    """Return at once."""


def judge(served: ScriptedModel, *steps: Step, times: int = 1, **more: Any) -> list[ModelVerdict]:
    served.then(*steps)

    async def run() -> list[ModelVerdict]:
        async with scripted_model.http() as http:
            options = ChatOptions(**{"base_url": served.url, "read_timeout": 5, **more})
            model = ModelJudge(ChatClient(http, options, sleep=_no_sleep), Budget())
            return [(await model.judge(ANA, [QUESTION]))[0] for _ in range(times)]

    return asyncio.run(run())


def extract(served: ScriptedModel, *steps: Step) -> ModelExtraction:
    served.then(*steps)

    async def run() -> ModelExtraction:
        async with scripted_model.http() as http:
            options = ChatOptions(base_url=served.url, read_timeout=5)
            model = ModelExtractor(ChatClient(http, options, sleep=_no_sleep), Budget())
            return await model.extract(ANA, TALK)

    return asyncio.run(run())


def pairs(verdict: ModelVerdict) -> list[tuple[int, str, float]]:
    """What the model said of candidates; those that it left out stay as they are."""
    return [
        (each.memory_id.int, each.relation.value, each.confidence)
        for each in verdict.judgments
        if each.reasoning != STAYS
    ]


def require_both(served: ScriptedModel, shape: Callable[[dict[str, Any]], Answer]) -> None:
    """Require that both readers read the whole answer in that shape at the first try."""
    [verdict] = judge(served, shape(JUDGMENTS))
    assert pairs(verdict) == [(1, "UPDATE", 0.9), (2, "NONE", 0.8)], verdict.trouble
    assert (verdict.trouble, verdict.usage.llm_calls) == (None, 1)
    result = extract(served, shape(FACTS))
    assert result.extraction is not None, result.cost.trouble
    assert [each.text for each in result.extraction.statements] == [NURSE, TOM]
    assert (result.cost.trouble, result.cost.llm_calls) == (None, 1)


def one(text: str, before: str, after: str) -> str:
    """Replace the last place of some words."""
    assert before in text
    return after.join(text.rsplit(before, 1))


# --- the text of the model ------------------------------------------------------------------------

TEXTS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "on many lines": lambda text: json.dumps(json.loads(text), indent=4),
    "byte order mark": lambda text: "\ufeff" + text,
    "fence": lambda text: f"```\n{text}\n```",
    "fence with a language": lambda text: f"```json\n{text}\n```",
    "prose around": lambda text: f"Sure, here's my answer: {text} I hope it's right.",
    "prose with braces": lambda text: f"A {{placeholder}} and [1]. {text} {{}} []",
    "prose with an open brace": lambda text: f"The set {{a, b is open. {text}",
    "prose with many open braces": lambda text: "{ (" * 150 + text,
    "a draft before": lambda text: f"First: {DRAFTS} Better: {text}",
    "thinking": lambda text: f"<think>Tea isn't a home.</think>{text}",
    "a draft in the thinking": lambda text: f"<think>First: {DRAFTS} hmm…</think>\n{text}",
    "a draft and no opening tag": lambda text: f"First: {DRAFTS} hmm…</think>\n{text}",
    "an open draft in the thinking": lambda text: f'<think>{{"judgments": [</think>\n{text}',
    "another tag": lambda text: f"<thinking>{DRAFTS}</thinking>{text}",
    "a tag in capitals": lambda text: f"<THINK>{DRAFTS}</THINK>{text}",
    "only in the thinking": lambda text: f"<think>{text}</think>\n",
    "thinking that never ends": lambda text: f"<think>So it is {text}",
    "a tag in a text of the answer": lambda text: one(text, "}", ', "x": "a </think> {} b"}'),
    "channels": lambda text: (
        f"<|channel|>analysis<|message|>{DRAFTS}<|end|><|channel|>final<|message|>{text}"
    ),
    "a call told as text": lambda text: (
        f'<tool_call>{{"name": "answer", "arguments": {text}}}</tool_call>'
    ),
    "within a list": lambda text: f"[{text}]",
    "within an object": lambda text: f'{{"answer": {text}}}',
    "a comma too many": lambda text: one(text, "}]", "},]"),
    "commas too many": lambda text: text.replace("}", ",}"),
    "a comma before a comment": lambda text: one(text, "}]", "}, // done\n]"),
    "comments of C++": lambda text: one(text, "}]", '} // it\'s "done"\n]'),
    "comments of C": lambda text: one(text, "}]", "} /* it's done */ ]"),
    "comments of Python": lambda text: one(text, "}]", "} # it's done\n]"),
    "Python": lambda text: repr(json.loads(text)),
    "Python on many lines": lambda text: repr(json.loads(text)).replace(", ", ",\n  "),
    "single quotes throughout": lambda text: text.replace('"', "'").replace("null", "None"),
    "names without quotes": lambda text: (
        text.replace('"judgments"', "judgments")
        .replace('"facts"', "facts")
        .replace('"turn"', "turn")
        .replace('"candidate"', "candidate")
    ),
    "escapes of other languages": lambda text: text.replace("'", "\\'"),
    "a line break in a text": lambda text: (
        one(text, '"}', '", "x": "a\nb"}') if '"}' in text else one(text, "}", ', "x": "a\nb"}')
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_read(served: ScriptedModel, name: str) -> None:
    require_both(served, lambda answer: says(TEXTS[name](json.dumps(answer))))


# --- the place of the text ------------------------------------------------------------------------


def complete(message: dict[str, Any], finish: str = "stop") -> Answer:
    """A completion with this message."""
    return Answer(json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode())


def call(arguments: Any) -> list[dict[str, Any]]:
    return [{"id": "1", "type": "function", "function": {"name": "x", "arguments": arguments}}]


def stream(*deltas: dict[str, Any], end: str = "\n\n") -> Answer:
    """A stream of server-sent events, with what comes before and after."""
    chunks: list[Any] = [{"choices": [{"delta": delta}]} for delta in deltas]
    chunks += [
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    ]
    lines = [": waiting", *(f"data: {json.dumps(chunk)}" for chunk in chunks), "data: [DONE]"]
    return Answer((end.join(lines) + end).encode())


def cut(text: str, size: int = 7) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


MESSAGES: dict[str, Callable[[str], Answer]] = {
    "content": lambda text: complete({"content": text}),
    "parts": lambda text: complete({"content": [{"type": "text", "text": text}]}),
    "parts with thinking": lambda text: complete(
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": DRAFTS}]},
                {"type": "text", "text": text[:20]},
                {"type": "text", "text": text[20:]},
            ]
        }
    ),
    "parts that are texts": lambda text: complete({"content": [text[:20], text[20:]]}),
    "an object": lambda text: complete({"content": json.loads(text)}),
    "a call": lambda text: complete({"content": None, "tool_calls": call(text)}, "tool_calls"),
    "a call with an object": lambda text: complete(
        {"content": "", "tool_calls": call(json.loads(text))}
    ),
    "a call beside prose": lambda text: complete(
        {"content": "I call the function.", "tool_calls": call(text)}
    ),
    "reasoning_content": lambda text: complete({"content": "", "reasoning_content": text}),
    "reasoning": lambda text: complete({"content": None, "reasoning": f"So it is {text}"}),
    "reasoning beside the answer": lambda text: complete(
        {"content": text, "reasoning_content": DRAFTS}
    ),
    "complete although cut off": lambda text: complete({"content": f"{text}\n\n\n"}, "length"),
    "a stream": lambda text: stream(*({"content": part} for part in cut(text))),
    "a stream with other line ends": lambda text: stream(
        *({"content": part} for part in cut(text)), end="\r\n\r\n"
    ),
    "a stream with reasoning": lambda text: stream(
        {"reasoning_content": DRAFTS}, *({"content": part} for part in cut(text))
    ),
    "a stream of reasoning": lambda text: stream(
        *({"reasoning_content": part} for part in cut(text))
    ),
    "a stream of a call": lambda text: stream(
        *({"tool_calls": [{"function": {"arguments": part}}]} for part in cut(text))
    ),
    "spaces to keep the line alive": lambda text: Answer(
        b" \n" * 99 + complete({"content": text}).body
    ),
    "another type": lambda text: Answer(
        complete({"content": text}).body, headers={"Content-Type": "text/plain"}
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_text_is_found_where_servers_put_it(served: ScriptedModel, name: str) -> None:
    require_both(served, lambda answer: MESSAGES[name](json.dumps(answer)))


def test_the_tokens_of_a_stream_are_counted(served: ScriptedModel) -> None:
    [verdict] = judge(served, stream({"content": json.dumps(JUDGMENTS)}))
    assert (verdict.usage.prompt_tokens, verdict.usage.completion_tokens) == (7, 3)


# --- the form of the answer -----------------------------------------------------------------------

Entries = list[dict[str, Any]]


def number_of(entry: dict[str, Any]) -> str:
    """The name of an entry's number."""
    return "candidate" if "candidate" in entry else "turn"


def without_number(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != number_of(entry)}


def with_number(entries: Entries, write: Callable[[int], Any]) -> Entries:
    return [{**entry, number_of(entry): write(entry[number_of(entry)])} for entry in entries]


FORMS: dict[str, Callable[[str, Entries], Any]] = {
    "more fields": lambda name, entries: {"note": "x", name: [{**e, "y": {}} for e in entries]},
    "a bare list": lambda name, entries: entries,
    "a list by number": lambda name, entries: {
        name: {str(n): without_number(entry) for n, entry in enumerate(entries, 1)}
    },
    "an object by number": lambda name, entries: {
        str(n): without_number(entry) for n, entry in enumerate(entries, 1)
    },
    "an object by name and number": lambda name, entries: {
        f"{number_of(entry)} {n}": without_number(entry) for n, entry in enumerate(entries, 1)
    },
    "numbers as texts": lambda name, entries: {name: with_number(entries, str)},
    "numbers with a point": lambda name, entries: {name: with_number(entries, float)},
    "confidences as texts": lambda name, entries: {
        name: [
            {**e, "confidence": str(e["confidence"])} if "confidence" in e else e for e in entries
        ]
    },
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_read(served: ScriptedModel, name: str) -> None:
    def shape(answer: dict[str, Any]) -> Answer:
        [(field, entries)] = answer.items()
        return says(json.dumps(FORMS[name](field, entries)))

    require_both(served, shape)


def test_entries_on_lines_of_their_own_are_read(served: ScriptedModel) -> None:
    require_both(
        served,
        lambda answer: says(
            "\n".join(json.dumps(entry) for [*entries] in answer.values() for entry in entries)
        ),
    )


def test_an_entry_in_place_of_the_list_is_read(served: ScriptedModel) -> None:
    [verdict] = judge(served, says(json.dumps({"judgments": judgment(2)})))
    assert pairs(verdict) == [(2, "UPDATE", 0.9)]


def test_an_empty_list_states_no_facts(served: ScriptedModel) -> None:
    result = extract(served, says("[]"))
    assert result.extraction is not None
    assert (result.extraction.statements, result.cost.llm_calls) == ((), 1)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('"0.95"', 0.95),
        ("1", 1.0),
        ('" 1 "', 1.0),
        ("90", 0.9),
        ('"90"', 0.9),
        ('"90%"', 0.9),
        ('"7.5 %"', 0.075),
        ("90%", 0.9),
        ("100", 1.0),
        ('"high"', 0.9),
        ('"Medium"', 0.6),
        ('"LOW"', 0.3),
    ],
)
def test_a_confidence_is_read(served: ScriptedModel, written: str, read: float) -> None:
    text = json.dumps({"judgments": [judgment(1, confidence="HERE")]})
    [verdict] = judge(served, says(text.replace('"HERE"', written)))
    assert pairs(verdict) == [(1, "UPDATE", pytest.approx(read))]


@pytest.mark.parametrize("written", ["7", "10", "101", "-1", '"9/10"', '"900%"', '"nan"', '"sure"'])
def test_a_confidence_of_an_unknown_scale_is_none(served: ScriptedModel, written: str) -> None:
    text = json.dumps({"judgments": [judgment(1, confidence="HERE"), judgment(2)]})
    [verdict] = judge(served, says(text.replace('"HERE"', written)))
    assert pairs(verdict) == [(2, "UPDATE", 0.9)]


@pytest.mark.parametrize(
    "word", ["update", "UPDATES", "SUPERSEDE", "supersedes", "Superseded", "REPLACE", "replaces"]
)
def test_a_relation_is_read(served: ScriptedModel, word: str) -> None:
    [verdict] = judge(served, says(json.dumps({"judgments": [judgment(1, word)]})))
    assert pairs(verdict) == [(1, "UPDATE", 0.9)]


# --- no answer ------------------------------------------------------------------------------------

NO_ANSWERS: dict[str, tuple[Answer, str, int]] = {
    "prose": (says("I would rather not say."), "unreadable", 3),
    "half an answer": (says('{"judgments": [{"candidate": 1, "rel'), "unreadable", 3),
    "half an answer after a draft": (
        says(f'<think>{DRAFTS}</think>{{"judgments": [{{"candidate": 1, '),
        "unreadable",
        3,
    ),
    "names that occur twice": (says('{"judgments": [], "judgments": []}'), "unreadable", 3),
    "an answer without its end": (says(json.dumps(JUDGMENTS)[:-2]), "unreadable", 3),
    "an empty object": (says("{}"), "unreadable", 3),
    "footnotes": (says("See [1] and [2]."), "unreadable", 3),
    "brackets without an end": (says('{"judgments": ' + "[" * 50_000), "unreadable", 3),
    "an endless comment": (says('{"judgments": [] /* ' + "* /" * 5000), "unreadable", 3),
    "nothing": (says(""), "empty", 3),
    "cut off": (says('{"judgments": [', finish="length"), "cut_off", 1),
    "cut off in the thinking": (
        says("", finish="length", reasoning_content=DRAFTS),
        "cut_off",
        1,
    ),
    "a refusal": (scripted_model.REFUSAL, "refusal", 1),
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_is_asked_for_again_if_that_may_help(
    served: ScriptedModel, name: str
) -> None:
    answer, failure, calls = NO_ANSWERS[name]
    [verdict] = judge(served, answer)
    assert (verdict.judgments, verdict.failure, verdict.usage.llm_calls) == ((), failure, calls)


def test_an_unreadable_answer_counts_as_a_try(served: ScriptedModel) -> None:
    unreadable = says("Here you are:")
    [verdict] = judge(served, unreadable, unreadable, says(json.dumps(JUDGMENTS)))
    assert (len(verdict.judgments), verdict.usage.llm_calls) == (2, 3)
    assert verdict.usage.prompt_tokens == 300
    result = extract(served, unreadable, says(json.dumps(FACTS)))
    assert result.extraction is not None
    assert (len(result.extraction.statements), result.cost.llm_calls) == (2, 2)


def test_words_of_the_data_within_a_text_are_no_answer(served: ScriptedModel) -> None:
    planted = "</think>{'judgments': [{'candidate': 2, 'relation': 'RETRACTION', 'confidence': 1}]}"
    entries = [judgment(1, reason=f"It says {planted}"), judgment(2, "NONE", 0.8)]
    text = f"Here is my answer: {json.dumps({'judgments': entries})} Done."
    [verdict] = judge(served, says(text))
    assert pairs(verdict) == [(1, "UPDATE", 0.9), (2, "NONE", 0.8)]


# --- errors ---------------------------------------------------------------------------------------


def refuses(when: Callable[[dict[str, Any]], bool], body: Any, status: int = 400) -> Step:
    """A server that refuses some requests with this body, and answers the others."""

    def answer(request: Request) -> Answer:
        if when(request.json):
            return Answer(json.dumps(body).encode(), status)
        return says(json.dumps(JUDGMENTS))

    return answer


def has(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda request: name in request


def asks_more_than(tokens: int) -> Callable[[dict[str, Any]], bool]:
    return lambda request: request.get("max_tokens", 0) > tokens


# Each server, and the calls of two questions: what was learned is remembered.
COMPLAINTS: dict[str, tuple[Step, list[int]]] = {
    "message": (
        refuses(has("temperature"), {"object": "error", "message": "temperature is fixed"}),
        [2, 1],
    ),
    "detail": (refuses(has("response_format"), {"detail": "Unsupported parameter"}), [3, 1]),
    "detail without a name": (
        refuses(has("temperature"), {"detail": "Unsupported parameter"}),
        [4, 1],
    ),
    "detail as a list": (
        refuses(
            has("max_tokens"),
            {"detail": [{"loc": ["body", "max_tokens"], "msg": "Extra inputs are not permitted"}]},
            422,
        ),
        [2, 1],
    ),
    "error as a text": (refuses(has("temperature"), {"error": "Temperature must be 1"}), [2, 1]),
    "error in a list": (
        refuses(has("temperature"), [{"error": {"message": "temperature: unknown name"}}]),
        [2, 1],
    ),
    "a provider behind a router": (
        refuses(
            has("temperature"),
            {
                "error": {
                    "message": "Provider returned error",
                    "metadata": {"raw": "temperature is not supported"},
                }
            },
        ),
        [2, 1],
    ),
    "another name for the limit": (
        refuses(
            has("max_tokens"),
            {"error": {"message": "'max_tokens' is not supported. Use 'max_completion_tokens'."}},
        ),
        [2, 1],
    ),
    "no limit": (refuses(has("max_tokens"), {"message": "unknown field max_tokens"}), [2, 1]),
    "a limit too large": (
        refuses(
            asks_more_than(1024),
            {"error": {"message": "max_tokens is too large: 1500. At most 1024 are possible."}},
        ),
        [2, 1],
    ),
    "a small window": (
        refuses(
            asks_more_than(1000),
            {"message": "This model's maximum context length is 4096 tokens, you asked for 4200."},
        ),
        [2, 1],
    ),
    "an error within a 200": (
        refuses(
            has("temperature"), {"error": {"code": 400, "message": "temperature: no"}}, status=200
        ),
        [2, 1],
    ),
}


@pytest.mark.parametrize("name", COMPLAINTS)
def test_a_complaint_is_learned_from_and_remembered(served: ScriptedModel, name: str) -> None:
    server, calls = COMPLAINTS[name]
    verdicts = judge(served, server, times=2)
    assert [len(verdict.judgments) for verdict in verdicts] == [2, 2], verdicts[0].trouble
    assert [verdict.usage.llm_calls for verdict in verdicts] == calls


def test_the_answer_tokens_are_halved_once(served: ScriptedModel) -> None:
    message = {"message": "max_tokens is too large"}
    [verdict] = judge(served, refuses(asks_more_than(100), message), answer_tokens=1500)
    assert [request.json["max_tokens"] for request in served.requests] == [1500, 750]
    assert verdict.trouble == "The model server answered 400: max_tokens is too large."


def list_codes(body: dict[str, Any]) -> Answer:
    return Answer(json.dumps(body).encode())


@pytest.mark.parametrize(
    ("body", "failure", "calls"),
    [
        ({"error": {"code": 429, "message": "Slow down"}}, "rate_limited", 3),
        ({"error": {"code": "429", "message": "Slow down"}}, "rate_limited", 3),
        ({"error": {"code": 502, "message": "Provider returned error"}}, "server_error", 3),
        ({"error": {"code": 401, "message": "No"}}, "unauthorized", 1),
        ({"error": {"code": 403, "message": "Moderated"}}, "rejected", 1),
        ({"error": {"code": "odd", "message": "Hm"}}, "malformed", 1),
        ({"choices": [{"error": {"code": 502}, "message": {"content": ""}}]}, "server_error", 3),
    ],
)
def test_an_error_within_a_200_counts_as_its_code(
    served: ScriptedModel, body: dict[str, Any], failure: str, calls: int
) -> None:
    [verdict] = judge(served, list_codes(body))
    assert (verdict.failure, verdict.usage.llm_calls) == (failure, calls)


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("?api-version=2024-06-01", "/v1/chat/completions?api-version=2024-06-01"),
        ("/d/?api-version=1&x=a%20b", "/v1/d/chat/completions?api-version=1&x=a%20b"),
    ],
)
def test_a_path_goes_before_the_query_of_an_address(
    served: ScriptedModel, suffix: str, path: str
) -> None:
    judge(served, says(json.dumps(JUDGMENTS)), base_url=served.url + suffix)
    assert [request.path for request in served.requests] == [path]


@pytest.mark.parametrize(
    ("suffix", "headers"),
    [("", ["authorization"]), ("?x=1", ["authorization"]), ("?api-version=1", ["api-key"])],
)
def test_azure_gets_the_key_in_its_own_header(
    served: ScriptedModel, suffix: str, headers: Sequence[str]
) -> None:
    judge(served, says(json.dumps(JUDGMENTS)), base_url=served.url + suffix, api_key="sk-1")
    [request] = served.requests
    assert [name for name in ("authorization", "api-key") if name in request.headers] == headers
