"""Random histories told to the service over HTTP and to the oracle: they agree on what was done and on every picture since."""

import json
import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from oracle import Answer, Nonsense, Oracle, Refused, Shown

DEEP = bool(os.environ.get("PALIMPSEST_DEEP"))
HISTORIES = 5_000 if DEEP else 200
STEPS = 16

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
MICROSECOND = timedelta(microseconds=1)

told: Counter[str] = Counter()


def day(number: int) -> datetime:
    """Days count from the last midnight. None in use is near enough to now for the clock to reach it during a run."""
    return TODAY + timedelta(days=number)


PAST, FUTURE = st.integers(-40, -2).map(day), st.integers(2, 40).map(day)
DATE = st.none() | PAST | FUTURE
DAYS = st.none() | st.integers(2, 40) | st.sampled_from([-3, 0])  # a length in days; the last two are refused
SLOT = st.sampled_from([None, "editor", "editor", "shell"])
WORD = st.sampled_from(["vim", "emacs", "nano"])
FACT = st.fixed_dictionaries({"slot": SLOT, "word": WORD, "start": DATE, "days": DAYS})
FACTS = st.lists(FACT, min_size=1, max_size=3)
WHICH = st.integers(0, 30)
LOOK = st.fixed_dictionaries({"as_of": WHICH, "known_at": WHICH, "memory": WHICH, "everything": st.booleans()})


