"""Who is heard: signals, then the local judge, then the model where one is set."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

import pytest

from app.classification.cascade import Cascade
from app.classification.local.judge import LocalJudge
from app.classification.local.network import LocalNetwork
from app.classification.local.reading import Reading
from app.classification.model.judge import STAYS, ModelJudge, ModelVerdict
from app.classification.model.question import Question
from app.classification.verdict import Candidate, Verdict
from app.domain.agent import AgentId
from app.domain.fact import Fact, StoredFact
from app.domain.relation import Classify, Judge, Judgment, Relation
from app.domain.version import Belief, Memory
from app.remote.budget import Payer

NOW = datetime(2026, 6, 1, tzinfo=UTC)
NOTHING = Reading(0.99, 0.0, 0.01, 0.0, 0.0, 0.0, 0.0)
HARDLY_ANYTHING = Reading(0.98, 0.0, 0.02, 0.0, 0.0, 0.0, 0.0)
PERHAPS = Reading(0.6, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0)
UPDATE = Reading(0.01, 0.0, 0.99, 0.0, 0.0, 0.0, 0.0)


class ScriptedNetwork:
    """Reads every text as it was told to, and remembers what it read."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.read_texts: list[str] = []

    async def read(self, stored: Sequence[str], incoming: str) -> list[Reading]:
        self.read_texts += stored
        return [self._reading for _ in stored]


class ScriptedModel:
    """Judges every candidate as it was told to, and remembers the questions.

    Asked again, it `repeats` its word or takes it back.
    """

    def __init__(
        self,
        relation: Relation,
        text: str | None = None,
        reason: str = "so",
        *,
        repeats: bool = True,
    ) -> None:
        self.relation = relation
        self._text = text
        self._reason = reason
        self.repeats = repeats
        self.questions: list[Question] = []
        self.asked_again: list[UUID] = []

    async def judge(self, payer: Payer, questions: Sequence[Question]) -> list[ModelVerdict]:
        self.questions += questions
        return [self._judge_one(question) for question in questions]

    async def ask_again(
        self, payer: Payer, questions: Sequence[Question], verdicts: Sequence[ModelVerdict]
    ) -> list[ModelVerdict]:
        again = [question.again or frozenset() for question in questions]
        self.asked_again += [memory_id for ids in again for memory_id in ids]
        return [
            replace(verdict, confirmed=dict.fromkeys(ids, self.repeats))
            for verdict, ids in zip(verdicts, again, strict=True)
        ]

    def _judge_one(self, question: Question) -> ModelVerdict:
        judgments = tuple(
            Judgment(
                candidate.memory_id,
                self.relation,
                0.9,
                self._reason,
                Judge.MODEL,
                new_text=self._text,
            )
            for candidate in question.candidates
        )
        return ModelVerdict(judgments=judgments, model="scripted", prompt_version="v0")


def candidate(text: str, number: int = 1, similarity: float | None = 0.5) -> Candidate:
    memory_id = UUID(int=number)
    fact = StoredFact.from_fact(Fact(text))
    memory = Memory(memory_id, fact, Belief(memory_id, NOW, NOW), NOW, 1, None)
    return Candidate(memory, similarity)


def judge(
    text: str,
    *candidates: Candidate,
    network: ScriptedNetwork | None = None,
    model: ScriptedModel | None = None,
    tier: Classify = Classify.CASCADE,
) -> Verdict:
    local = LocalJudge(cast("LocalNetwork", network)) if network else None
    cascade = Cascade(local, cast("ModelJudge", model) if model else None)
    return judge_by(cascade, Fact(text), candidates, tier)


def judge_by(
    cascade: Cascade,
    fact: Fact,
    candidates: Sequence[Candidate],
    tier: Classify = Classify.CASCADE,
) -> Verdict:
    async def read_and_decide() -> Verdict:
        read = await cascade.read(fact, candidates, tier)
        [verdict] = await cascade.decide(Payer(AgentId("ana")), [read])
        return verdict

    return asyncio.run(read_and_decide())


HOME = candidate("I live in a studio above a bakery in Ghent")
CALM = candidate("The meeting room is painted green", number=2)


def test_without_a_local_judge_signals_decide() -> None:
    [judgment] = judge("I live in Bruges", candidate("I live in Ghent")).judgments
    assert (judgment.relation, judgment.decided_by) == (Relation.UPDATE, Judge.SIGNALS)


def test_the_local_judge_finds_what_signals_do_not() -> None:
    network = ScriptedNetwork(UPDATE)
    [judgment] = judge("We wake up to the canals of Bruges", HOME, network=network).judgments
    assert (judgment.relation, judgment.decided_by) == (Relation.UPDATE, Judge.LOCAL)


