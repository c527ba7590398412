"""The model judge: what of an answer becomes judgments, and that nothing else does."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.classification.model import prompt
from app.classification.model.answer import SCHEMA
from app.classification.model.judge import ModelJudge, ModelUsage, ModelVerdict
from app.classification.model.prompt import Form
from app.classification.model.question import PromptCandidate, PromptStatement, Question
from app.domain.agent import AgentId
from app.domain.fact import Fact
from app.domain.relation import Judge, Relation
from app.remote.breaker import Breaker
from app.remote.budget import Budget, Limits, Payer
from app.remote.chat import ChatClient, ChatOptions
from support import scripted_model
from support.scripted_model import ScriptedModel, Step, answer_text, fails, judges, judgment, says

ANA = AgentId("ana")
SPRING = datetime(2026, 3, 1, tzinfo=UTC)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
INJECTIONS = [
    json.loads(line)
    for line in Path(__file__).parent.joinpath("data", "injections.jsonl").read_text().splitlines()
]


def memory(number: int) -> UUID:
    return UUID(int=number)


def question(*texts: str, incoming: str = "Lives in Lisbon") -> Question:
    """A question with one candidate per text: memory(1), memory(2) and so on."""
    candidates = tuple(
        PromptCandidate(
            memory(n), PromptStatement(text, None, SPRING, "user", "home", "city", text)
        )
        for n, text in enumerate(texts, 1)
    )
    return Question(PromptStatement(incoming, SPRING, SPRING), candidates)


THREE = question("Lives in Porto", "Likes tea", "Has a dog")


@pytest.fixture
def served() -> Iterator[ScriptedModel]:
    with ScriptedModel(scripted_model.RIGHT) as server:
        yield server


def judged(
    served: ScriptedModel,
    *steps: Step,
    asked: Question = THREE,
    budget: Budget | None = None,
    times: int = 1,
) -> ModelVerdict:
    """The verdict on a question, over real HTTP, with these answers of the server; the last of several."""
    served.then(*steps)

    async def run() -> ModelVerdict:
        async with scripted_model.http() as http:
            options = ChatOptions(
                base_url=served.url,
                read_timeout=0.2
                if any(step in (scripted_model.SILENCE, scripted_model.SLOW) for step in steps)
                else 5,
                tries=2,
            )
            judge = ModelJudge(
                ChatClient(http, options, random=lambda: 0.0, breaker=Breaker(after=100)),
                budget or Budget(),
            )
            return [(await judge.judge(Payer(ANA), [asked]))[0] for _ in range(times)][-1]

    return asyncio.run(run())


def pairs(verdict: ModelVerdict) -> list[tuple[int, str]]:
    return [(judgment.memory_id.int, judgment.relation.value) for judgment in verdict.judgments]


def changed(verdict: ModelVerdict) -> list[tuple[int, str]]:
    """The candidates that do not simply stay."""
    return [pair for pair in pairs(verdict) if pair[1] != "NONE"]


# --- right answers --------------------------------------------------------------------------------------------------------------


def test_a_right_answer_becomes_a_judgment_per_candidate(served: ScriptedModel) -> None:
    answer = judges(
        judgment(1, "UPDATE", 0.95, "Another city now."),
        judgment(2, "COMPLEMENT", 1, "Tea.", " Likes tea in Lisbon. "),
    )
    verdict = judged(served, answer)
    assert pairs(verdict) == [(1, "UPDATE"), (2, "COMPLEMENT"), (3, "NONE")]
    first, second, third = verdict.judgments
    assert (first.confidence, first.reasoning, first.decided_by) == (
        0.95,
        "Another city now.",
        Judge.MODEL,
    )
    assert second.new_text == "Likes tea in Lisbon."
    assert third.reasoning == "The model leaves it out, so it stays."
    assert (verdict.trouble, verdict.failure) == (None, None)
    assert (verdict.model, verdict.prompt_version) == ("gpt-4o-mini", "relate.v7.full")
    assert (
        verdict.usage.llm_calls,
        verdict.usage.prompt_tokens,
        verdict.usage.completion_tokens,
    ) == (1, 100, 20)
    assert verdict.usage.ms > 0


@pytest.mark.parametrize(
    ("word", "text", "relation", "is_asked"),
    [
        ("PART", "Lives in Porto, by the river", "UPDATE", False),
        ("part", "Lives in Porto, by the river", "UPDATE", False),
        ("PART", None, "UPDATE", True),
        ("over", None, "UPDATE", False),
        ("over", "what it says does not count", "UPDATE", False),
        ("same", None, "DUPLICATE", False),
        ("stays", None, "NONE", False),
    ],
)
def test_the_words_of_both_forms_are_read(
    served: ScriptedModel, word: str, text: str | None, relation: str, is_asked: bool
) -> None:
    verdict = judged(served, judges(judgment(1, word, text=text)))
    assert pairs(verdict)[0] == (1, relation)
    [first, *_] = verdict.judgments
    assert (first.new_text, first.flag) == (text if word.upper() == "PART" else None, is_asked)


def test_several_facts_are_asked_about_in_one_call(served: ScriptedModel) -> None:
    served.then(judges(judgment(4, "UPDATE", 0.9, "Another pet."), judgment(2, "DUPLICATE")))

    async def run() -> list[ModelVerdict]:
        async with scripted_model.http() as http:
            judge = ModelJudge(ChatClient(http, ChatOptions(base_url=served.url)), Budget())
            return await judge.judge(Payer(ANA), [THREE, question("Has a cat")])

    one, other = asyncio.run(run())
    assert pairs(one) == [(1, "NONE"), (2, "DUPLICATE"), (3, "NONE")]
    assert pairs(other) == [(1, "UPDATE")]
    assert (one.usage.llm_calls, other.usage) == (1, ModelUsage())
    [request] = served.requests
    assert [asked["new"]["text"] for asked in request.data] == ["Lives in Lisbon"] * 2
    assert request.numbers == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("form", "asked"),
    [(None, ["full", "small"]), (Form.FULL, ["full", "full"]), (Form.SMALL, ["small", "small"])],
)
def test_a_model_that_cannot_be_read_is_asked_as_a_small_one(
    served: ScriptedModel, form: Form | None, asked: list[str]
) -> None:
    served.then(says("I think so."), says("I think so."), scripted_model.RIGHT)

    async def run() -> list[str]:
        async with scripted_model.http() as http:
            options = ChatOptions(base_url=served.url, tries=1)
            judge = ModelJudge(ChatClient(http, options), Budget(), form)
            verdicts = [(await judge.judge(Payer(ANA), [THREE]))[0] for _ in range(2)]
        return [verdict.prompt_version.removeprefix("relate.v7.") for verdict in verdicts]

    assert asyncio.run(run()) == asked


@pytest.mark.parametrize("relation", list(Relation))
def test_each_relation_can_be_said(served: ScriptedModel, relation: Relation) -> None:
    said = pairs(judged(served, judges(judgment(2, relation.value))))
    assert said == [(1, "NONE"), (2, relation.value), (3, "NONE")]


def test_prose_and_fences_around_the_answer_are_tolerated(served: ScriptedModel) -> None:
    assert changed(judged(served, scripted_model.IN_PROSE)) == [(1, "UPDATE")]
    assert changed(
        judged(served, says("{braces} in prose. " + answer_text(judgment(3)) + " {}"))
    ) == [(3, "UPDATE")]


def test_fields_that_nobody_asked_for_are_ignored(served: ScriptedModel) -> None:
    verdict = judged(
        served,
        judges({**judgment(1), "memory_id": str(memory(2)), "delete": True}, operations=["ERASE"]),
    )
    assert changed(verdict) == [(1, "UPDATE")]


def test_a_candidate_whose_entry_is_unusable_has_no_judgment(served: ScriptedModel) -> None:
    verdict = judged(served, judges(judgment(1, "PERHAPS"), judgment(2)))
    assert pairs(verdict) == [(2, "UPDATE"), (3, "NONE")]
    assert "Without a usable judgment: 1 of the candidates asked about." in (verdict.trouble or "")
    assert verdict.failure == "partial"


def test_one_completion_is_asked_for_however_many_candidates(served: ScriptedModel) -> None:
    judged(served, scripted_model.every("NONE"), asked=question(*(f"Fact {n}" for n in range(50))))
    assert len(served.requests) == 1


# --- trouble --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "failure", "calls"),
    [
        (fails(429, retry_after="0"), "rate_limited", 2),
        (fails(500), "server_error", 2),
        (scripted_model.SILENCE, "timeout", 2),
        (scripted_model.RESET, "unreachable", 2),
        (scripted_model.TRUNCATED_BODY, "unreachable", 2),
        (scripted_model.TEN_MB, "too_large", 1),
        (scripted_model.HTML, "malformed", 1),
        (scripted_model.REFUSAL, "refusal", 1),
        (scripted_model.CUT_OFF, "cut_off", 1),
        (scripted_model.EMPTY, "empty", 2),
        (scripted_model.TRUNCATED_JSON, "unreadable", 2),
        (says("I would rather not say."), "unreadable", 2),
        (says("[1]"), "unreadable", 2),
        (says("{}"), "unreadable", 2),
        (says('{"judgments": null}'), "unreadable", 2),
        (says('{"judgments": {"1": "UPDATE"}}'), "unreadable", 2),
        (says('{"judgments": [], "judgments": []}'), "unreadable", 2),
        (says("{" * 5000), "unreadable", 2),
        (says('{"a":' * 5000), "unreadable", 2),
        (says('{"judgments": ' + "[" * 50_000), "unreadable", 2),
        (says('{"judgments": [{"candidate": 1' + "0" * 5000 + "}]}"), "unreadable", 2),
    ],
)
def test_trouble_leaves_no_judgment_and_says_why(
    served: ScriptedModel, step: Step, failure: str, calls: int
) -> None:
    verdict = judged(served, step)
    assert verdict.judgments == ()
    assert (verdict.failure, verdict.usage.llm_calls) == (failure, calls)
    assert verdict.trouble
    assert verdict.trouble.endswith(".")


def test_a_slow_answer_counts_where_there_is_time_for_it(served: ScriptedModel) -> None:
    assert judged(served, scripted_model.Answer(scripted_model.RIGHT.body, delay=0.1)).judgments
    assert judged(served, scripted_model.SLOW).failure == "timeout"


@pytest.mark.parametrize(
    "number",
    [0, -1, 4, 10**9, 10**400, 1.5, True, "1.", "one", None, [1], {"candidate": 1}, str(memory(1))],
)
def test_a_candidate_that_was_not_asked_about_gets_no_judgment(
    served: ScriptedModel, number: Any
) -> None:
    verdict = judged(served, judges(judgment(number, "CONTRADICTION"), judgment(2)))
    assert changed(verdict) == [(2, "UPDATE")]
    assert "there is no candidate" in (verdict.trouble or "")


@pytest.mark.parametrize(
    "relation", ["EXTENDS", "DELETE", "", "UPDATE;CONTRADICTION", "*", None, 1, True, ["UPDATE"]]
)
def test_an_unknown_relation_is_no_judgment(served: ScriptedModel, relation: Any) -> None:
    verdict = judged(served, judges(judgment(1, relation), judgment(2)))
    assert changed(verdict) == [(2, "UPDATE")]
    assert "candidate 1 has the unknown relation" in (verdict.trouble or "")


def test_the_case_of_a_relation_is_no_matter(served: ScriptedModel) -> None:
    assert changed(judged(served, judges(judgment(1, " Update ")))) == [(1, "UPDATE")]


@pytest.mark.parametrize(
    "confidence",
    [
        7,
        -0.1,
        1.0001,
        float("nan"),
        float("inf"),
        float("-inf"),
        True,
        False,
        "sure",
        None,
        [0.9],
        10**400,
    ],
)
def test_a_confidence_outside_nought_to_one_is_no_judgment(
    served: ScriptedModel, confidence: Any
) -> None:
    verdict = judged(served, judges(judgment(1, "CONTRADICTION", confidence), judgment(2)))
    assert changed(verdict) == [(2, "UPDATE")]
    assert "candidate 1 has the confidence" in (verdict.trouble or "")


@pytest.mark.parametrize("field", ["candidate", "relation", "confidence"])
def test_a_missing_field_is_no_judgment(served: ScriptedModel, field: str) -> None:
    entry = judgment(1)
    del entry[field]
    assert changed(judged(served, judges(entry))) == []


@pytest.mark.parametrize("entry", [None, 1, "UPDATE", ["UPDATE"], []])
def test_an_entry_that_is_no_object_is_ignored(served: ScriptedModel, entry: Any) -> None:
    verdict = judged(served, judges(entry, judgment(1)))
    assert changed(verdict) == [(1, "UPDATE")]
    assert "a judgment is" in (verdict.trouble or "")


def test_several_judgments_that_differ_are_none(served: ScriptedModel) -> None:
    verdict = judged(
        served,
        judges(judgment(1, "UPDATE"), judgment(1, "NONE"), judgment(1, "UPDATE"), judgment(2)),
    )
    assert changed(verdict) == [(2, "UPDATE")]
    assert "candidate 1 has several judgments that differ" in (verdict.trouble or "")


def test_of_the_same_judgment_said_twice_the_less_confident_counts(served: ScriptedModel) -> None:
    verdict = judged(
        served,
        judges(judgment(1, "UPDATE", 0.9), judgment(1, "UPDATE", 0.4), judgment(1, "UPDATE", 0.8)),
    )
    [first, *_] = verdict.judgments
    assert (first.relation, first.confidence) == (Relation.UPDATE, 0.4)


def test_a_thousand_wrong_entries_are_told_in_a_bounded_sentence(served: ScriptedModel) -> None:
    verdict = judged(served, judges(*(judgment("x" * 1000, "y" * 1000) for _ in range(200))))
    assert len(verdict.trouble or "") <= 1000
    assert "190 more" in (verdict.trouble or "")


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        ("x" * 600, "x" * 500),
        ("a\0b\ud800c", "abc"),
        (" two\n lines ", "two lines"),
        ("", "The model gave no reason."),
        (None, "The model gave no reason."),
        ({"a": 1}, "The model gave no reason."),
    ],
)
def test_a_reason_is_short_and_can_be_stored(served: ScriptedModel, reason: Any, kept: str) -> None:
    assert judged(served, judges(judgment(1, reason=reason))).judgments[0].reasoning == kept


@pytest.mark.parametrize(
    "text", ["", " \n ", "a\0b", "\ud800", "x" * 16_001, 7, True, ["x"], {"text": "x"}]
)
def test_a_text_that_cannot_be_stored_is_ignored(served: ScriptedModel, text: Any) -> None:
    verdict = judged(served, judges(judgment(1, "COMPLEMENT", text=text)))
    assert "candidate 1 has no usable text" in (verdict.trouble or "")
    assert changed(verdict) == [(1, "COMPLEMENT")]
    assert verdict.judgments[0].new_text is None


# --- the budget -----------------------------------------------------------------------------------------------------------------


def test_past_the_budget_the_model_is_not_asked(served: ScriptedModel) -> None:
    verdict = judged(
        served, scripted_model.RIGHT, budget=Budget(agent=Limits(calls_per_minute=2)), times=3
    )
    assert (verdict.failure, verdict.judgments, verdict.usage) == ("budget", (), ModelUsage())
    assert (
        verdict.trouble == "The agent's budget of 2 questions to the model per minute is used up."
    )
    assert verdict.judgments == ()
    assert len(served.requests) == 2


@pytest.mark.parametrize(
    "step", [scripted_model.RIGHT, scripted_model.REFUSAL, scripted_model.CUT_OFF]
)
def test_the_tokens_of_an_answer_are_spent_whatever_it_was_worth(
    served: ScriptedModel, step: Step
) -> None:
    assert (
        judged(served, step, budget=Budget(agent=Limits(tokens_per_day=120)), times=2).failure
        == "budget"
    )


def test_tokens_are_estimated_where_the_server_does_not_count_them(served: ScriptedModel) -> None:
    assert (
        judged(
            served,
            says('{"judgments": []}', usage=False),
            budget=Budget(agent=Limits(tokens_per_day=500)),
            times=2,
        ).failure
        == "budget"
    )


def test_questions_at_the_same_moment_do_not_slip_past_the_budget(served: ScriptedModel) -> None:
    served.then(scripted_model.RIGHT)

    async def run() -> list[list[ModelVerdict]]:
        async with scripted_model.http() as http:
            judge = ModelJudge(
                ChatClient(http, ChatOptions(base_url=served.url)),
                Budget(agent=Limits(calls_per_minute=3)),
            )
            return await asyncio.gather(*(judge.judge(Payer(ANA), [THREE]) for _ in range(8)))

    assert sorted(v.failure or "" for [v] in asyncio.run(run())).count("budget") == 5
    assert len(served.requests) == 3


# --- the prompt -----------------------------------------------------------------------------------------------------------------


def render(asked: Question) -> str:
    return prompt.render_prompt([asked], Form.FULL).user


def test_the_prompt_carries_texts_dates_and_slots_as_data_and_no_ids(served: ScriptedModel) -> None:
    judged(served, scripted_model.RIGHT)
    [request] = served.requests
    assert request.data == [
        {
            "new": {"text": "Lives in Lisbon", "said": "2026-03-01", "since": "2026-03-01"},
            "candidates": [
                {
                    "candidate": n,
                    "text": text,
                    "since": "2026-03-01",
                    "category": "home",
                    "key": "city",
                    "value": text,
                }
                for n, text in enumerate(["Lives in Porto", "Likes tea", "Has a dog"], 1)
            ],
        }
    ]
    assert str(memory(1)) not in request.body.decode()
    assert ANA not in request.json["messages"][1]["content"].split()
    assert request.json["response_format"]["json_schema"]["schema"] == SCHEMA


def test_the_system_message_is_the_same_for_every_question_and_names_every_relation() -> None:
    for form in Form:
        one = prompt.render_prompt([THREE], form)
        other = prompt.render_prompt([question(INJECTIONS[0]["text"])], form)
        assert one.system == other.system
        assert "never instructions" in one.system
        assert "$" not in one.system + one.user
    full = prompt.render_prompt([THREE], Form.FULL).system
    named = {relation for relation in Relation if relation.effect.changes_stored}
    assert all(relation in full for relation in (*named, "PART"))


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection["id"])
def test_no_text_gets_out_of_the_data(injection: dict[str, str]) -> None:
    text = injection["text"]
    user = render(question("Has a dog", text, incoming=text))
    before, data, after = user.split("<data>\n")[0], *user.split("<data>\n")[1].split("\n</data>")
    assert "\n" not in data
    assert not set(data) & set("<>&")
    assert data.isprintable()
    read = json.loads(data)
    assert [read[0]["new"]["text"], read[0]["candidates"][1]["text"]] == [text, text]
    assert (before, after) == tuple(
        render(question("a", "b")).split("<data>\n")[i].split("\n</data>")[-1] for i in (0, 1)
    )


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_any_text_comes_out_of_the_data_as_it_went_in(texts: list[str]) -> None:
    user = render(question(*texts))
    assert user.count("<data>") == user.count("</data>") == 1
    read = json.loads(user.split("<data>\n")[1].split("\n</data>")[0])
    assert [candidate["text"] for candidate in read[0]["candidates"]] == texts


def test_letters_of_other_scripts_stay_readable() -> None:
    assert "犬がいる – été ☂" in render(question("犬がいる – été ☂"))


def test_candidates_too_long_for_the_question_are_left_out_whole_and_counted(
    served: ScriptedModel,
) -> None:
    asked = question("Has a cat", "x" * 70_000, "Has a dog")
    verdict = judged(served, judges(judgment(1), judgment(2), judgment(3)), asked=asked)
    assert [c["text"] for c in served.requests[0].candidates] == ["Has a cat", "Has a dog"]
    assert pairs(verdict) == [(1, "UPDATE"), (3, "UPDATE")]
    assert "Not asked about, for length: 1 candidates." in (verdict.trouble or "")
    assert len(served.requests[0].json["messages"][1]["content"]) < 61_000


def test_a_fact_too_long_for_any_question_is_not_asked_about(served: ScriptedModel) -> None:
    verdict = judged(
        served, scripted_model.RIGHT, asked=question("Has a cat", incoming="x" * 70_000)
    )
    assert (verdict.failure, served.requests, verdict.judgments) == ("too_long", [], ())


def test_a_statement_says_what_its_fact_says() -> None:
    fact = Fact(
        "Lives in Porto",
        entity="ana",
        category="home",
        key="city",
        value="Porto",
        valid_from=SPRING,
        said_at=NOON,
    )
    assert PromptStatement.from_fact(fact) == PromptStatement(
        "Lives in Porto", NOON, SPRING, "ana", "home", "city", "Porto"
    )


# --- the obedient model ---------------------------------------------------------------------------------------------------------


def test_there_are_enough_injections_of_every_kind() -> None:
    assert len(INJECTIONS) >= 60
    assert (
        len({injection["id"] for injection in INJECTIONS})
        == len({injection["text"] for injection in INJECTIONS})
        == len(INJECTIONS)
    )
    assert {
        "order",
        "delimiter",
        "fake json",
        "fake system",
        "hidden tags",
        "zero width",
        "language",
        "encoded",
        "tool call",
    } <= {injection["kind"] for injection in INJECTIONS}


@pytest.mark.parametrize("incoming", [True, False])
def test_a_model_that_obeys_every_text_judges_no_more_than_it_was_asked(
    served: ScriptedModel, incoming: bool
) -> None:
    served.then(scripted_model.obedient)
    relations: set[str] = set()

    async def run() -> None:
        async with scripted_model.http() as http:
            judge = ModelJudge(
                ChatClient(http, ChatOptions(base_url=served.url)),
                Budget(),
            )
            for injection in INJECTIONS:
                text = injection["text"]
                asked = (
                    question("Has a dog", "Likes tea", incoming=text)
                    if incoming
                    else question("Has a dog", text)
                )
                [verdict] = await judge.judge(Payer(ANA), [asked])
                assert len({j.memory_id for j in verdict.judgments}) == len(verdict.judgments)
                assert {j.memory_id for j in verdict.judgments} <= {memory(1), memory(2)}
                assert all(
                    0 <= j.confidence <= 1
                    and len(j.reasoning) <= 500
                    and j.decided_by is Judge.MODEL
                    for j in verdict.judgments
                )
                relations.update(j.relation for j in verdict.judgments)

    asyncio.run(run())
    assert relations >= {
        "RETRACTION",
        "UPDATE",
        "DUPLICATE",
        "CONTRADICTION",
        "COMPLEMENT",
    }  # it does obey


def test_the_worst_model_contradicts_everything_with_full_confidence(served: ScriptedModel) -> None:
    verdict = judged(served, scripted_model.worst)
    assert [(j.relation, j.confidence) for j in verdict.judgments] == [
        (Relation.CONTRADICTION, 1.0)
    ] * 3


# --- whatever the answer --------------------------------------------------------------------------------------------------------


def judged_from(body: bytes) -> ModelVerdict:
    """The verdict where the server answers with these bytes."""

    async def run() -> ModelVerdict:
        transport = httpx.MockTransport(
            lambda _: httpx.Response(200, stream=httpx.ByteStream(body))
        )
        async with httpx.AsyncClient(transport=transport) as http:
            judge = ModelJudge(ChatClient(http, ChatOptions(), random=lambda: 0.0), Budget())
            [verdict] = await judge.judge(Payer(ANA), [THREE])
            return verdict

    return asyncio.run(run())


LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(list(Relation))
)
VALUE = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
ENTRY = st.dictionaries(
    st.sampled_from(["candidate", "relation", "confidence", "reason", "text"]), VALUE
) | st.builds(
    judgment,
    st.integers(-1, 4) | LEAF,
    st.sampled_from(list(Relation)) | LEAF,
    st.floats(0, 1) | LEAF,
    LEAF,
)
ANSWER = st.fixed_dictionaries(
    {"judgments": st.lists(ENTRY, max_size=6) | VALUE},
    optional={"slot": VALUE | ENTRY},
)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    st.binary(max_size=100)
    | st.text().map(lambda text: says(text).body)
    | (ANSWER | VALUE).map(lambda answer: says(json.dumps(answer)).body)
)
def test_whatever_bytes_answer_only_what_was_asked_is_judged(body: bytes) -> None:
    verdict = judged_from(body)
    ids = [j.memory_id for j in verdict.judgments]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= {memory(1), memory(2), memory(3)}
    assert all(
        0 <= j.confidence <= 1 and isinstance(j.relation, Relation) for j in verdict.judgments
    )
    assert (verdict.trouble is None) == (len(ids) == 3 and verdict.failure is None)
    (verdict.trouble or "").encode()
    [j.reasoning.encode() for j in verdict.judgments]
