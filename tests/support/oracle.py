"""The time rules of DESIGN §2 as a small program of their own: slow, obvious, and without anything of `app`.

A history is a stack of pictures. A picture holds what is claimed of every version; a write never changes a picture, it lays
a new one on top, dated with its known time. "As known at K" is the uppermost picture not dated after K. What holds is asked
point by point: of the versions of a chain that have started by then, the last one holds, unless it is said to be over.

`tests/planning/test_oracle.py` compares it with the planner and, where that is at hand, with the normative program.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any, NamedTuple

MAX_CLOSURES = 3


class Refused(Exception):
    """The call contradicts what is stored (409); `ids` are what stands in its way."""

    def __init__(self, *ids: Hashable) -> None:
        super().__init__(*ids)
        self.ids = ids


class ClosesRing(Refused):
    """The successor of a call was superseded by what it should supersede; `ids` are those between."""


class Nonsense(Exception):
    """The call contradicts itself (422)."""


@dataclass(frozen=True)
class Claim:
    """What is claimed of one version. `told` is when its start was claimed, `successor` one declared in another chain.

    A `temporary` one was stored with a stated end: what came before it holds again afterwards.
    """

    id: Hashable
    chain: Hashable
    text: str
    slot: str | None
    start: datetime
    told: datetime
    said_end: datetime | None = None
    retracted: datetime | None = None
    withdrawn: bool = False
    temporary: bool = False
    successor: Hashable | None = None

    def over(self, at: datetime) -> bool:
        return any(end is not None and end <= at for end in (self.said_end, self.retracted))


class Answer(NamedTuple):
    operation: str
    target: Hashable | None
    ended: list[Hashable]


class Shown(NamedTuple):
    """A version as a read shows it."""

    status: str
    start: datetime
    end: datetime | None
    successor: Hashable | None
    chain: Hashable
    covered: tuple[datetime, ...] = ()

    @property
    def interval(self) -> tuple[Any, ...]:
        return self.start, self.end, self.covered


class Oracle:
    def __init__(self) -> None:
        self._pictures: list[tuple[datetime, dict[Hashable, Claim]]] = []

    # --- reading -----------------------------------------------------------------------------------------------------------

    def claims(self, known_at: datetime | None = None) -> dict[Hashable, Claim]:
        """What was claimed of every version known at `known_at` (None: all that is known), in the order they became known."""
        return next(
            (
                picture
                for known, picture in reversed(self._pictures)
                if known_at is None or known <= known_at
            ),
            {},
        )

    def line(self, chain: Hashable, known_at: datetime | None = None) -> list[Claim]:
        """A chain without what was withdrawn: later starts come later, and of equal starts the one told later."""
        counted = (
            c for c in self.claims(known_at).values() if c.chain == chain and not c.withdrawn
        )
        return sorted(counted, key=lambda c: (c.start, c.told))

    def holding(
        self, chain: Hashable, at: datetime, known_at: datetime | None = None
    ) -> Claim | None:
        """The last to have started by then. If it is over, there is a gap; if it was temporary, what came before it comes back."""
        return _holding(self.line(chain, known_at), at)

    def current(self, as_of: datetime, known_at: datetime | None = None) -> set[Hashable]:
        chains = {c.chain for c in self.claims(known_at).values()}
        return {held.id for chain in chains if (held := self.holding(chain, as_of, known_at))}

    def times(
        self, claim: Claim, known_at: datetime | None = None
    ) -> list[tuple[datetime, datetime | None]]:
        """The times from its start on in which it holds: only a start, a stated end or a retraction can begin or end one."""
        line = self.line(claim.chain, known_at)
        told = {t for c in line for t in (c.start, c.said_end, c.retracted) if t is not None}
        moments = sorted(t for t in told | {claim.start} if t >= claim.start)
        times: list[tuple[datetime, datetime | None]] = []
        for moment, following in zip_longest(moments, moments[1:]):
            if _holding(line, moment) != claim:
                continue
            start = times.pop()[0] if times and times[-1][1] == moment else moment
            times.append((start, following))
        return times

    def end(self, claim: Claim, known_at: datetime | None = None) -> datetime | None:
        """The moment from which on it holds no more; its start, if it never holds."""
        times = self.times(claim, known_at)
        return times[-1][1] if times else claim.start

    def covered(self, claim: Claim, known_at: datetime | None = None) -> tuple[datetime, ...]:
        """The moments at which it is covered and at which it holds again, in turn."""
        times = self.times(claim, known_at)
        moments = [t for time in times for t in time][:-1]
        if not times or times[0][0] == claim.start:
            return tuple(moments[1:])
        return (claim.start, *moments)

    def successor(self, claim: Claim, known_at: datetime | None = None) -> Hashable | None:
        """Who takes over at its end: the first that begins then, where nothing ends it before; else the one it was retracted in favour of."""
        if claim.withdrawn:
            return claim.successor
        line = self.line(claim.chain, known_at)
        end = self.end(claim, known_at)
        ends = [t for t in (claim.said_end, claim.retracted) if t is not None]
        if end is not None and all(end <= t for t in ends):
            for later in line[line.index(claim) + 1 :]:
                if later.start == end and not (later.temporary and later.over(end)):
                    return later.id
        return claim.successor if ends and claim.retracted == min(ends) else None

    def followed(self, version: Hashable, known_at: datetime | None = None) -> set[Hashable]:
        """Its chain, and what took over in other chains: a successor, what comes after it in its chain, and so on."""
        claims = self.claims(known_at)
        reached = self._chain_of(claims[version], known_at)
        while True:
            named = [(i, self.successor(claims[i], known_at)) for i in reached]
            entered = [claims[s] for i, s in named if s and claims[s].chain != claims[i].chain]
            more = {
                c.id
                for c in claims.values()
                for entry in entered
                if c.chain == entry.chain and (c.start, c.told) >= (entry.start, entry.told)
            }
            if more <= reached:
                return reached
            reached |= more

    def preceding(self, version: Hashable, known_at: datetime | None = None) -> set[Hashable]:
        """Its chain, and of other chains what they took over from, up to there."""
        claims = self.claims(known_at)
        successors = {i: self.successor(c, known_at) for i, c in claims.items()}
        reached = self._chain_of(claims[version], known_at)
        while True:
            left = [
                claims[i]
                for i, s in successors.items()
                if s in reached and claims[s].chain != claims[i].chain
            ]
            more = {
                c.id
                for c in claims.values()
                for end in left
                if c.chain == end.chain and (c.start, c.told) <= (end.start, end.told)
            }
            if more <= reached:
                return reached
            reached |= more

    def _chain_of(self, claim: Claim, known_at: datetime | None) -> set[Hashable]:
        return {c.id for c in self.claims(known_at).values() if c.chain == claim.chain}

    def show(self, version: Hashable, as_of: datetime, known_at: datetime | None = None) -> Shown:
        claim = self.claims(known_at)[version]
        successor, end = self.successor(claim, known_at), self.end(claim, known_at)
        covered = () if claim.withdrawn else self.covered(claim, known_at)
        status = self._status(claim, as_of, end, successor)
        if status == "current" and bisect_right(covered, as_of) % 2:
            status = "covered"
        return Shown(status, claim.start, end, successor, claim.chain, covered)

    def _status(
        self, claim: Claim, as_of: datetime, end: datetime | None, successor: Hashable | None
    ) -> str:
        if claim.withdrawn:
            return "reverted"
        if as_of < claim.start:
            return "scheduled"
        if end is None or as_of < end:
            return "current"
        if successor is not None:
            return "superseded"
        ends = [t for t in (claim.said_end, claim.retracted) if t is not None]
        return "retracted" if claim.retracted == min(ends) else "expired"

    # --- writing: what is refused leaves nothing behind ------------------------------------------------------------------------

    def store(
        self,
        now: datetime,
        new: Hashable,
        text: str,
        *,
        slot: str | None = None,
        start: datetime | None = None,
        until: datetime | None = None,
        classify: bool = True,
    ) -> Answer:
        """With a slot, the fact takes its place in the slot's oldest chain; else only its text is compared."""
        start = _start(now, start, until)
        chains = self._chains_of(slot) if classify and slot else []
        if chains:
            return self._store_in_slot(now, new, text, slot, chains, start, until)
        for stored in self.claims().values():
            held, following = self._around(stored.chain, start)
            told_alike = (
                stored.text == text
                and stored == (held or following)
                and not self._apart(stored, slot, start)
            )
            if told_alike and (known := self._known(now, stored, held, start, until)):
                return known
        return self._add(now, new, new, text, slot, start, until, temporary=until is not None)

    def _store_in_slot(
        self,
        now: datetime,
        new: Hashable,
        text: str,
        slot: str | None,
        chains: Sequence[Hashable],
        start: datetime,
        until: datetime | None,
    ) -> Answer:
        held, following = self._around(chains[0], start)
        for stored in (held, following):
            told_alike = stored and stored.text == text and not self._apart(stored, slot, start)
            if stored and told_alike and (known := self._known(now, stored, held, start, until)):
                return known
        if until is not None and held is None:
            repeated = (self.holding(chain, start) for chain in chains[1:])
            alike = next((other for other in repeated if other and other.text == text), None)
            if alike and (known := self._known(now, alike, alike, start, until)):
                return known
        lasting = next(
            (c for c in self.line(chains[0]) if c.start > start and not c.temporary), None
        )
        told_late = lasting is not None and lasting.start <= now
        resumes = held is not None and start in [began for began, _ in self.times(held)[1:]]
        ended = [held.id] if held and not told_late and not resumes else []
        new_claim = Claim(
            new, chains[0], text, slot, start, now, until, temporary=until is not None
        )
        if new_claim.temporary:
            self._claim(now, new_claim)
            end = self.end(held) if held else None
            stays = held is not None and (end is None or end > start)
            return Answer("ADD" if stays or not ended else "UPDATE", new, [] if stays else ended)
        others = [other for chain in chains[1:] if (other := self.holding(chain, start))][
            : MAX_CLOSURES - len(ended)
        ]
        closed = [
            replace(standing, retracted=start, successor=new)
            for other in others
            for standing in _standing(self.line(other.chain), start)
        ]
        self._claim(now, new_claim, *closed)
        ended += [other.id for other in others]
        return Answer("UPDATE" if ended else "ADD", new, ended)

    def _apart(self, stored: Claim, slot: str | None, start: datetime) -> bool:
        """Whether another value of the slot, which nobody compared with the stored one, begins between it and `start`."""
        others = [
            c
            for c in self.claims().values()
            if slot
            and slot == c.slot
            and c.chain != stored.chain
            and c.text != stored.text
            and not c.withdrawn
        ]
        standing = [c for c in others if self.end(c) != c.start]
        if stored.start <= start:
            return any(
                (stored.start, stored.told) < (c.start, c.told) and c.start <= start
                for c in standing
            )
        return any(
            (c.start, c.told) < (stored.start, stored.told) and c.start > start for c in standing
        )

    def _known(
        self,
        now: datetime,
        stored: Claim,
        held: Claim | None,
        start: datetime,
        until: datetime | None,
    ) -> Answer | None:
        """What is told of a version that says the same and holds at `start`, or comes next: nothing new, or other dates of it."""
        if stored == held:
            if until in (None, stored.said_end):
                return Answer("NOOP", stored.id, [])
            told = replace(stored, said_end=until)
            possible = stored.retracted is None
        else:
            told = replace(
                stored, start=start, told=now, said_end=stored.said_end if until is None else until
            )
            possible = self.end(stored) != stored.start and (until is None or until > stored.start)
        return self._amended(now, told) if possible else None

    def bring(
        self,
        now: datetime,
        new: Hashable,
        text: str,
        *,
        slot: str | None = None,
        start: datetime | None = None,
        until: datetime | None = None,
        temporary: bool = False,
    ) -> Answer:
        """A line of an import: one version as it is, in the chain of its slot where it has one."""
        chain = next(iter(self._chains_of(slot)), new) if slot else new
        start = _start(now, start, until)
        return self._add(now, new, chain, text, slot, start, until, temporary=temporary)

    def supersede(
        self,
        now: datetime,
        new: Hashable,
        olds: Sequence[Hashable],
        text: str,
        *,
        start: datetime | None = None,
        until: datetime | None = None,
    ) -> Answer:
        """New content in the place of `olds`, in the chain of the first."""
        named = [self.claims()[i] for i in dict.fromkeys(olds)]
        home = named[0]
        start = _start(max(now, *(old.start for old in named)), start, until)
        ended = []
        for old in named:
            if old.withdrawn:
                raise Refused(old.id)
            if old.start < start:
                self._must_hold(old, start)
            if old.chain != home.chain:
                ended.append(replace(old, retracted=start, successor=new))
            elif start <= old.start:
                self._must_be_free(start, old, {o.id for o in named})
                ended.append(replace(old, withdrawn=True, successor=new))
        self._claim(now, Claim(new, home.chain, text, home.slot, start, now, until), *ended)
        return Answer("UPDATE", new, [old.id for old in named])

    def succeed(self, now: datetime, old_id: Hashable, by_id: Hashable) -> Answer:
        """A stored version is declared the successor of one of another chain; both keep their chains.

        It must hold when it takes over, and must not have been superseded by that one, through others: else they
        could name each other in a ring, and nothing would hold.
        """
        old, by = self.claims()[old_id], self.claims()[by_id]
        for claim in (old, by):
            if claim.withdrawn:
                raise Refused(claim.id)
        if old.successor == by.id or (
            old.chain == by.chain and (old.start, old.told) < (by.start, by.told)
        ):
            return Answer("NOOP", by.id, [])
        if old.chain == by.chain:
            raise Refused(by.id)
        moment = max(old.start, by.start)
        self._must_hold(old, moment)
        if (held := self.holding(by.chain, moment)) != by:
            after = held.id if held else self.successor(by)
            raise Refused(*([after] if after else []))
        if old.id in (following := self._successors(by)):
            raise ClosesRing(*following[: following.index(old.id) + 1])
        self._claim(now, replace(old, retracted=by.start, successor=by.id))
        return Answer("SUPERSEDE", by.id, [old.id])

    def cover(self, now: datetime, stay_id: Hashable, home_id: Hashable) -> Answer:
        """A stay told apart is accepted over a home of another chain: it joins that chain, and so covers what stands there."""
        stay, home = self.claims()[stay_id], self.claims()[home_id]
        alone = [c for c in self.claims().values() if c.chain == stay.chain] == [stay]
        stands = self.show(home_id, stay.start).status in ("current", "covered")
        if not stay.temporary or stay.withdrawn or not alone or not stands:
            raise Refused(stay.id)
        self._claim(now, replace(stay, chain=home.chain))
        end = self.end(home)
        stays = end is None or end > stay.start
        return Answer("AMEND" if stays else "SUPERSEDE", stay.id, [] if stays else [home.id])

    def retract(
        self,
        now: datetime,
        version: Hashable,
        *,
        at: datetime | None = None,
        never_true: bool = False,
    ) -> Answer:
        """Ends a version and leaves a gap. What was never true, or is called off before it starts, is withdrawn instead."""
        claim = self.claims()[version]
        if claim.withdrawn:
            raise Refused(claim.id)
        if never_true or (at is None and now < claim.start):
            ended = replace(claim, withdrawn=True)
        else:
            self._must_hold(claim, at or now)
            ended = replace(claim, retracted=at or now)
        self._claim(now, ended)
        return Answer("DELETE", None, [version])

    def amend(self, now: datetime, version: Hashable, **said: datetime | None) -> Answer:
        """Another `start` (told now), another `said_end` (None: open), or both."""
        claim = self.claims()[version]
        if claim.withdrawn:
            raise Refused(claim.id)
        told: dict[str, Any] = {**said, "told": now} if "start" in said else {**said}
        changed = replace(claim, **told)
        _start(now, changed.start, changed.said_end)
        return self._amended(now, changed)

    def undo(self, now: datetime, done: datetime) -> None:
        """What the operation known at `done` claimed is claimed as before; what it told first is withdrawn."""
        before, after = self.claims(done - timedelta(microseconds=1)), self.claims(done)
        changed = {i for i in after if after[i] != before.get(i)}
        built_on = [(self.claims()[i], after[i]) for i in changed if self.claims()[i] != after[i]]
        assert not built_on, f"something was built on it: {built_on}"
        self._claim(
            now, *(before[i] if i in before else replace(after[i], withdrawn=True) for i in changed)
        )

    # --- inside ----------------------------------------------------------------------------------------------------------------

    def _chains_of(self, slot: str | None) -> list[Hashable]:
        """The chains about a slot, the oldest first. A chain is as old as the version that began it, after which it is named."""
        chains = {c.chain for c in self.claims().values() if c.slot == slot}
        return [version for version in self.claims() if version in chains]

    def _around(self, chain: Hashable, at: datetime) -> tuple[Claim | None, Claim | None]:
        """What holds then, and what starts next."""
        return self.holding(chain, at), next((c for c in self.line(chain) if c.start > at), None)

    def _must_hold(self, claim: Claim, at: datetime) -> None:
        if (held := self.holding(claim.chain, at)) != claim:
            raise Refused(*([held.id] if held else []))

    def _successors(self, claim: Claim) -> list[Hashable]:
        """Those declared its successors, one after the other."""
        following: list[Hashable] = []
        while claim.successor is not None and claim.successor not in following:
            following.append(claim.successor)
            claim = self.claims()[claim.successor]
        return following

    def _must_be_free(self, start: datetime, old: Claim, named: set[Hashable]) -> None:
        """A successor told to start before `old` must not skip others, unless they are empty where it starts."""
        between = [
            c for c in self.line(old.chain) if start <= c.start <= old.start and c.id not in named
        ]
        if in_the_way := [c.id for c in between if not (c.start == start == self.end(c))]:
            raise Refused(*in_the_way)

    def _add(
        self,
        now: datetime,
        new: Hashable,
        chain: Hashable,
        text: str,
        slot: str | None,
        start: datetime,
        until: datetime | None,
        *,
        temporary: bool = False,
    ) -> Answer:
        self._claim(now, Claim(new, chain, text, slot, start, now, until, temporary=temporary))
        return Answer("ADD", new, [])

    def _amended(self, now: datetime, claim: Claim) -> Answer:
        self._claim(now, claim)
        return Answer("AMEND", claim.id, [])

    def _claim(self, now: datetime, *claims: Claim) -> None:
        assert not self._pictures or now > self._pictures[-1][0], "known time strictly increases"
        self._pictures.append((now, {**self.claims(), **{c.id: c for c in claims}}))


def _holding(line: Sequence[Claim], at: datetime) -> Claim | None:
    return next(_standing(line, at), None)


def _standing(line: Sequence[Claim], at: datetime) -> Iterator[Claim]:
    """What holds then, and what would hold in turn if that were over."""
    for claim in reversed([c for c in line if c.start <= at]):
        if not claim.over(at):
            yield claim
        if not claim.temporary:
            return


def _start(default: datetime, given: datetime | None, until: datetime | None) -> datetime:
    start = default if given is None else given
    if until is not None and until <= start:
        raise Nonsense
    return start