def test_the_local_judge_stops_a_signal_and_both_are_on_record() -> None:
    network = ScriptedNetwork(NOTHING)
    stored = candidate("Nobody here drinks coffee")
    [judgment] = judge("We drank coffee at the fair", stored, network=network).judgments
    assert (judgment.relation, judgment.disagree) == (Relation.OVERLAP, True)
    assert [opinion.decided_by for opinion in judgment.opinions] == [Judge.SIGNALS, Judge.LOCAL]
    assert judgment.opinions[0].relation.effect.ends_stored


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("I live in Ghent", "I live in Bruges"),
        ("The user works for Shell.", "The user works for Philips."),
        ("My rent is 900 euros", "My rent is 950 euros"),
    ],
)
def test_signals_decide_where_both_texts_state_a_value_of_one_attribute(
    stored: str, text: str
) -> None:
    [judgment] = judge(text, candidate(stored), network=ScriptedNetwork(NOTHING)).judgments
    assert (judgment.relation, judgment.decided_by) == (Relation.UPDATE, Judge.SIGNALS)
    assert not judgment.flag


def test_the_same_value_in_other_letters_ends_nothing() -> None:
    network = ScriptedNetwork(Reading(0.05, 0.87, 0.08, 0.0, 0.0, 0.0, 0.0))
    stored = candidate("I live in New York City")
    [judgment] = judge("I live in NYC", stored, network=network).judgments
    assert judgment.flag or not judgment.relation.effect.ends_stored


def test_the_nearest_few_are_read_wherever_they_stand() -> None:
    similarities = [0.1, 0.5, 0.9, None, 0.31, 0.6, 0.7, 0.2]
    near = [
        candidate(f"The printer on floor {place} is broken", number=place, similarity=similarity)
        for place, similarity in enumerate(similarities)
    ]
    network = ScriptedNetwork(NOTHING)
    judge("My place is in Bruges", *near, network=network)
    read = {text.split()[4] for text in network.read_texts}
    assert read == {"1", "2", "4", "5", "6"}


def test_all_that_may_end_of_the_five_that_are_read_are_asked_about() -> None:
    near = [
        candidate(f"The printer on floor {place} is broken", number=place, similarity=0.5)
        for place in range(9)
    ]
    network = ScriptedNetwork(PERHAPS)
    verdict = judge("My place is in Bruges", *near, network=network)
    assert len({text.split()[4] for text in network.read_texts}) == 5
    assert sum(judgment.flag for judgment in verdict.judgments) == 5


def test_a_candidate_of_the_same_slot_that_was_not_ranked_counts_as_just_near() -> None:
    network = ScriptedNetwork(NOTHING)
    slot_mate = candidate("The printer is broken", similarity=None)
    nearer = [candidate(f"near {place}", place, 0.16) for place in range(2, 6)]
    judge("My place is in Bruges", slot_mate, *nearer, candidate("x", 9, 0.11), network=network)
    assert "The printer is broken" in network.read_texts
    assert "x" not in network.read_texts


def test_what_a_signal_would_change_is_read_however_far() -> None:
    network = ScriptedNetwork(UPDATE)
    judge("I live in Bruges", candidate("I live in Ghent", similarity=0.0), network=network)
    assert network.read_texts == ["I live in Ghent"]


@pytest.mark.parametrize(
    ("key", "is_read"), [("home", True), ("HOME ", True), (None, True), ("office", False)]
)
def test_no_reading_outranks_the_keys_of_callers(key: str | None, is_read: bool) -> None:
    network = ScriptedNetwork(UPDATE)
    local = LocalJudge(cast("LocalNetwork", network))
    stored = candidate("The lease runs until June")
    keyed = StoredFact.from_fact(Fact("The lease runs until June", key="home"))
    stored = replace(stored, memory=replace(stored.memory, fact=keyed))
    fact = Fact("We hand the rooms back in May", key=key, single_valued=False)
    cascade = Cascade(local, None)
    verdict = judge_by(cascade, fact, [stored])
    assert bool(network.read_texts) is is_read
    ends = [judgment.relation.effect.ends_stored for judgment in verdict.judgments]
    assert ends == [is_read]


FAR_OFF = candidate("The meeting room is painted green", similarity=0.2)


def test_the_model_is_asked_only_if_something_may_change() -> None:
    model = ScriptedModel(Relation.NONE)
    network = ScriptedNetwork(NOTHING)
    verdict = judge("My place is in Bruges", FAR_OFF, network=network, model=model)
    assert (model.questions, verdict.model_cost) == ([], None)