class Histories(RuleBasedStateMachine):
    """One agent's history. Memories are picked by number, so that what a history does depends on nothing but what was drawn."""

    def __init__(self, client: httpx.Client) -> None:
        super().__init__()
        self.http = client
        self.agent = {"X-Agent-Id": f"history-{uuid4().hex}"}
        self.oracle = Oracle()
        self.known: list[datetime] = []

    # --- storing ---------------------------------------------------------------------------------------------------------------

    @initialize(facts=st.lists(FACT, max_size=3))
    def begin(self, facts: list[dict[str, Any]]) -> None:
        """Some histories begin long ago: with imported versions that became known a day apart."""
        self._import(facts, [day(-30 + number) for number in range(len(facts))])

    @rule(fact=FACT, classify=st.sampled_from([True, True, True, False]), look=LOOK)
    def store(self, fact: dict[str, Any], classify: bool, look: dict[str, Any]) -> None:
        response = self._send("POST", "/v1/memories", json=_body(fact) | {"classify": classify})
        self._agree(response, lambda now, new: self._stored(now, new, fact, classify=classify))
        self.look(look)

    @rule(facts=FACTS, olds=st.lists(WHICH, max_size=2), look=LOOK)
    def store_batch(self, facts: list[dict[str, Any]], olds: list[int], look: dict[str, Any]) -> None:
        """In one transaction; the last fact supersedes stored ones, where there are any."""
        names = self._ids(olds)
        items = [_body(fact) for fact in facts]
        if names:
            items[-1] = self._successor(names[0], facts[-1]) | {"supersedes": names}
        response = self._send("POST", "/v1/memories/batch", json={"items": items})
        assert response.status_code == 200, response.text
        for number, (fact, result) in enumerate(zip(facts, response.json()["results"], strict=True), start=1):
            by_name = names if number == len(facts) else []
            self._agree_on(result.get("status", 200), result, lambda now, new, f=fact, n=by_name: self._stored(now, new, f, supersedes=n))
        self.look(look)

    @rule(facts=FACTS, at_once=st.booleans(), look=LOOK)
    def import_versions(self, facts: list[dict[str, Any]], at_once: bool, look: dict[str, Any]) -> None:
        """Without known times, or all with that of the last write, to be told apart by a microsecond each."""
        self._import(facts, [self.known[-1] if at_once and self.known else None] * len(facts))
        self.look(look)

    # --- the explicit verbs ----------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.known)
    @rule(olds=st.lists(WHICH, min_size=1, max_size=3), fact=FACT, look=LOOK)
    def supersede(self, olds: list[int], fact: dict[str, Any], look: dict[str, Any]) -> None:
        names = self._ids(olds)
        body = self._successor(names[0], fact)
        if len(names) == 1:
            response = self._send("POST", f"/v1/memories/{names[0]}/supersede", json=body)
        else:
            response = self._send("POST", "/v1/memories", json=body | {"supersedes": names})
        self._agree(response, lambda now, new: self._stored(now, new, fact, supersedes=names))
        self.look(look)

    @precondition(lambda self: self.known)
    @rule(old=WHICH, by=WHICH, look=LOOK)
    def supersede_by_stored(self, old: int, by: int, look: dict[str, Any]) -> None:
        [old_id], [by_id] = self._ids([old]), self._ids([by])
        response = self._send("POST", f"/v1/memories/{old_id}/supersede", json={"by": by_id})
        self._agree(response, lambda now, _: self.oracle.succeed(now, old_id, by_id))
        self.look(look)

    @precondition(lambda self: self.known)
    @rule(old=WHICH, how=DATE | st.sampled_from(["never true", "delete"]), look=LOOK)
    def retract(self, old: int, how: datetime | str | None, look: dict[str, Any]) -> None:
        [version] = self._ids([old])
        said: dict[str, Any] = {"never_true": True} if how == "never true" else {"at": how} if isinstance(how, datetime) else {}
        if how == "delete":
            response = self._send("DELETE", f"/v1/memories/{version}")
        else:
            response = self._send("POST", f"/v1/memories/{version}/retract", json=_wire(said))
        self._agree(response, lambda now, _: self.oracle.retract(now, version, **said))
        self.look(look)

    @precondition(lambda self: self.known)
    @rule(
        old=WHICH,
        said=st.dictionaries(st.sampled_from(["start", "said_end"]), PAST | FUTURE, min_size=1) | st.just({"said_end": None}),
        look=LOOK,
    )
    def correct(self, old: int, said: dict[str, Any], look: dict[str, Any]) -> None:
        [version] = self._ids([old])
        words = {"start": "valid_from", "said_end": "valid_until"}
        response = self._send("PATCH", f"/v1/memories/{version}", json=_wire({words[name]: time for name, time in said.items()}))
        if response.status_code == 422 and len(said) == 2:
            assert said["said_end"] <= said["start"]
        self._agree(response, lambda now, _: self.oracle.amend(now, version, **said))
        self.look(look)

    # --- reading ---------------------------------------------------------------------------------------------------------------

    def look(self, look: dict[str, Any]) -> None:
        """Compares a list, one version and its chain at a point on both axes drawn from all that matter, and at none."""
        if not self.known:
            return
        as_of, known_at = self._moment(look["as_of"], days=True), self._moment(look["known_at"], days=False)
        [version] = self._ids([look["memory"]])
        self._compare_list(as_of, known_at, everything=look["everything"])
        self._compare_list(None, None, everything=not look["everything"])
        self._compare_version(version, as_of, known_at)
        self._compare_chain(version, as_of, known_at)

    def _moment(self, number: int, *, days: bool) -> datetime | None:
        """None, the start of a day, or a known time or its neighbours by a microsecond."""
        kind, pick = number % 4, number // 4
        if kind == 0:
            return None
        if kind == 1 and days:
            return day((-41, -20, -7, -2, 2, 9, 25, 81)[pick])
        return self.known[(pick * 5 + kind) % len(self.known)] + (pick % 3 - 1) * MICROSECOND

    def _compare_list(self, as_of: datetime | None, known_at: datetime | None, *, everything: bool) -> None:
        page = self._read("/v1/memories", as_of, known_at, include_superseded=everything, limit=1000)
        shown_as_of = _time(page["as_of"])
        expected = set(self.oracle.claims(known_at)) if everything else self.oracle.current(shown_as_of, known_at)
        assert {m["id"]: _shown(m) for m in page["items"]} == self._shows(expected, shown_as_of, known_at)

    def _compare_version(self, version: str, as_of: datetime | None, known_at: datetime | None) -> None:
        if version not in self.oracle.claims(known_at):
            assert self._send("GET", f"/v1/memories/{version}", params=_point(as_of, known_at)).status_code == 404
            return
        memory = self._read(f"/v1/memories/{version}", as_of, known_at)
        claim = self.oracle.claims(known_at)[version]
        assert (_time(memory["said_until"]), _time(memory["retracted_at"])) == (claim.said_end, claim.retracted)
        assert memory["content"] == claim.text
        if as_of is not None:
            assert _shown(memory) == self.oracle.show(version, as_of, known_at)

    def _compare_chain(self, version: str, as_of: datetime | None, known_at: datetime | None) -> None:
        claims = self.oracle.claims(known_at)
        if version not in claims:
            assert self._send("GET", f"/v1/memories/{version}/history", params=_point(as_of, known_at)).status_code == 404
            return
        chain = claims[version].chain
        history = self._read(f"/v1/memories/{version}/history", as_of, known_at)
        shown_as_of = _time(history["as_of"])
        held = self.oracle.holding(chain, shown_as_of, known_at)
        assert (history["chain_id"], history["current"]) == (chain, held and held.id)
        members = {i for i, claim in claims.items() if claim.chain == chain}
        assert {m["id"]: _shown(m) for m in history["versions"]} == self._shows(members, shown_as_of, known_at)
        in_order = [m["id"] for m in history["versions"] if m["status"] != "reverted"]
        assert in_order == [claim.id for claim in self.oracle.line(chain, known_at)]

    def _shows(self, versions: set[Any], as_of: datetime, known_at: datetime | None) -> dict[Any, Shown]:
        return {version: self.oracle.show(version, as_of, known_at) for version in versions}

    # --- inside ----------------------------------------------------------------------------------------------------------------

    def _stored(
        self, now: datetime, new: str, fact: dict[str, Any], *, classify: bool = True, supersedes: list[str] | tuple[()] = ()
    ) -> Answer:
        start = fact["start"]
        until = _until(fact)
        if supersedes:
            text = _text(self.oracle.claims()[supersedes[0]].slot, fact["word"])
            return self.oracle.supersede(now, new, supersedes, text, start=start, until=until)
        return self.oracle.store(
            now, new, _text(fact["slot"], fact["word"]), slot=fact["slot"], start=start, until=until, classify=classify
        )

    def _successor(self, of: str, fact: dict[str, Any]) -> dict[str, Any]:
        """A successor says nothing of its slot: it has that of the first it supersedes."""
        return {
            name: said for name, said in _body(fact | {"slot": self.oracle.claims()[of].slot}).items() if name not in ("category", "key")
        }

    def _import(self, facts: list[dict[str, Any]], stated: list[datetime | None]) -> None:
        """All lines are kept or none: the oracle takes them one by one, and a line it cannot take must refuse them all."""
        lines = [_body(fact) | _wire({"created_at": time}) for fact, time in zip(facts, stated, strict=True)]
        response = self._send("POST", "/v1/import", content="\n".join(map(json.dumps, lines)))
        told["import"] += 1
        starts = [fact["start"] or time or datetime.now(UTC) for fact, time in zip(facts, stated, strict=True)]
        good = all(until is None or until > start for start, until in zip(starts, map(_until, facts), strict=True))
        assert response.status_code == (200 if good else 422), response.text
        for fact, time, line in zip(facts, stated, response.text.splitlines() if good else [], strict=good):
            became = json.loads(line)
            now = self._advance(became["known_at"])
            assert time is None or now == max(time, *(k + MICROSECOND for k in self.known[-2:-1]), time)
            text = _text(fact["slot"], fact["word"])
            answer = self.oracle.bring(now, became["id"], text, slot=fact["slot"], start=fact["start"], until=_until(fact))
            assert answer == Answer("ADD", became["id"], [])
            assert became["chain_id"] == self.oracle.claims()[became["id"]].chain

    def _agree(self, response: httpx.Response, tell: Callable[[datetime, Any], Answer]) -> None:
        self._agree_on(response.status_code, response.json(), tell)

    def _agree_on(self, status: int, body: dict[str, Any], tell: Callable[[datetime, Any], Answer]) -> None:
        """What the service did or refused, the oracle does or refuses, for the same reason."""
        if status in (409, 422):
            told[f"refused {status}"] += 1
            now = max(datetime.now(UTC), *(known + MICROSECOND for known in self.known[-1:]), TODAY)
            try:
                answer = tell(now, "nothing new")
            except Nonsense:
                assert status == 422, body
            except Refused as refusal:
                assert (status, body["memory_ids"]) == (409, list(refusal.ids)), body
            else:
                raise AssertionError(f"the service refuses what the oracle answers with {answer}: {body}")
            return
        assert status in (200, 201), body
        before = self._shows(set(self.oracle.claims()), TODAY, None)
        now = self._advance(body["known_at"])
        memory = body["memory"]
        answer = tell(now, memory and memory["id"])
        told[answer.operation] += 1
        assert (body["operation"], memory and memory["id"], body["superseded"]) == answer
        moved = {i for i, shown in before.items() if self.oracle.show(i, TODAY)[1:3] != shown[1:3]}
        assert set(body["adjusted"]) == moved - {answer.target, *answer.ended}
        if memory and "status" not in body:
            assert memory["id"] in self.oracle.claims()

    def _advance(self, known_at: str) -> datetime:
        """Known time strictly increases."""
        now = _time(known_at)
        assert not self.known or now > self.known[-1]
        self.known.append(now)
        return now

    def _ids(self, numbers: list[int]) -> list[str]:
        ids: list[Any] = list(self.oracle.claims())
        return [ids[number % len(ids)] for number in numbers] if ids else []

    def _send(self, method: str, path: str, **request: Any) -> httpx.Response:
        return self.http.request(method, path, headers=self.agent, **request)

    def _read(self, path: str, as_of: datetime | None, known_at: datetime | None, **more: Any) -> dict[str, Any]:
        response = self._send("GET", path, params=_point(as_of, known_at) | more)
        assert response.status_code == 200, response.text
        told["reads"] += 1
        answer: dict[str, Any] = response.json()
        return answer


