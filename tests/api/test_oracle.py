"""Random histories told to the service over HTTP and to the oracle: they agree on what was done and on every picture since."""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from numpy.typing import NDArray

from app.settings import load_settings
from support.builders import list_ended
from support.depth import DEEP
from support.oracle import Answer, Nonsense, Oracle, Refused, Shown
from support.service import running
from support.transfers import NDJSON

HISTORIES = int(os.environ.get("PALIMPSEST_ORACLE_HISTORIES") or (5_000 if DEEP else 80))
STEPS = 16
CIRCLE = 100  # no refusals are followed for longer

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
MICROSECOND = timedelta(microseconds=1)

counted: Counter[str] = Counter()


def day(number: int) -> datetime:
    """Days count from the last midnight. None in use is near enough to now for the clock to reach it during a run."""
    return TODAY + timedelta(days=number)


# Few days, all multiples of five, so that starts and ends often fall together.
PAST, FUTURE = (
    st.integers(-8, -1).map(lambda n: day(5 * n)),
    st.integers(1, 8).map(lambda n: day(5 * n)),
)
DATE = st.none() | PAST | FUTURE
DAYS = st.sampled_from(
    [None, None, None, None, None, 5, 10, 15, 20, 30, 40, 0, -5]
)  # a length; the last two are refused
SLOT = st.sampled_from([None, "editor", "editor", "shell"])
WORD = st.sampled_from(["vim", "emacs", "nano"])
FACT = st.fixed_dictionaries({"slot": SLOT, "word": WORD, "start": DATE, "days": DAYS})
FACTS = st.lists(FACT, min_size=1, max_size=3)
WHICH = st.integers(0, 30)
LOOK = st.fixed_dictionaries(
    {
        "as_of": WHICH,
        "known_at": WHICH,
        "memory": WHICH,
        "now": st.booleans(),
        "everything": st.booleans(),
        "chain": st.booleans(),
    }
)


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
    def store_batch(
        self, facts: list[dict[str, Any]], olds: list[int], look: dict[str, Any]
    ) -> None:
        """In one transaction; the last fact supersedes stored ones, where there are any."""
        names = self._ids(olds)
        items = [_body(fact) for fact in facts]
        if names:
            items[-1] = self._successor(names[0], facts[-1]) | {"supersedes": names}
        response = self._send("POST", "/v1/memories/batch", json={"items": items})
        assert response.status_code == 200, response.text
        for number, (fact, result) in enumerate(
            zip(facts, response.json()["results"], strict=True), start=1
        ):
            by_name = names if number == len(facts) else []
            self._agree_on(
                result.get("status", 200),
                result,
                lambda now, new, f=fact, n=by_name: self._stored(now, new, f, supersedes=n),
            )
        self.look(look)

    @rule(
        facts=FACTS,
        stated=st.sampled_from(["nothing", "nothing", "the last known time", "an earlier one"]),
        look=LOOK,
    )
    def import_versions(
        self, facts: list[dict[str, Any]], stated: str, look: dict[str, Any]
    ) -> None:
        """Without known times; or all with that of the last write, to be told apart by a microsecond each; or behind it, to be refused."""
        last = self.known[-1] if self.known else None
        behind = {
            "nothing": None,
            "the last known time": last,
            "an earlier one": last and last - MICROSECOND,
        }
        self._import(facts, [behind[stated]] * len(facts))
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
        said: dict[str, Any] = (
            {"never_true": True}
            if how == "never true"
            else {"at": how}
            if isinstance(how, datetime)
            else {}
        )
        if how == "delete":
            response = self._send("DELETE", f"/v1/memories/{version}")
        else:
            response = self._send("POST", f"/v1/memories/{version}/retract", json=_wire(said))
        self._agree(response, lambda now, _: self.oracle.retract(now, version, **said))
        self.look(look)

    @precondition(lambda self: self.known)
    @rule(
        old=WHICH,
        said=st.dictionaries(st.sampled_from(["start", "said_end"]), PAST | FUTURE, min_size=1)
        | st.just({"said_end": None}),
        look=LOOK,
    )
    def correct(self, old: int, said: dict[str, Any], look: dict[str, Any]) -> None:
        [version] = self._ids([old])
        words = {"start": "valid_from", "said_end": "valid_until"}
        response = self._send(
            "PATCH",
            f"/v1/memories/{version}",
            json=_wire({words[name]: time for name, time in said.items()}),
        )
        if response.status_code == 422 and len(said) == 2:
            assert said["said_end"] <= said["start"]
        self._agree(response, lambda now, _: self.oracle.amend(now, version, **said))
        self.look(look)

    # --- undoing ---------------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.known)
    @rule(which=WHICH, cascade=st.booleans(), insist=st.booleans(), look=LOOK)
    def undo(self, which: int, cascade: bool, insist: bool, look: dict[str, Any]) -> None:
        """Any operation, a revert included: with what was built on it, or refused where something was."""
        log = self._log()
        chosen = log[which % len(log)]
        listed = self._undo(chosen, cascade=cascade)
        if listed and cascade and not chosen["reverted_by"]:
            assert (chosen["operation"], listed[0]["operation"]) == ("REVERT", "REVERT")
        if listed and insist and not chosen["reverted_by"]:
            self._undo_first(chosen, listed)
        self.look(look)

    def _undo(self, chosen: dict[str, Any], *, cascade: bool = False) -> list[dict[str, Any]]:
        """Undo an operation, or return what the refusal lists: later operations that stand."""
        path = f"/v1/log/{chosen['id']}/revert"
        response = self._send("POST", path, json={"cascade": cascade})
        body = response.json()
        if response.status_code == 200:
            self._undone(body["reverted"])
            counted["REVERT"] += 1
            return []
        assert response.status_code == 409, body
        counted["REVERT refused"] += 1
        listed = [entry for entry in self._log() if entry["id"] in body["log_ids"]]
        assert listed
        assert all(entry["created_at"] > chosen["created_at"] for entry in listed)
        assert not any(entry["reverted_by"] for entry in listed)
        return listed

    def _undo_first(self, chosen: dict[str, Any], listed: list[dict[str, Any]]) -> None:
        """Undo what is listed, each after what its own refusal lists, until the call succeeds."""
        for _ in range(CIRCLE):
            if not listed:
                counted["REVERT at last"] += 1
                return
            self._undo_first(listed[0], self._undo(listed[0]))
            listed = self._undo(chosen)
        raise AssertionError("the refusals lead round in a circle")

    def teardown(self) -> None:
        """Undoing all of it leaves nothing on valid time, and every earlier known time as it was."""
        if not self.known:
            return
        before = list(self.known)
        response = self._send("POST", "/v1/reverts", json={"since": day(-400).isoformat()})
        assert response.status_code == 200, response.text
        self._undone(response.json()["reverted"])
        for as_of in (None, day(-15), day(15)):
            assert self._read("/v1/memories", as_of, None)["items"] == []
        for known_at in (before[-1], before[len(before) // 2]):
            self._compare_list(day(5), known_at, everything=True)
        self._compare_list(None, None, everything=True)

    def _undone(self, reverted: list[str]) -> None:
        log = {entry["id"]: entry for entry in self._log()}
        for log_id in reverted:
            entry = log[log_id]
            self.oracle.undo(
                self._advance(log[entry["reverted_by"]]["created_at"]), _time(entry["created_at"])
            )

    def _log(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self._send("GET", "/v1/log", params={"limit": 1000}).json()[
            "items"
        ]
        return entries

    # --- reading ---------------------------------------------------------------------------------------------------------------

    def look(self, look: dict[str, Any]) -> None:
        """Compares a list and one version or its chain: now, or at a point on both axes drawn from all that matter."""
        if not self.known:
            return
        as_of = None if look["now"] else self._moment(look["as_of"], days=True)
        known_at = None if look["now"] else self._moment(look["known_at"], days=False)
        [version] = self._ids([look["memory"]])
        self._compare_list(as_of, known_at, everything=look["everything"])
        if version not in self.oracle.claims(known_at):
            self._compare_unknown(version, as_of, known_at)
        elif look["chain"]:
            self._compare_chain(version, as_of, known_at)
        else:
            self._compare_version(version, as_of, known_at)

    def _moment(self, number: int, *, days: bool) -> datetime | None:
        """None, the start of a day, or a known time or its neighbours by a microsecond."""
        kind, pick = number % 4, number // 4
        if kind == 0:
            return None
        if kind == 1 and days:
            return day((-41, -30, -15, -5, 5, 15, 30, 81)[pick])
        return self.known[(pick * 5 + kind) % len(self.known)] + (pick % 3 - 1) * MICROSECOND

    def _compare_list(
        self, as_of: datetime | None, known_at: datetime | None, *, everything: bool
    ) -> None:
        page = self._read(
            "/v1/memories", as_of, known_at, include_superseded=everything, limit=1000
        )
        shown_as_of = _time(page["as_of"])
        expected = (
            set(self.oracle.claims(known_at))
            if everything
            else self.oracle.current(shown_as_of, known_at)
        )
        assert {m["id"]: _shown(m) for m in page["items"]} == self._shows(
            expected, shown_as_of, known_at
        )

    def _compare_unknown(
        self, version: str, as_of: datetime | None, known_at: datetime | None
    ) -> None:
        for path in (f"/v1/memories/{version}", f"/v1/memories/{version}/history"):
            assert self._send("GET", path, params=_point(as_of, known_at)).status_code == 404

    def _compare_version(
        self, version: str, as_of: datetime | None, known_at: datetime | None
    ) -> None:
        memory = self._read(f"/v1/memories/{version}", as_of, known_at)
        claim = self.oracle.claims(known_at)[version]
        told = (memory["content"], _time(memory["said_until"]), _time(memory["retracted_at"]))
        assert told == (claim.text, claim.said_end, claim.retracted)
        assert _shown(memory) == self.oracle.show(version, as_of or datetime.now(UTC), known_at)

    def _compare_chain(
        self, version: str, as_of: datetime | None, known_at: datetime | None
    ) -> None:
        claims = self.oracle.claims(known_at)
        chain = claims[version].chain
        history = self._read(f"/v1/memories/{version}/history", as_of, known_at)
        shown_as_of = _time(history["as_of"])
        followed = self.oracle.followed(version, known_at)
        holding = self.oracle.current(shown_as_of, known_at) & followed
        current = max(
            (claims[i] for i in holding),
            key=lambda c: (c.chain == chain, c.start, c.told, str(c.id)),
            default=None,
        )
        assert (history["chain_id"], history["current"]) == (chain, current and current.id)
        members = followed | self.oracle.preceding(version, known_at)
        assert {m["id"]: _shown(m) for m in history["versions"]} == self._shows(
            members, shown_as_of, known_at
        )
        assert [m["id"] for m in history["versions"]] == sorted(
            members, key=lambda i: (claims[i].start, claims[i].told, str(i))
        )
        successors = {i: self.oracle.successor(claims[i], known_at) for i in members}
        assert {(joint["superseded"], joint["by"]) for joint in history["joints"]} == {
            (i, s)
            for i, s in successors.items()
            if s in members and claims[s].chain != claims[i].chain
        }

    def _shows(
        self, versions: set[Any], as_of: datetime, known_at: datetime | None
    ) -> dict[Any, Shown]:
        return {version: self.oracle.show(version, as_of, known_at) for version in versions}

    # --- inside ----------------------------------------------------------------------------------------------------------------

    def _stored(
        self,
        now: datetime,
        new: str,
        fact: dict[str, Any],
        *,
        classify: bool = True,
        supersedes: Sequence[str] = (),
    ) -> Answer:
        span = {"start": fact["start"], "until": _until(fact)}
        if supersedes:
            text = _text(self.oracle.claims()[supersedes[0]].slot, fact["word"])
            return self.oracle.supersede(now, new, supersedes, text, **span)
        return self.oracle.store(
            now,
            new,
            _text(fact["slot"], fact["word"]),
            slot=fact["slot"],
            classify=classify,
            **span,
        )

    def _successor(self, of: str, fact: dict[str, Any]) -> dict[str, Any]:
        """A successor says nothing of its slot: it has that of the first it supersedes."""
        return {
            name: said
            for name, said in _body(fact | {"slot": self.oracle.claims()[of].slot}).items()
            if name not in ("category", "key")
        }

    def _import(self, facts: list[dict[str, Any]], stated: list[datetime | None]) -> None:
        """Every line is kept or none is."""
        lines = [
            _body(fact) | _wire({"created_at": known_at})
            for fact, known_at in zip(facts, stated, strict=True)
        ]
        response = self._send(
            "POST", "/v1/import", headers=NDJSON, content="\n".join(map(json.dumps, lines))
        )
        counted["import"] += 1
        if not all(map(self._importable, facts, stated)):
            assert response.status_code == 422, response.text
            return
        assert response.status_code == 200, response.text
        for fact, known_at, line in zip(
            facts, stated, map(json.loads, response.text.splitlines()), strict=True
        ):
            last = self.known[-1] if self.known else day(-1000)
            now = self._advance(line["known_at"])
            assert known_at is None or now == max(known_at, last + MICROSECOND)
            text = _text(fact["slot"], fact["word"])
            answer = self.oracle.bring(
                now, line["id"], text, slot=fact["slot"], start=fact["start"], until=_until(fact)
            )
            assert answer == Answer("ADD", line["id"], [])
            assert line["chain_id"] == self.oracle.claims()[line["id"]].chain

    def _importable(self, fact: dict[str, Any], known_at: datetime | None) -> bool:
        start, until = fact["start"] or known_at or datetime.now(UTC), _until(fact)
        behind = known_at is not None and self.known and known_at < self.known[-1]
        return not behind and (until is None or until > start)

    def _agree(self, response: httpx.Response, tell: Callable[[datetime, Any], Answer]) -> None:
        self._agree_on(response.status_code, response.json(), tell)

    def _agree_on(
        self, status: int, body: dict[str, Any], tell: Callable[[datetime, Any], Answer]
    ) -> None:
        """What the service did or refused, the oracle does or refuses, for the same reason."""
        if status in (200, 201):
            self._agree_on_answer(body, tell)
            return
        counted[f"refused {status}"] += 1
        soon = max([datetime.now(UTC), *(known + MICROSECOND for known in self.known[-1:])])
        match _answer_or_refusal(tell, soon, "nothing new"):
            case Nonsense():
                assert status == 422, body
            case Refused(ids=ids):
                assert (status, body.get("memory_ids")) == (409, list(ids)), body
            case answer:
                raise AssertionError(
                    f"the service refuses what the oracle answers with {answer}: {body}"
                )

    def _agree_on_answer(
        self, body: dict[str, Any], tell: Callable[[datetime, Any], Answer]
    ) -> None:
        before = self._shows(set(self.oracle.claims()), TODAY, None)
        now, target = self._advance(body["known_at"]), body["memory"] and body["memory"]["id"]
        answer = _answer_or_refusal(tell, now, target)
        assert (body["operation"], target, list_ended(body)) == answer
        counted[body["operation"]] += 1
        after = {i: self.oracle.show(i, TODAY) for i in before}
        moved = {i for i in before if before[i].interval != after[i].interval}
        assert set(body["adjusted"]) == moved - {target, *list_ended(body)}

    def _advance(self, known_at: str) -> datetime:
        """Known time strictly increases."""
        now = _time(known_at)
        assert not self.known or now > self.known[-1]
        self.known.append(now)
        return now

    def _ids(self, numbers: list[int]) -> list[str]:
        ids: list[Any] = list(self.oracle.claims())
        return [ids[number % len(ids)] for number in numbers] if ids else []

    def _send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, **request: Any
    ) -> httpx.Response:
        sent = {**self.agent, **(headers or {})}
        return self.http.request(method, path, headers=sent, **request)

    def _read(
        self, path: str, as_of: datetime | None, known_at: datetime | None, **more: Any
    ) -> dict[str, Any]:
        response = self._send("GET", path, params=_point(as_of, known_at) | more)
        assert response.status_code == 200, response.text
        counted["reads"] += 1
        answer: dict[str, Any] = response.json()
        return answer


def _answer_or_refusal(
    tell: Callable[[datetime, Any], Answer], now: datetime, new: Any
) -> Answer | Nonsense | Refused:
    try:
        return tell(now, new)
    except (Nonsense, Refused) as refusal:
        return refusal


def _text(slot: str | None, word: str) -> str:
    return f"{slot or 'likes'}: {word}"


def _until(fact: dict[str, Any]) -> datetime | None:
    return None if fact["days"] is None else (fact["start"] or TODAY) + timedelta(days=fact["days"])


def _body(fact: dict[str, Any]) -> dict[str, Any]:
    slot = fact["slot"]
    about = {"category": "tooling", "key": slot, "value": fact["word"]} if slot else {}
    return {
        "content": _text(slot, fact["word"]),
        **about,
        **_wire({"valid_from": fact["start"], "valid_until": _until(fact)}),
    }


def _wire(said: dict[str, Any]) -> dict[str, Any]:
    """Times as text."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in said.items()
    }


def _point(as_of: datetime | None, known_at: datetime | None) -> dict[str, Any]:
    return {
        name: time.isoformat() for name, time in (("as_of", as_of), ("known_at", known_at)) if time
    }


def _time(text: str | None) -> Any:
    return None if text is None else datetime.fromisoformat(text)


def _shown(memory: dict[str, Any]) -> Shown:
    return Shown(
        memory["status"],
        _time(memory["valid_from"]),
        _time(memory["valid_until"]),
        memory["superseded_by"],
        memory["chain_id"],
        tuple(_time(cover[name]) for cover in memory["covered"] for name in ("since", "until")),
    )


class Blind:
    """An embedder to which all texts are one: meaning has no say in time, and histories are told faster without it."""

    name, dimensions = "blind", 2

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.array([1, 0], dtype=np.float32), (len(texts), 1))


@pytest.mark.slow
def test_every_history_reads_as_the_oracle_tells_it(database_url: str) -> None:
    counted.clear()
    profile = settings(
        max_examples=HISTORIES,
        stateful_step_count=STEPS,
        derandomize=not DEEP,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    with (
        running(load_settings(database_url=database_url, max_candidates=0), Blind()) as service,
        httpx.Client(base_url=service, timeout=60) as client,
    ):
        run_state_machine_as_test(lambda: Histories(client), settings=profile)
    told = {"ADD", "UPDATE", "DELETE", "SUPERSEDE", "NOOP", "AMEND", "REVERT", "REVERT refused"}
    told |= {"refused 409", "refused 422", "import", "reads", "REVERT at last"}
    assert told <= counted.keys(), "every operation was told"
    if DEEP:
        writes = counted.total() - counted["reads"]
        print(
            f"\n{HISTORIES} histories: {writes} writes and {counted['reads']} reads agree: {dict(counted)}"
        )