@pytest.mark.parametrize(
    ("text", "stored", "reading"),
    [
        # A finding, though the identity veto keeps the texts apart.
        ("Node 22 is pinned", candidate("Node 20 is pinned", similarity=0.2), None),
        # Near vectors.
        ("My place is in Bruges", replace(FAR_OFF, similarity=0.61), None),
        # Three words in common.
        ("Green paint is what the meeting room needs", FAR_OFF, None),
        # A small chance that the local judge sees.
        ("My place is in Bruges", FAR_OFF, HARDLY_ANYTHING),
        # What the local judge does not read.
        ("Ich bin nach Brügge gezogen und wohne jetzt dort", FAR_OFF, None),
    ],
)
def test_any_reason_opens_the_gate_to_the_model(
    text: str, stored: Candidate, reading: Reading | None
) -> None:
    model = ScriptedModel(Relation.NONE)
    judge(text, stored, network=ScriptedNetwork(reading or NOTHING), model=model)
    assert len(model.questions) == 1


def test_an_ending_that_the_model_does_not_see_is_asked_about() -> None:
    model = ScriptedModel(Relation.NONE)
    network = ScriptedNetwork(UPDATE)
    [judgment] = judge("I live in Bruges", HOME, network=network, model=model).judgments
    judges = [opinion.decided_by for opinion in judgment.opinions]
    assert (judgment.relation, judgment.flag) == (Relation.UPDATE, True)
    assert judgment.disagree
    assert judges[-2:] == [Judge.LOCAL, Judge.MODEL]


@pytest.mark.parametrize(("reason", "is_asked"), [(STAYS, True), ("Another flat.", False)])
def test_a_local_question_ends_only_if_the_model_speaks_of_it(reason: str, is_asked: bool) -> None:
    model = ScriptedModel(Relation.NONE, reason=reason)
    network = ScriptedNetwork(PERHAPS)
    [judgment] = judge(
        "We wake up to the canals of Bruges", HOME, network=network, model=model
    ).judgments
    assert judgment.flag is is_asked
    assert judgment.relation.effect.ends_stored is is_asked


@pytest.mark.parametrize(("reading", "is_asked"), [(NOTHING, True), (HARDLY_ANYTHING, False)])
def test_an_ending_that_the_local_judge_rules_out_is_asked_about(
    reading: Reading, is_asked: bool
) -> None:
    model = ScriptedModel(Relation.UPDATE)
    text = "Green paint is what the meeting room needs"
    [judgment] = judge(text, FAR_OFF, network=ScriptedNetwork(reading), model=model).judgments
    assert (judgment.relation, judgment.decided_by) == (Relation.UPDATE, Judge.MODEL)
    assert judgment.flag is is_asked


def test_what_the_local_judge_cannot_read_the_model_ends_alone() -> None:
    model = ScriptedModel(Relation.UPDATE)
    text = "Ich bin nach Brügge gezogen und wohne jetzt dort"
    [judgment] = judge(text, FAR_OFF, network=ScriptedNetwork(NOTHING), model=model).judgments
    assert (judgment.relation, judgment.flag) == (Relation.UPDATE, False)


def test_a_model_that_ends_what_holds_loses_its_trust() -> None:
    network, model = ScriptedNetwork(NOTHING), ScriptedModel(Relation.UPDATE)
    local = LocalJudge(cast("LocalNetwork", network))
    cascade = Cascade(local, cast("ModelJudge", model))
    german = Fact("Ich bin nach Brügge gezogen und wohne jetzt dort")
    painted = Fact("Green paint is what the meeting room needs")
    flags = []
    for fact in (german, painted, painted, german):
        flags.append(judge_by(cascade, fact, [FAR_OFF]).judgments[0].flag)
    assert flags == [False, True, True, True]


GERMAN = Fact("Ich bin nach Brügge gezogen und wohne jetzt dort")


def test_a_model_is_asked_again_about_what_it_alone_changes() -> None:
    model = ScriptedModel(Relation.UPDATE)
    judge(
        "I live in Bruges",
        candidate("I live in Ghent"),
        network=ScriptedNetwork(UPDATE),
        model=model,
    )
    assert (len(model.questions), model.asked_again) == (1, [])
    judge_by(Cascade(None, cast("ModelJudge", model)), GERMAN, [FAR_OFF])
    assert model.asked_again == [FAR_OFF.memory.id]