def _text(slot: str | None, word: str) -> str:
    return f"{slot or 'likes'}: {word}"


def _until(fact: dict[str, Any]) -> datetime | None:
    return None if fact["days"] is None else (fact["start"] or TODAY) + timedelta(days=fact["days"])


def _body(fact: dict[str, Any]) -> dict[str, Any]:
    slot = fact["slot"]
    about = {"category": "tooling", "key": slot, "value": fact["word"]} if slot else {}
    return {"content": _text(slot, fact["word"]), **about, **_wire({"valid_from": fact["start"], "valid_until": _until(fact)})}


def _wire(said: dict[str, Any]) -> dict[str, Any]:
    """Times as text."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in said.items()}


def _point(as_of: datetime | None, known_at: datetime | None) -> dict[str, Any]:
    return {name: time.isoformat() for name, time in (("as_of", as_of), ("known_at", known_at)) if time}


def _time(text: str | None) -> Any:
    return None if text is None else datetime.fromisoformat(text)


def _shown(memory: dict[str, Any]) -> Shown:
    return Shown(memory["status"], _time(memory["valid_from"]), _time(memory["valid_until"]), memory["superseded_by"], memory["chain_id"])


def test_every_history_reads_as_the_oracle_tells_it(service: str) -> None:
    told.clear()
    profile = settings(
        max_examples=HISTORIES,
        stateful_step_count=STEPS,
        derandomize=not DEEP,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=DEEP,
    )
    with httpx.Client(base_url=service, timeout=60) as client:
        run_state_machine_as_test(lambda: Histories(client), settings=profile)
    operations = {"ADD", "UPDATE", "DELETE", "SUPERSEDE", "NOOP", "AMEND", "refused 409", "refused 422", "import"}
    assert operations <= told.keys(), "every operation was told"
    if DEEP:
        print(f"\n{HISTORIES} histories: {told.total() - told['reads']} writes and {told['reads']} reads agree: {dict(told)}")
