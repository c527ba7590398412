"""The planner, the project's oracle and the normative program are told the same histories: they agree on every answer and every moment."""

import importlib.util
from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.classification import rules
from app.domain.chains import Chains
from app.domain.errors import Conflict, InvalidFact, SupersessionRing
from app.domain.fact import Fact
from app.domain.policy import Policy
from app.domain.relation import Judge, Judgment, Relation
from app.domain.timeline import compute_status
from app.domain.version import Belief
from app.planning.explicit import plan_amend, plan_retract, plan_succeed, plan_supersede
from app.planning.plan import IncomingFact, Plan
from app.planning.reviews import Proposal, plan_accept
from app.planning.store import plan_import, plan_store
from support.depth import DEEP
from support.oracle import Answer, ClosesRing, Nonsense, Oracle, Refused, Shown

NORMATIVE = Path(__file__).resolve().parents[3] / "shared" / "eval" / "oracle.py"
thorough = settings(
    max_examples=20_000 if DEEP else 400,
    derandomize=not DEEP,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# --- histories -------------------------------------------------------------------------------------------------------------

# Known times and dates share one grid of days, so that starts, ends and the clock often fall on the same instant.
FIRST_WRITE, LAST_DAY = 20, 50


def day(number: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


DATE = st.none() | st.integers(0, LAST_DAY).map(day)
LENGTH = st.none() | st.integers(-1, 20).map(timedelta)
WHICH = st.integers(0, 30)
TEXT = st.sampled_from("abc")
STORE = st.tuples(st.just("store"), st.sampled_from(["s", "s", "t", None]), TEXT, DATE, LENGTH)
SUPERSEDE = st.tuples(
    st.just("supersede"), st.lists(WHICH, min_size=1, max_size=3), TEXT, DATE, LENGTH
)
SUCCEED = st.tuples(st.just("succeed"), WHICH, WHICH)
RETRACT = st.tuples(st.just("retract"), WHICH, DATE, st.booleans())
AMEND = st.tuples(
    st.just("amend"),
    WHICH,
    st.dictionaries(
        st.sampled_from(["start", "said_end"]), st.integers(0, LAST_DAY).map(day), min_size=1
    )
    | st.just({"said_end": None}),
)
APART = st.tuples(st.just("store apart"), st.sampled_from("st"), TEXT, DATE, LENGTH)
BRING = st.tuples(
    st.just("bring"), st.sampled_from(["s", "t", None]), TEXT, DATE, LENGTH, st.booleans()
)
COVER = st.tuples(st.just("cover"), WHICH, WHICH)
HISTORY = st.lists(
    st.one_of(*[STORE] * 5, SUPERSEDE, SUCCEED, RETRACT, AMEND, APART, BRING, COVER, COVER),
    min_size=8,
    max_size=40,
)
# What the normative program knows too: a text without a slot is told once, nothing is imported, and a slot has one chain.
PLAIN_HISTORY = st.lists(
    st.one_of(STORE, STORE, SUPERSEDE, SUCCEED, SUCCEED, RETRACT, AMEND), min_size=8, max_size=40
)


class Refusal(NamedTuple):
    """Why a call was refused, and what stands in its way."""

    reason: type[Exception]
    ids: tuple[Any, ...]


class Call(NamedTuple):
    """A step of a history, as a call on anyone who is told it."""

    verb: str
    arguments: tuple[Any, ...]
    said: dict[str, Any]

    def to(self, teller: Any) -> Answer | Refusal:
        try:
            answer: Answer = getattr(teller, self.verb)(*self.arguments, **self.said)
        except (Refused, Nonsense) as refusal:
            return Refusal(type(refusal), refusal.args)
        return answer


def calls(
    history: list[Any], oracle: Oracle, *, plain: bool = False
) -> Iterator[tuple[datetime, Call]]:
    """The steps of a history with their known times, each about what the oracle knows by then."""
    for number, (verb, about, *rest) in enumerate(history, start=FIRST_WRITE):
        now, known = day(number), oracle.claims()
        ids, new = list(known), UUID(int=len(known) + 1)
        if not ids and verb not in ("store", "store apart", "bring"):
            continue
        match verb:
            case "store" | "store apart" | "bring":
                text = _text(about, rest[0], new if plain else None)
                yield (
                    now,
                    Call(
                        verb.removesuffix(" apart"),
                        (now, new, text),
                        {"slot": about, **_span(now, *rest[1:3])} | _more(verb, rest[3:]),
                    ),
                )
            case "supersede":
                olds = [ids[which % len(ids)] for which in about]
                text = _text(known[olds[0]].slot, rest[0], new if plain else None)
                yield now, Call("supersede", (now, new, olds, text), _span(now, *rest[1:]))
            case "cover":
                stays = [c.id for c in known.values() if c.temporary and c.chain == c.id]
                homes = [c.id for c in known.values() if c.id not in stays]
                if stays and homes:
                    stay, home = stays[about % len(stays)], homes[rest[0] % len(homes)]
                    yield now, Call("cover", (now, stay, home), {})
            case "succeed":
                yield (
                    now,
                    Call("succeed", (now, ids[about % len(ids)], ids[rest[0] % len(ids)]), {}),
                )
            case "retract":
                at, never_true = rest
                yield (
                    now,
                    Call(
                        "retract",
                        (now, ids[about % len(ids)]),
                        {"never_true": True} if never_true else {"at": at},
                    ),
                )
            case _:
                yield now, Call("amend", (now, ids[about % len(ids)]), rest[0])


def _text(slot: str | None, text: str, unique: UUID | None) -> str:
    return f"{slot} {text}" if slot or unique is None else f"{unique}"


def _span(
    now: datetime, start: datetime | None, length: timedelta | None
) -> dict[str, datetime | None]:
    return {"start": start, "until": None if length is None else (start or now) + length}


def _more(verb: str, rest: list[bool]) -> dict[str, bool]:
    match verb:
        case "store apart":
            return {"classify": False}
        case "bring":
            return {"temporary": rest[0]}
        case _:
            return {}


# --- who is told -----------------------------------------------------------------------------------------------------------


class Planner:
    """`app.domain` with the oracle's words: plans over chains, absorbs them, and keeps every belief ever held."""

    def __init__(self) -> None:
        self.chains = Chains()
        self.beliefs: list[tuple[datetime, UUID, Belief]] = []
        self.adjusted: set[UUID] = set()

    def store(
        self,
        now: datetime,
        new: UUID,
        text: str,
        *,
        slot: str | None,
        classify: bool = True,
        **span: datetime | None,
    ) -> Answer:
        fact = _fact(text, slot, **span)
        judgments = rules.judge_fact(
            fact, self.chains, fact.valid_from or now, classify=classify, fuzzy=True
        )
        return self._done(
            lambda: plan_store(
                IncomingFact(fact, new, tuple(judgments), classify=classify),
                self.chains,
                Policy(),
                now=now,
            )
        )

    def bring(
        self,
        now: datetime,
        new: UUID,
        text: str,
        *,
        slot: str | None,
        temporary: bool,
        **span: datetime | None,
    ) -> Answer:
        return self._done(
            lambda: plan_import(
                _fact(text, slot, **span), self.chains, now=now, new_id=new, temporary=temporary
            )
        )

    def supersede(
        self, now: datetime, new: UUID, olds: list[UUID], text: str, **span: datetime | None
    ) -> Answer:
        slot = self.chains.get_version(olds[0]).key
        return self._done(
            lambda: plan_supersede(
                IncomingFact(_fact(text, slot, **span), new), olds, self.chains, Policy(), now=now
            )
        )

    def succeed(self, now: datetime, old: UUID, by: UUID) -> Answer:
        return self._done(lambda: plan_succeed(old, by, self.chains, now=now))

    def cover(self, now: datetime, stay: UUID, home: UUID) -> Answer:
        judgment = Judgment(home, Relation.UPDATE, 1.0, "", Judge.REVIEWER)
        proposal = Proposal(stay, Relation.UPDATE, now, stay, (judgment,), ())
        return self._done(lambda: plan_accept(proposal, self.chains, now=now))

    def retract(self, now: datetime, version: UUID, **said: Any) -> Answer:
        return self._done(lambda: plan_retract(version, self.chains, now=now, **said))

    def amend(self, now: datetime, version: UUID, **said: datetime | None) -> Answer:
        words = {"start": "valid_from", "said_end": "said_until"}
        return self._done(
            lambda: plan_amend(
                version,
                self.chains,
                now=now,
                claims={words[k]: v for k, v in said.items()},
                metadata={},
            )
        )

    def _done(self, planning: Any) -> Answer:
        try:
            plan: Plan = planning()
        except SupersessionRing as ring:
            raise ClosesRing(*ring.memory_ids) from ring
        except Conflict as conflict:
            raise Refused(*conflict.memory_ids) from conflict
        except InvalidFact as problem:
            raise Nonsense from problem
        for change in plan.changed:
            assert change.before == self.chains.get_version(change.before.id), (
                "a change starts from what is stored"
            )
        self.chains.absorb_versions(plan.versions)
        for version in plan.versions:
            assert version.belief.known_from == plan.now
            self.beliefs.append((plan.now, version.id, version.belief))
        self.adjusted = set(plan.adjusted)
        return Answer(plan.operation.value, plan.target, list(plan.superseded))

    def show(self, as_of: datetime, known_at: datetime) -> dict[UUID, Shown]:
        """Every version as the beliefs recorded show it: of each, the last one known by then."""
        latest = {
            memory_id: belief for known, memory_id, belief in self.beliefs if known <= known_at
        }
        return {i: self._shown(b, as_of) for i, b in latest.items()}

    def _shown(self, belief: Belief, as_of: datetime) -> Shown:
        return Shown(
            compute_status(belief, as_of).value,
            belief.valid_from,
            belief.valid_until,
            belief.superseded_by,
            belief.chain_id,
            belief.covered,
        )


def _fact(text: str, slot: str | None, start: datetime | None, until: datetime | None) -> Fact:
    return Fact(text, key=slot, value=text if slot else None, valid_from=start, valid_until=until)


def shown(oracle: Oracle, as_of: datetime, known_at: datetime) -> dict[Any, Shown]:
    return {version: oracle.show(version, as_of, known_at) for version in oracle.claims(known_at)}


def assert_no_overlap(versions: dict[UUID, Shown]) -> None:
    """Times in which versions of a chain hold are disjoint; they are counted at every moment at which one may change."""
    for chain in {v.chain for v in versions.values()}:
        members = [v for v in versions.values() if v.chain == chain]
        for at in {t for v in members for t in (v.start, v.end, *v.covered) if t is not None}:
            assert sum(holds(v, at) for v in members) <= 1, "no two versions of a chain overlap"
        assert sum(v.end is None for v in members) <= 1, "at most one version of a chain is open"


def holds(version: Shown, at: datetime) -> bool:
    begun = version.start <= at and (version.end is None or at < version.end)
    return begun and bisect_right(version.covered, at) % 2 == 0


# --- they agree --------------------------------------------------------------------------------------------------------------


# A lasting value that begins where another one would resume: the value that covers that one has ended it.
RESUMING = [
    ("store", "s", "a", day(0), None),
    ("store", "s", "b", day(30), timedelta(days=10)),
    ("store", "s", "c", day(40), None),
]
# A ring of three, closed by a successor that holds for a while.
RING = [
    ("store", None, "a", day(0), None),
    ("store", None, "b", day(1), None),
    ("store", None, "c", day(2), None),
    ("succeed", 0, 2),
    ("succeed", 2, 1),
    ("succeed", 1, 0),
]


@example(RESUMING)
@example(RING)
# A slot with more chains than one store may end.
@example(
    [("store apart", "s", text, day(n), None) for n, text in enumerate("abcde")]
    + [("store", "s", "d", None, None)]
)
# A change that begins before a temporary value, which has begun already, ends what that value covers.
@example(
    [
        ("store", "s", "a", day(0), None),
        ("store", "s", "b", day(15), timedelta(days=20)),
        ("store", "s", "c", day(10), None),
    ]
)
# What a temporary value covers in another chain of the slot ends with it.
@example(
    [
        ("store", "s", "a", day(0), None),
        ("bring", "s", "b", day(15), timedelta(days=30), True),
        ("store apart", "s", "c", day(10), timedelta(days=40)),
        ("amend", 1, {"start": day(5)}),
        ("store apart", "s", "d", day(1), None),
        ("store", "s", "e", day(18), None),
    ]
)
@thorough
@given(HISTORY)
def test_the_planner_does_what_the_oracle_says(history: list[Any]) -> None:
    oracle, planner = Oracle(), Planner()
    before: dict[Any, Shown] = {}
    pictures = {}
    for now, call in calls(history, oracle):
        answer = call.to(oracle)
        if call.verb == "cover" and isinstance(answer, Refusal):
            continue  # what is accepted then ends the home: no matter of this oracle
        assert call.to(planner) == answer, call
        pictures[now] = after = shown(oracle, now, now)
        assert planner.show(now, now) == after, call
        assert_no_overlap(after)
        if isinstance(answer, Answer):
            moved = {i for i in before if before[i].interval != after[i].interval}
            assert planner.adjusted == moved - {answer.target, *answer.ended}, call
        before = after
    for known_at, earlier in pictures.items():
        assert planner.show(known_at, known_at) == earlier, (
            "the beliefs kept give every earlier state again"
        )


@settings(thorough, max_examples=2_000 if DEEP else 40)
@given(HISTORY)
def test_what_holds_by_the_oracle_is_what_its_intervals_say_and_the_past_stays(
    history: list[Any],
) -> None:
    oracle = Oracle()
    answers: dict[tuple[datetime, datetime], set[Any]] = {}
    for now, call in calls(history, oracle):
        call.to(oracle)
        for as_of in map(day, range(-1, LAST_DAY + 25, 3)):
            claims = oracle.claims()
            answers[now, as_of] = {
                i for i in claims if not claims[i].withdrawn and _covers(oracle, i, as_of)
            }
    for (known_at, as_of), held in answers.items():
        assert oracle.current(as_of, known_at) == held


def _covers(oracle: Oracle, version: Any, as_of: datetime) -> bool:
    return holds(oracle.show(version, as_of), as_of)


# --- the normative program -------------------------------------------------------------------------------------------------


class Normative:
    """The program beside the checkout with the oracle's words. Its ids are counted from 1."""

    def __init__(self, program: ModuleType) -> None:
        self._program = program
        self._agent = program.Agent()

    def store(
        self,
        now: datetime,
        _new: UUID,
        text: str,
        *,
        slot: str | None,
        start: datetime | None,
        until: datetime | None,
    ) -> Answer:
        return self._told("store", now, text, slot, start, until)

    def supersede(
        self,
        now: datetime,
        _new: UUID,
        olds: list[UUID],
        text: str,
        *,
        start: datetime | None,
        until: datetime | None,
    ) -> Answer:
        return self._told("supersede", now, [i.int for i in olds], text, start, until)

    def succeed(self, now: datetime, old: UUID, by: UUID) -> Answer:
        return self._told("succeed", now, old.int, by.int)

    def retract(self, now: datetime, version: UUID, **said: Any) -> Answer:
        return self._told("retract", now, version.int, **said)

    def amend(self, now: datetime, version: UUID, **said: datetime | None) -> Answer:
        words = {"start": "valid_from", "said_end": "said_until"}
        return self._told(
            "amend", now, version.int, **{words[name]: value for name, value in said.items()}
        )

    def _told(self, verb: str, *arguments: Any, **said: Any) -> Answer:
        try:
            operation, ended, target = getattr(self._agent, verb)(*arguments, **said)
        except self._program.Conflict as conflict:
            raise Refused from conflict
        except ValueError as problem:
            raise Nonsense from problem
        return Answer(operation, target and UUID(int=target), [UUID(int=i) for i in ended])

    def intervals(self, known_at: datetime) -> dict[UUID, tuple[datetime, datetime | None]]:
        chains = {v.chain for v in self._agent.versions(known_at).values()}
        return {
            UUID(int=v.id): (v.valid_from, end)
            for chain in chains
            for v, end in self._agent.chain(chain, known_at)
        }

    def current(self, as_of: datetime, known_at: datetime) -> set[UUID]:
        return {UUID(int=i) for i in self._agent.current(as_of, known_at)}


@pytest.fixture(scope="module")
def program() -> ModuleType:
    if not NORMATIVE.exists():
        pytest.skip(f"the normative program is not at hand ({NORMATIVE})")
    spec = importlib.util.spec_from_file_location("normative_oracle", NORMATIVE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(thorough, max_examples=10_000 if DEEP else 200)
@example(history=RESUMING)
@example(history=RING)
@given(history=PLAIN_HISTORY)
def test_the_oracle_says_what_the_normative_program_says(
    program: ModuleType, history: list[Any]
) -> None:
    oracle, normative = Oracle(), Normative(program)
    moments = []
    for now, call in calls(history, oracle, plain=True):
        told = call.to(oracle)
        if isinstance(told, Refusal) and told.reason is ClosesRing:
            continue  # the normative program refuses rings of two and most others, but not all
        assert call.to(normative) == (
            told._replace(ids=()) if isinstance(told, Refusal) else told
        ), call
        assert normative.intervals(now) == _intervals(oracle, now), call
        moments.append(now)
    for known_at in moments[::3]:
        assert normative.intervals(known_at) == _intervals(oracle, known_at), (
            "the past stays as it was known"
        )
        for as_of in map(day, range(-1, LAST_DAY + 25, 7)):
            assert normative.current(as_of, known_at) == oracle.current(as_of, known_at)


def _intervals(oracle: Oracle, known_at: datetime) -> dict[Any, tuple[datetime, datetime | None]]:
    counted = {i: c for i, c in oracle.claims(known_at).items() if not c.withdrawn}
    return {i: (c.start, oracle.end(c, known_at)) for i, c in counted.items()}