def test_an_ending_that_the_model_takes_back_is_asked_about_until_it_does_so_often() -> None:
    model = ScriptedModel(Relation.UPDATE, repeats=False)
    cascade = Cascade(None, cast("ModelJudge", model))
    outcomes = []
    for _ in range(3):
        [judgment] = judge_by(cascade, GERMAN, [FAR_OFF]).judgments
        outcomes.append((judgment.relation, judgment.flag))
    # Then its word is on record, and nobody is asked about what nobody else sees.
    assert outcomes == [(Relation.UPDATE, True), (Relation.NONE, False), (Relation.NONE, False)]
    assert judgment.opinions[-1].relation is Relation.UPDATE
    model.repeats = True
    for _ in range(10):
        [judgment] = judge_by(cascade, GERMAN, [FAR_OFF]).judgments
    assert (judgment.relation, judgment.flag) == (Relation.UPDATE, False)


def test_a_model_that_is_not_trusted_stops_no_other_judge() -> None:
    model = ScriptedModel(Relation.UPDATE, repeats=False)
    network = ScriptedNetwork(UPDATE)
    cascade = Cascade(LocalJudge(cast("LocalNetwork", network)), cast("ModelJudge", model))
    for _ in range(2):
        judge_by(cascade, GERMAN, [FAR_OFF])
    model.relation = Relation.NONE
    [judgment] = judge_by(
        cascade, Fact("I live in Bruges"), [candidate("I live in Ghent")]
    ).judgments
    assert (judgment.relation, judgment.flag) == (Relation.UPDATE, False)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The stack is TypeScript 5.4 and Express", True),
        ("The stack is TypeScript 5.4 and Nest", False),  # nobody said so
        ("TypeScript 5.4", False),  # most is lost
        ("The stack is TypeScript 5.3 and Express", False),  # nothing changed
        (None, False),
    ],
)
def test_of_a_change_in_part_the_rest_is_kept_or_somebody_is_asked(
    text: str | None, kept: bool
) -> None:
    model = ScriptedModel(Relation.UPDATE, text)
    stored = candidate("The stack is TypeScript 5.3 and Express")
    network = ScriptedNetwork(HARDLY_ANYTHING)
    [judgment] = judge("Upgraded TypeScript to 5.4", stored, network=network, model=model).judgments
    if text is not None:
        assert (judgment.new_text, judgment.flag) == ((text, False) if kept else (None, True))
    assert judgment.ends_whole is not kept


@pytest.mark.parametrize("tier", [Classify.CASCADE, Classify.SIGNALS])
def test_far_candidates_are_read_and_the_model_is_asked_where_it_may(tier: Classify) -> None:
    far = replace(HOME, similarity=0.2)
    network, model = ScriptedNetwork(UPDATE), ScriptedModel(Relation.UPDATE)
    judge("Bruges wakes me up", far, network=network, model=model, tier=tier)
    assert network.read_texts == [far.memory.fact.content]
    assert len(model.questions) == (tier is Classify.CASCADE)


def test_what_is_out_of_reach_is_not_read_and_no_reason_to_ask() -> None:
    network, model = ScriptedNetwork(UPDATE), ScriptedModel(Relation.UPDATE)
    judge("Bruges wakes me up", replace(HOME, similarity=0.11), network=network, model=model)
    assert (network.read_texts, model.questions) == ([], [])


def test_the_model_hears_the_hints() -> None:
    model = ScriptedModel(Relation.OVERLAP)
    near = candidate("I live in Ghent")
    judge("I live in Bruges", near, CALM, network=ScriptedNetwork(UPDATE), model=model)
    [question] = model.questions
    signal, reading = (each.hint for each in question.candidates)
    assert signal is not None
    assert signal.startswith("UPDATE: ")
    assert reading == "update 0.99, none 0.01"


def test_with_signals_alone_no_model_is_asked() -> None:
    model = ScriptedModel(Relation.UPDATE)
    judge("My place is in Bruges", HOME, model=model, tier=Classify.SIGNALS)
    assert model.questions == []


@pytest.mark.parametrize(
    ("stored", "text", "repeats", "relation"),
    [
        ("I live in Ghent", "Ghent is where I live", True, Relation.DUPLICATE),
        ("I live in Ghent", "Ghent is where I live", False, Relation.OVERLAP),
        ("I have a dog", "I have a dog that is called Max", True, Relation.OVERLAP),
        ("I have a dog", "I have 2 dogs", True, Relation.OVERLAP),
    ],
)
def test_a_repetition_that_the_model_sees_adds_nothing(
    stored: str, text: str, repeats: bool, relation: Relation
) -> None:
    model = ScriptedModel(Relation.DUPLICATE, repeats=repeats)
    network = ScriptedNetwork(HARDLY_ANYTHING)
    [judgment] = judge(text, candidate(stored), network=network, model=model).judgments
    assert model.questions
    assert (judgment.relation, judgment.decided_by) == (relation, Judge.MODEL)
