"""The operations of the service for Client.

Written by scripts/generate_client.py from the OpenAPI document; do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from palimpsest_client.pages import Pages
from palimpsest_client.requests import UNSET, Request, make_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from palimpsest_client.exports import Export
    from palimpsest_client.models import (
        ActorOut,
        AgentOut,
        AgentsAnswer,
        AnswerItem,
        AnswersAnswer,
        BatchAnswer,
        BeliefsAnswer,
        CaptureAnswer,
        CapturesAnswer,
        CaptureState,
        Classify,
        ContextAnswer,
        DecideAnswer,
        DeliveryOut,
        DoctorAnswer,
        EndAnswer,
        ErasureAnswer,
        EventsAnswer,
        ExtractBy,
        Health,
        HistoryAnswer,
        InsightsAnswer,
        IssuedKeyOut,
        Judge,
        KeyOut,
        KeysAnswer,
        Kind,
        Lifespan,
        LinkAnswer,
        LinkType,
        ListAnswer,
        ListedCapture,
        LogAnswer,
        LogEntryOut,
        MemoryOut,
        MessageRequest,
        Mode,
        NewWebhookOut,
        Operation,
        Ready,
        Relation,
        RelationshipOut,
        RelationshipsAnswer,
        RevertAnswer,
        RevertsAnswer,
        ReviewDetailOut,
        ReviewFilterFields,
        ReviewOut,
        ReviewsAnswer,
        ReviewSource,
        ReviewStatus,
        Scope,
        SearchAnswer,
        Section,
        ShadowReport,
        SlotRequest,
        StatsOut,
        StoreAnswer,
        StoreRequest,
        SweepOut,
        SweepsAnswer,
        SweepSummary,
        Tier,
        Version,
        View,
        WebhookOut,
        WebhooksAnswer,
        WebhookWithDeliveriesOut,
        WhyAnswer,
        WriteAnswer,
    )
    from palimpsest_client.requests import Id, Time, Unset


class Operations:
    """A method for each operation of the service."""

    def _call(self, request: Request) -> Any:
        raise NotImplementedError

    def _export(self, request: Request) -> Export:
        raise NotImplementedError

    def _import(
        self, request: Request, lines: Iterable[Mapping[str, Any] | bytes]
    ) -> list[dict[str, Any]]:
        raise NotImplementedError

    def store(
        self,
        content: str,
        *,
        view: View | str | None = None,
        kind: Kind | str | None = None,
        entity: str | None = None,
        category: str | None = None,
        key: str | None = None,
        value: str | None = None,
        single_valued: bool | None = None,
        details: Mapping[str, Any] | None = None,
        tier: Tier | str | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        tags: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        source: str | None = None,
        session_id: str | None = None,
        project: str | None = None,
        trust: int | None = None,
        lifespan: Lifespan | str | None = None,
        said_at: Time | None = None,
        valid_from: Time | None = None,
        valid_until: Time | None = None,
        supersedes: Sequence[Id] | None = None,
        classify: bool | Classify | str | None = None,
        read_dates: bool | None = None,
        split: Literal["auto", "off"] | str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> StoreAnswer:
        """Store one fact in plain words. It is compared with what is known: what is known already
        is a NOOP, a change ends what it replaces, and what is not sure waits as a review.
        Another value of the same `key` supersedes the old one. With `split: auto`, a text that
        plainly states several facts is stored as its `parts`, all of them or none.

        Args:
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            content: The fact in words.
            kind: Default `fact`.
            entity: Who or what it is about. Default `user`.
            category: The area of the key, such as `tooling`; part of the slot (entity,
                category, key), which holds one value at a time. Empty: none.
            key: Which attribute. A key holds one value at a time unless `single_valued` is
                false.
            value: The value of the key, such as `Helix`, apart from the sentence.
            single_valued: Whether its slot holds one value at a time; null: as the key says.
            details: Free JSON: at most 2000 values, nested at most 8 deep, with integers of at
                most 30 digits and texts of at most 16000 characters, none of them NUL. Of a
                decision: rationale, alternatives, related_files.
            tier: `core` keeps a floor under its strength; `semantic` fades.
            importance: 0 to 1. Default 0.5.
            confidence: 0 to 1. Default 1.
            tags: Words of your own, to filter by.
            entities: Names that the fact mentions.
            sources: All that it rests on: documents, addresses, ids of your own.
            source: Where it comes from, such as a file or a tool.
            session_id: The session (conversation) in which it was said.
            project: The project it belongs to, by name.
            trust: 0 to 100. Default 50.
            lifespan: Whether it ends with its session or with its project. Default `permanent`:
                with neither.
            said_at: When the words were spoken. Relative dates count from it. Default: now.
            valid_from: When it became true in the world. Default: what its words say, else
                `said_at`.
            valid_until: A stated end. Default: what its words say.
            supersedes: The memory, or memories, that it replaces.
            classify: Which judges are asked; false: none but exact-duplicate detection; true or
                left out: as configured.
            read_dates: Whether the words are read for dates, which set `valid_from` and
                `valid_until` if the request does not. Default: true, but false with `classify:
                false`.
            split: auto: a text of several facts is stored as its parts, each a fact with the
                other fields of the request, and all with one `said_in`. With `key`, `value` or
                `supersedes` it stays whole. Default: off.
            dry_run: true: answer with what would be done and write nothing.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: StoreAnswer = self._call(
            Request(
                "POST",
                "/v1/memories",
                query={"view": view},
                body={
                    "content": content,
                    "kind": kind,
                    "entity": entity,
                    "category": category,
                    "key": key,
                    "value": value,
                    "single_valued": single_valued,
                    "details": details,
                    "tier": tier,
                    "importance": importance,
                    "confidence": confidence,
                    "tags": tags,
                    "entities": entities,
                    "sources": sources,
                    "source": source,
                    "session_id": session_id,
                    "project": project,
                    "trust": trust,
                    "lifespan": lifespan,
                    "said_at": said_at,
                    "valid_from": valid_from,
                    "valid_until": valid_until,
                    "supersedes": supersedes,
                    "classify": classify,
                    "read_dates": read_dates,
                    "split": split,
                    "dry_run": dry_run,
                },
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def list_memories(
        self,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
        view: View | str | None = None,
        details: str | None = None,
        include_superseded: bool | None = None,
        ids: Sequence[Id] | None = None,
        sort: Literal["created", "strength"] | str | None = None,
        stale: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        exact: bool | None = None,
        kind: Kind | str | None = None,
        entity: str | None = None,
        category: str | None = None,
        key: str | None = None,
        session_id: str | None = None,
        project: str | None = None,
        said_in: Id | None = None,
        tags_any: Sequence[str] | None = None,
        tags_all: Sequence[str] | None = None,
        min_importance: float | None = None,
    ) -> Pages[ListAnswer, MemoryOut]:
        """List what holds, newest known or strongest first. By kind, slot, tags or session, at any
        point on both axes. Only a null `next_cursor` says that a list ends. A page of a large
        agent, which has an index, looks at no more than 10,000 memories. If few of them pass
        the filters, it has fewer than `limit`, maybe none, and the next page goes on behind
        those.

        Args:
            as_of: What was true at that time. Default: now.
            known_at: As far as was known at that time. Default: all that is known.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            details: Only memories whose `details` hold all of this, nested too; of a list, some
                of its values. As JSON: `{"ticket": 7}`.
            include_superseded: Every version, not only what holds.
            ids: Only these memories; repeat it for each, up to 200 times.
            sort: Newest known first, or strongest first. Default: created.
            stale: true: only what rests on a memory that has ended (`stale_because`); false:
                the others.
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
            exact: Look at every memory until the page is full, and sort by the strengths of
                now, even if the agent has an index. An agent without one is always listed like
                that.
            kind: What sort of statement: fact, preference, decision or constraint.
            entity: Who or what it is about, such as `user`; part of the slot (entity, category,
                key), which holds one value at a time.
            category: The area of the key, such as `tooling`; part of the slot (entity,
                category, key), which holds one value at a time. Empty: none.
            key: Which attribute, such as `editor`; part of the slot (entity, category, key),
                which holds one value at a time.
            session_id: The session (conversation) in which it was said.
            project: The project it belongs to, by name.
            said_in: The facts that were split from one sentence.
            tags_any: Only memories with at least one of these tags.
            tags_all: Only memories with all of these tags.
            min_importance: Only memories of at least this importance, 0 to 1.
        """
        return Pages(
            self._call,
            Request(
                "GET",
                "/v1/memories",
                query={
                    "as_of": as_of,
                    "known_at": known_at,
                    "view": view,
                    "details": details,
                    "include_superseded": include_superseded,
                    "ids": ids,
                    "sort": sort,
                    "stale": stale,
                    "limit": limit,
                    "cursor": cursor,
                    "exact": exact,
                    "kind": kind,
                    "entity": entity,
                    "category": category,
                    "key": key,
                    "session_id": session_id,
                    "project": project,
                    "said_in": said_in,
                    "tags_any": tags_any,
                    "tags_all": tags_all,
                    "min_importance": min_importance,
                },
                is_read=True,
            ),
            "items",
        )

    def store_batch(
        self,
        items: Sequence[StoreRequest],
        *,
        view: View | str | None = None,
        atomic: bool | None = None,
        history: bool | None = None,
        idempotency_key: str | None = None,
    ) -> BatchAnswer:
        """Store up to 1,000 facts in order, in one transaction. A bad item fails alone, or all do
        with `atomic`. `waiting` says at the top of the answer how many changes were not made
        and wait for a decision, and why.

        Args:
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            items: The entries of this page.
            atomic: true: one bad item refuses the whole batch. Default: a bad item fails alone.
            history: The items are a history that the caller vouches for: judges may end as many
                memories as they find, and these endings do not count against
                `PALIMPSEST_MAX_CLOSURES_PER_HOUR`. The key needs a trust ceiling of 100.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: BatchAnswer = self._call(
            Request(
                "POST",
                "/v1/memories/batch",
                query={"view": view},
                body={"items": items, "atomic": atomic, "history": history},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def get_memory(
        self,
        memory_id: Id,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
        view: View | str | None = None,
    ) -> MemoryOut:
        """Read one version with its status at that moment. 404 where it was not known yet.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            as_of: What was true at that time. Default: now.
            known_at: As far as was known at that time. Default: all that is known.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
        """
        answer: MemoryOut = self._call(
            Request(
                "GET",
                "/v1/memories/{}",
                path=(memory_id,),
                query={"as_of": as_of, "known_at": known_at, "view": view},
                is_read=True,
            )
        )
        return answer

    def amend(
        self,
        memory_id: Id,
        *,
        view: View | str | None = None,
        valid_from: Time | Unset = UNSET,
        valid_until: Time | Unset | None = UNSET,
        tier: Tier | str | Unset = UNSET,
        importance: float | Unset = UNSET,
        confidence: float | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        entities: Sequence[str] | Unset = UNSET,
        sources: Sequence[str] | Unset = UNSET,
        source: str | Unset | None = UNSET,
        session_id: str | Unset | None = UNSET,
        project: str | Unset | None = UNSET,
        trust: int | Unset = UNSET,
        lifespan: Lifespan | str | Unset = UNSET,
        details: Mapping[str, Any] | Unset = UNSET,
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> WriteAnswer:
        """Correct metadata, `valid_from` or the stated end, never content.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            valid_from: When it became true in the world.
            valid_until: When it stopped being true, or will; null: it holds until further
                notice.
            tier: `core` keeps a floor under its strength; `semantic` fades.
            importance: How much it matters, 0 to 1.
            confidence: How sure it is, 0 to 1.
            tags: Words of your own, to filter by.
            entities: Names that the fact mentions.
            sources: All that it rests on: documents, addresses, ids of your own.
            source: Where it comes from, such as a file or a tool.
            session_id: The session (conversation) in which it was said.
            project: The project it belongs to, by name.
            trust: How far its source is trusted, 0 to 100. Less trust ends nothing stated with
                more.
            lifespan: Whether it ends with its session, with its project, or with neither.
            details: Free JSON: at most 2000 values, nested at most 8 deep, with integers of at
                most 30 digits and texts of at most 16000 characters, none of them NUL.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
            if_match: ETag of the version this call was decided on; 412 when it has changed.
        """
        answer: WriteAnswer = self._call(
            Request(
                "PATCH",
                "/v1/memories/{}",
                path=(memory_id,),
                query={"view": view},
                body={
                    "valid_from": valid_from,
                    "valid_until": valid_until,
                    "tier": tier,
                    "importance": importance,
                    "confidence": confidence,
                    "tags": tags,
                    "entities": entities,
                    "sources": sources,
                    "source": source,
                    "session_id": session_id,
                    "project": project,
                    "trust": trust,
                    "lifespan": lifespan,
                    "details": details,
                },
                keeps_null=True,
                idempotency_key=idempotency_key or make_key(),
                if_match=if_match,
            )
        )
        return answer

    def delete(
        self,
        memory_id: Id,
        *,
        erase: bool | None = None,
        cascade: bool | None = None,
        view: View | str | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> WriteAnswer | ErasureAnswer:
        """Retract a memory as of now, or erase it. History and as-of reads still show what was
        retracted. With `erase=true` its bytes go, and a receipt answers; the key then needs
        `erase` too.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            erase: true: erase its text, vector and hashes everywhere. This cannot be undone.
            cascade: With erase: erase also what its text was merged into.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
            if_match: ETag of the version this call was decided on; 412 when it has changed.
        """
        answer: WriteAnswer | ErasureAnswer = self._call(
            Request(
                "DELETE",
                "/v1/memories/{}",
                path=(memory_id,),
                query={"erase": erase, "cascade": cascade, "view": view},
                idempotency_key=idempotency_key or make_key(),
                if_match=if_match,
            )
        )
        return answer

    def history(
        self,
        memory_id: Id,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
        view: View | str | None = None,
        cursor: str | None = None,
    ) -> Pages[HistoryAnswer, MemoryOut]:
        """Read all versions of a fact, from any of them. Oldest first, which one is current, and
        the operations. It follows supersessions into other chains, backwards and forwards, and
        `joints` says where. A history of more than 1,000 versions or operations, or of too many
        bytes, goes on behind `next_cursor`. It reaches at most 10,000 other chains in each
        direction.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            as_of: What was true at that time. Default: now.
            known_at: As far as was known at that time. Default: all that is known.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            cursor: Begin at the page that this `next_cursor` of another one names.
        """
        return Pages(
            self._call,
            Request(
                "GET",
                "/v1/memories/{}/history",
                path=(memory_id,),
                query={"as_of": as_of, "known_at": known_at, "view": view, "cursor": cursor},
                is_read=True,
            ),
            "versions",
        )

    def supersede(
        self,
        memory_id: Id,
        *,
        view: View | str | None = None,
        content: str | None = None,
        kind: Kind | str | None = None,
        entity: str | None = None,
        category: str | None = None,
        key: str | None = None,
        value: str | None = None,
        single_valued: bool | None = None,
        details: Mapping[str, Any] | None = None,
        tier: Tier | str | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        tags: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        source: str | None = None,
        session_id: str | None = None,
        project: str | None = None,
        trust: int | None = None,
        lifespan: Lifespan | str | None = None,
        said_at: Time | None = None,
        valid_from: Time | None = None,
        valid_until: Time | None = None,
        by: Id | None = None,
        read_dates: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> WriteAnswer:
        """Replace a memory by new content, or by a stored memory (`by`).

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            content: The fact in words.
            kind: Default `fact`.
            entity: Who or what it is about. Default `user`.
            category: The area of the key, such as `tooling`; part of the slot (entity,
                category, key), which holds one value at a time. Empty: none.
            key: Which attribute. A key holds one value at a time unless `single_valued` is
                false.
            value: The value of the key, such as `Helix`, apart from the sentence.
            single_valued: Whether its slot holds one value at a time; null: as the key says.
            details: Free JSON: at most 2000 values, nested at most 8 deep, with integers of at
                most 30 digits and texts of at most 16000 characters, none of them NUL. Of a
                decision: rationale, alternatives, related_files.
            tier: `core` keeps a floor under its strength; `semantic` fades.
            importance: 0 to 1. Default 0.5.
            confidence: 0 to 1. Default 1.
            tags: Words of your own, to filter by.
            entities: Names that the fact mentions.
            sources: All that it rests on: documents, addresses, ids of your own.
            source: Where it comes from, such as a file or a tool.
            session_id: The session (conversation) in which it was said.
            project: The project it belongs to, by name.
            trust: 0 to 100. Default 50.
            lifespan: Whether it ends with its session or with its project. Default `permanent`:
                with neither.
            said_at: When the words were spoken. Relative dates count from it. Default: now.
            valid_from: When it became true in the world. Default: what its words say, else
                `said_at`.
            valid_until: A stated end. Default: what its words say.
            by: The id of a stored memory that takes its place, instead of new `content`.
            read_dates: Whether the words are read for dates, which set `valid_from` and
                `valid_until` if the request does not. Default: True.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
            if_match: ETag of the version this call was decided on; 412 when it has changed.
        """
        answer: WriteAnswer = self._call(
            Request(
                "POST",
                "/v1/memories/{}/supersede",
                path=(memory_id,),
                query={"view": view},
                body={
                    "content": content,
                    "kind": kind,
                    "entity": entity,
                    "category": category,
                    "key": key,
                    "value": value,
                    "single_valued": single_valued,
                    "details": details,
                    "tier": tier,
                    "importance": importance,
                    "confidence": confidence,
                    "tags": tags,
                    "entities": entities,
                    "sources": sources,
                    "source": source,
                    "session_id": session_id,
                    "project": project,
                    "trust": trust,
                    "lifespan": lifespan,
                    "said_at": said_at,
                    "valid_from": valid_from,
                    "valid_until": valid_until,
                    "by": by,
                    "read_dates": read_dates,
                },
                idempotency_key=idempotency_key or make_key(),
                if_match=if_match,
            )
        )
        return answer

    def retract(
        self,
        memory_id: Id,
        *,
        view: View | str | None = None,
        at: Time | None = None,
        reason: str | None = None,
        never_true: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> WriteAnswer:
        """End a memory without a successor. It ends at a moment (default now), or was never true.
        Its history stays.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            at: When it stopped being true. Default: now.
            reason: Why, for people and for the log.
            never_true: true: it was never true; what it replaced holds again.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
            if_match: ETag of the version this call was decided on; 412 when it has changed.
        """
        answer: WriteAnswer = self._call(
            Request(
                "POST",
                "/v1/memories/{}/retract",
                path=(memory_id,),
                query={"view": view},
                body={"at": at, "reason": reason, "never_true": never_true},
                idempotency_key=idempotency_key or make_key(),
                if_match=if_match,
            )
        )
        return answer

    def why_memory(
        self, memory_id: Id, *, as_of: Time | None = None, known_at: Time | None = None
    ) -> WhyAnswer:
        """Tell the story of a memory: what it replaced and what replaced it, who decided and why,
        what was kept apart, reviews and reverts. At an earlier `known_at`, nothing that came
        later is told.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            as_of: What was true at that time. Default: now.
            known_at: As far as was known at that time. Default: all that is known.
        """
        answer: WhyAnswer = self._call(
            Request(
                "GET",
                "/v1/memories/{}/why",
                path=(memory_id,),
                query={"as_of": as_of, "known_at": known_at},
                is_read=True,
            )
        )
        return answer

    def beliefs(self, memory_id: Id) -> BeliefsAnswer:
        """Read all that was ever believed of a chain: what a picture of its past is drawn from, on
        both axes of time. At each known time it shows what the history does. A temporary memory
        may change chains; each chain shows the time that it stood there.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
        """
        answer: BeliefsAnswer = self._call(
            Request("GET", "/v1/memories/{}/beliefs", path=(memory_id,), is_read=True)
        )
        return answer

    def link(
        self,
        memory_id: Id,
        type: LinkType | str,
        target_id: Id,
        *,
        idempotency_key: str | None = None,
    ) -> LinkAnswer:
        """Link a memory to another. Nothing ends by it. When one of the two ends later, the other
        says so in `stale_because`, where the type is one of merged_into, expands, sequential,
        causes, enables, references.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            type: What the memory of the path is to the target.
            target_id: `id` of the other memory: paste one from the answer to a store, a list or
                a search.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: LinkAnswer = self._call(
            Request(
                "POST",
                "/v1/memories/{}/relationships",
                path=(memory_id,),
                body={"type": type, "target_id": target_id},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def relationships(
        self,
        memory_id: Id,
        *,
        known_at: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[RelationshipsAnswer, RelationshipOut]:
        """List the links of a memory, in both directions, latest first.

        Args:
            memory_id: `id` of a memory: paste one from the answer to a store, a list or a
                search.
            known_at: As far as was known at that time. Default: all that is known.
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
        """
        return Pages(
            self._call,
            Request(
                "GET",
                "/v1/memories/{}/relationships",
                path=(memory_id,),
                query={"known_at": known_at, "limit": limit, "cursor": cursor},
                is_read=True,
            ),
            "items",
        )

    def search(
        self,
        query: str,
        *,
        view: View | str | None = None,
        kind: Kind | str | None = None,
        entity: str | None = None,
        category: str | None = None,
        key: str | None = None,
        session_id: str | None = None,
        project: str | None = None,
        said_in: Id | None = None,
        tags_any: Sequence[str] | None = None,
        tags_all: Sequence[str] | None = None,
        min_importance: float | None = None,
        details: Mapping[str, Any] | None = None,
        limit: int | None = None,
        mode: Literal["hybrid", "vector", "text"] | str | None = None,
        min_score: float | None = None,
        focus: bool | None = None,
        include: Sequence[Literal["turns"]] | None = None,
        sort: Literal["score", "strength"] | str | None = None,
        as_of: Time | None = None,
        known_at: Time | None = None,
        include_superseded: bool | None = None,
        exact: bool | None = None,
        read_dates: bool | None = None,
    ) -> SearchAnswer:
        """Search memories, best match first. It finds min(limit, live) of them, unless `min_score`
        cuts some off. Mode `text` has those that share a word with the query. A `score` is the
        chance that the memory answers, beside the others that may.

        Args:
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            kind: What sort of statement: fact, preference, decision or constraint.
            entity: Who or what it is about, such as `user`; part of the slot (entity, category,
                key), which holds one value at a time.
            category: The area of the key, such as `tooling`; part of the slot (entity,
                category, key), which holds one value at a time. Empty: none.
            key: Which attribute, such as `editor`; part of the slot (entity, category, key),
                which holds one value at a time.
            session_id: The session (conversation) in which it was said.
            project: The project it belongs to, by name.
            said_in: The facts that were split from one sentence.
            tags_any: Only memories with at least one of these tags.
            tags_all: Only memories with all of these tags.
            min_importance: Only memories of at least this importance, 0 to 1.
            query: What to search for, in words.
            details: Only memories whose `details` hold all of this, nested too; of a list, some
                of its values.
            limit: How many entries at most. Default: 10.
            mode: How to search: by meaning (`vector`), by words (`text`), or by both. Default:
                hybrid.
            min_score: Leave out results that score lower, 0 to 1.
            focus: Leave out what hardly answers: results below a score of 0.03.
            include: `turns`: search messages, too, by meaning and words. They are answered
                beside the results.
            sort: Order of the memories found: best match first, or strongest first. It never
                hides one. Default: score.
            as_of: What was true at that time.
            known_at: As far as was known at that time.
            include_superseded: Search every version, not only what holds.
            exact: Look at every memory, even if the agent has an index. An agent without one is
                always searched like that.
            read_dates: Read words such as "in March", "last week" or "since 2024" as the time
                that the question asks about: what held then is searched too, and comes first,
                above all what began or ended then. The answer shows the `window`. Only
                questions about the present are read so. Default: True.
        """
        answer: SearchAnswer = self._call(
            Request(
                "POST",
                "/v1/search",
                query={"view": view},
                body={
                    "kind": kind,
                    "entity": entity,
                    "category": category,
                    "key": key,
                    "session_id": session_id,
                    "project": project,
                    "said_in": said_in,
                    "tags_any": tags_any,
                    "tags_all": tags_all,
                    "min_importance": min_importance,
                    "query": query,
                    "details": details,
                    "limit": limit,
                    "mode": mode,
                    "min_score": min_score,
                    "focus": focus,
                    "include": include,
                    "sort": sort,
                    "as_of": as_of,
                    "known_at": known_at,
                    "include_superseded": include_superseded,
                    "exact": exact,
                    "read_dates": read_dates,
                },
                is_read=True,
            )
        )
        return answer

    def search_by_get(
        self,
        q: str,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
        view: View | str | None = None,
        details: str | None = None,
        include_superseded: bool | None = None,
        limit: int | None = None,
        mode: Literal["hybrid", "vector", "text"] | str | None = None,
        min_score: float | None = None,
        focus: bool | None = None,
        include: Sequence[Literal["turns"]] | None = None,
        sort: Literal["score", "strength"] | str | None = None,
        exact: bool | None = None,
        read_dates: bool | None = None,
        kind: Kind | str | None = None,
        entity: str | None = None,
        category: str | None = None,
        key: str | None = None,
        session_id: str | None = None,
        project: str | None = None,
        said_in: Id | None = None,
        tags_any: Sequence[str] | None = None,
        tags_all: Sequence[str] | None = None,
        min_importance: float | None = None,
    ) -> SearchAnswer:
        """Search memories by GET, best match first, now or at any point on both axes of time.

        Args:
            q: What to search for.
            as_of: What was true at that time. Default: now.
            known_at: As far as was known at that time. Default: all that is known.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            details: Only memories whose `details` hold all of this, nested too; of a list, some
                of its values. As JSON: `{"ticket": 7}`.
            include_superseded: Every version, not only what holds.
            limit: How many items a page has.
            mode: How to search: by meaning (`vector`), by words (`text`), or by both. Default:
                hybrid.
            min_score: Leave out results that score lower, 0 to 1.
            focus: Leave out what hardly answers: results below a score of 0.03.
            include: `turns`: search messages, too, by meaning and words. They are answered
                beside the results.
            sort: Order of the memories found: best match first, or strongest first. It never
                hides one. Default: score.
            exact: Look at every memory, even if the agent has an index. An agent without one is
                always searched like that.
            read_dates: Read words such as "in March", "last week" or "since 2024" as the time
                that the question asks about: what held then is searched too, and comes first,
                above all what began or ended then. The answer shows the `window`. Only
                questions about the present are read so. Default: True.
            kind: What sort of statement: fact, preference, decision or constraint.
            entity: Who or what it is about, such as `user`; part of the slot (entity, category,
                key), which holds one value at a time.
            category: The area of the key, such as `tooling`; part of the slot (entity,
                category, key), which holds one value at a time. Empty: none.
            key: Which attribute, such as `editor`; part of the slot (entity, category, key),
                which holds one value at a time.
            session_id: The session (conversation) in which it was said.
            project: The project it belongs to, by name.
            said_in: The facts that were split from one sentence.
            tags_any: Only memories with at least one of these tags.
            tags_all: Only memories with all of these tags.
            min_importance: Only memories of at least this importance, 0 to 1.
        """
        answer: SearchAnswer = self._call(
            Request(
                "GET",
                "/v1/search",
                query={
                    "q": q,
                    "as_of": as_of,
                    "known_at": known_at,
                    "view": view,
                    "details": details,
                    "include_superseded": include_superseded,
                    "limit": limit,
                    "mode": mode,
                    "min_score": min_score,
                    "focus": focus,
                    "include": include,
                    "sort": sort,
                    "exact": exact,
                    "read_dates": read_dates,
                    "kind": kind,
                    "entity": entity,
                    "category": category,
                    "key": key,
                    "session_id": session_id,
                    "project": project,
                    "said_in": said_in,
                    "tags_any": tags_any,
                    "tags_all": tags_all,
                    "min_importance": min_importance,
                },
                is_read=True,
            )
        )
        return answer

    def preference(
        self,
        category: str,
        key: str,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
        view: View | str | None = None,
        entity: str | None = None,
    ) -> MemoryOut:
        """Read the preference that holds at a moment.

        Args:
            category: The area of the key, such as `tooling`; part of the slot (entity,
                category, key), which holds one value at a time. Empty: none.
            key: Which attribute, such as `editor`; part of the slot (entity, category, key),
                which holds one value at a time.
            as_of: What was true at that time. Default: now.
            known_at: As far as was known at that time. Default: all that is known.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            entity: Who or what it is about, such as `user`; part of the slot (entity, category,
                key), which holds one value at a time. Default: user.
        """
        answer: MemoryOut = self._call(
            Request(
                "GET",
                "/v1/preferences/{}/{}",
                path=(
                    category,
                    key,
                ),
                query={"as_of": as_of, "known_at": known_at, "view": view, "entity": entity},
                is_read=True,
            )
        )
        return answer

    def preference_without_category(
        self,
        key: str,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
        view: View | str | None = None,
        entity: str | None = None,
    ) -> MemoryOut:
        """Read a preference that was stored without a category.

        Args:
            key: Which attribute, such as `editor`; part of the slot (entity, category, key),
                which holds one value at a time.
            as_of: What was true at that time. Default: now.
            known_at: As far as was known at that time. Default: all that is known.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            entity: Who or what it is about, such as `user`; part of the slot (entity, category,
                key), which holds one value at a time. Default: user.
        """
        answer: MemoryOut = self._call(
            Request(
                "GET",
                "/v1/preferences/{}",
                path=(key,),
                query={"as_of": as_of, "known_at": known_at, "view": view, "entity": entity},
                is_read=True,
            )
        )
        return answer

    def context(
        self,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
        view: View | str | None = None,
        query: str | None = None,
        budget_tokens: int | None = None,
        focus: bool | None = None,
        questions: bool | None = None,
        talk: bool | None = None,
        kind: Kind | str | None = None,
        entity: str | None = None,
        category: str | None = None,
        key: str | None = None,
        session_id: str | None = None,
        project: str | None = None,
        said_in: Id | None = None,
        tags_any: Sequence[str] | None = None,
        tags_all: Sequence[str] | None = None,
        min_importance: float | None = None,
    ) -> ContextAnswer:
        """Fill a prompt with what holds now, within a budget: constraints first, then by kind,
        most useful first, never anything superseded. Then up to three open questions about what
        it shows, which POST /v1/reviews/answers answers, and what was said about the query and
        became no fact. With `Accept: text/plain`, the text alone.

        Args:
            as_of: What was true at that time. Default: now.
            known_at: As far as was known at that time. Default: all that is known.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            query: What the prompt is about; without it, the strongest memories come first.
            budget_tokens: Tokens that the text may take, headings included, by an estimate that
                is right to about a tenth. Default: 1000.
            focus: With a query, leave out what hardly answers it, but for constraints and core
                memories. If nothing answers it, the strongest stay. Default: True.
            questions: End the text with up to three open questions about what it shows, in at
                most a third of the budget. Only a context of the present has any. Default:
                True.
            talk: End the text with up to three messages that are likely about the query and
                became no fact, if the budget has room. Default: True.
            kind: What sort of statement: fact, preference, decision or constraint.
            entity: Who or what it is about, such as `user`; part of the slot (entity, category,
                key), which holds one value at a time.
            category: The area of the key, such as `tooling`; part of the slot (entity,
                category, key), which holds one value at a time. Empty: none.
            key: Which attribute, such as `editor`; part of the slot (entity, category, key),
                which holds one value at a time.
            session_id: The session (conversation) in which it was said.
            project: The project it belongs to, by name.
            said_in: The facts that were split from one sentence.
            tags_any: Only memories with at least one of these tags.
            tags_all: Only memories with all of these tags.
            min_importance: Only memories of at least this importance, 0 to 1.
        """
        answer: ContextAnswer = self._call(
            Request(
                "GET",
                "/v1/context",
                query={
                    "as_of": as_of,
                    "known_at": known_at,
                    "view": view,
                    "query": query,
                    "budget_tokens": budget_tokens,
                    "focus": focus,
                    "questions": questions,
                    "talk": talk,
                    "kind": kind,
                    "entity": entity,
                    "category": category,
                    "key": key,
                    "session_id": session_id,
                    "project": project,
                    "said_in": said_in,
                    "tags_any": tags_any,
                    "tags_all": tags_all,
                    "min_importance": min_importance,
                },
                is_read=True,
            )
        )
        return answer

    def capture(
        self,
        session_id: str | None,
        messages: Sequence[MessageRequest | Mapping[str, Any]],
        *,
        view: View | str | None = None,
        extract: ExtractBy | str | None = None,
        split: Literal["auto", "off"] | str | None = None,
        wait: bool | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> CaptureAnswer:
        """Store messages of a session, and the facts that are read from them. The messages are
        stored first. A short call that the network reads is answered with the facts. A long one
        is finished by a worker, and so is what a model reads, together with the next messages
        of the session: ask for the capture. A message whose id the session has already is not
        stored again.

        Args:
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            session_id: A name of your own for the conversation. Default: a session of the
                call's own, which the answer names.
            messages: Together at most 100,000 characters. Each as it is here, or as an SDK
                writes it (docs/guide/messages.md#forms-of-messages).
            extract: What reads facts from them. Default: what PALIMPSEST_EXTRACT says. `model`
                falls back to the rules if the model does not answer; `off` stores the messages
                alone.
            split: off: a sentence of several facts stays one. What a model reads is never
                split. Default: auto.
            wait: true: answer with the facts. false: answer at once (202); a worker reads the
                messages together with the next of the session, which costs a model far less.
                Default: false where a model reads and PALIMPSEST_CAPTURE_QUIET_SECONDS is not
                0.
            dry_run: true: answer with what would be done and write nothing; for messages of at
                most 1,000 facts.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: CaptureAnswer = self._call(
            Request(
                "POST",
                "/v1/messages",
                query={"view": view},
                body={
                    "session_id": session_id,
                    "messages": messages,
                    "extract": extract,
                    "split": split,
                    "wait": wait,
                    "dry_run": dry_run,
                },
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def list_captures(
        self,
        *,
        state: CaptureState | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        view: View | str | None = None,
        session_id: str | None = None,
    ) -> Pages[CapturesAnswer, ListedCapture]:
        """List the calls that stored messages, newest first, and how far each is read.

        Args:
            state: How it stands.
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            session_id: The session (conversation) in which it was said.
        """
        return Pages(
            self._call,
            Request(
                "GET",
                "/v1/captures",
                query={
                    "state": state,
                    "limit": limit,
                    "cursor": cursor,
                    "view": view,
                    "session_id": session_id,
                },
                is_read=True,
            ),
            "items",
        )

    def get_capture(self, capture_id: Id, *, view: View | str | None = None) -> CaptureAnswer:
        """Read the messages of a call, how far they are read, and the facts of each.

        Args:
            capture_id: `capture_id`: paste one from the answer to POST /v1/messages, or a list.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
        """
        answer: CaptureAnswer = self._call(
            Request(
                "GET", "/v1/captures/{}", path=(capture_id,), query={"view": view}, is_read=True
            )
        )
        return answer

    def undo_capture(
        self,
        capture_id: Id,
        *,
        view: View | str | None = None,
        cascade: bool | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> RevertsAnswer:
        """Undo what the facts of a capture did: all that stands, newest first, all or none. Its
        messages stay.

        Args:
            capture_id: `capture_id`: paste one from the answer to POST /v1/messages, or a list.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            cascade: Undo also what was built on it; without this, 409 lists that.
            dry_run: true: answer with what would be undone and write nothing.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: RevertsAnswer = self._call(
            Request(
                "POST",
                "/v1/captures/{}/undo",
                path=(capture_id,),
                query={"view": view},
                body={"cascade": cascade, "dry_run": dry_run},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def list_reviews(
        self,
        *,
        source: ReviewSource | str | None = None,
        relation: Relation | str | None = None,
        memory_id: Id | None = None,
        min_confidence: float | None = None,
        status: ReviewStatus | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        view: View | str | None = None,
    ) -> Pages[ReviewsAnswer, ReviewOut]:
        """List what waits for a person, and what was decided, newest first. Reviews that waited
        too long are closed, and logged, first.

        Args:
            source: Where it comes from, such as a file or a tool.
            relation: How the incoming fact stands to the stored one.
            memory_id: The fact stored beside, or a memory that the proposal is about.
            min_confidence: Only those whose judge was at least so sure, 0 to 1.
            status: How it stands at the moment of the answer.
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
        """
        return Pages(
            self._call,
            Request(
                "GET",
                "/v1/reviews",
                query={
                    "source": source,
                    "relation": relation,
                    "memory_id": memory_id,
                    "min_confidence": min_confidence,
                    "status": status,
                    "limit": limit,
                    "cursor": cursor,
                    "view": view,
                },
                is_read=True,
            ),
            "items",
        )

    def get_review(self, review_id: Id, *, view: View | str | None = None) -> ReviewDetailOut:
        """Read a review, with its memories before and after accepting it now.

        Args:
            review_id: `id` of a review: paste `review_id` from the answer to a store, or an
                `id` from the list.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
        """
        answer: ReviewDetailOut = self._call(
            Request("GET", "/v1/reviews/{}", path=(review_id,), query={"view": view}, is_read=True)
        )
        return answer

    def accept(
        self,
        review_id: Id,
        *,
        view: View | str | None = None,
        note: str | None = None,
        memories: Sequence[Id] | None = None,
        idempotency_key: str | None = None,
    ) -> WriteAnswer:
        """Do what the review proposes. If the question leaves a choice, `memories` names what it
        is right about. Where its memories changed since, 409 shows a fresh proposal. Accepting
        again is the same as once.

        Args:
            review_id: `id` of a review: paste `review_id` from the answer to a store, or an
                `id` from the list.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            note: A reason, for people.
            memories: The ids of the candidates that the review is right about. A review that
                leaves a choice needs them.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: WriteAnswer = self._call(
            Request(
                "POST",
                "/v1/reviews/{}/accept",
                path=(review_id,),
                query={"view": view},
                body={"note": note, "memories": memories},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def reject(
        self,
        review_id: Id,
        *,
        view: View | str | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> WriteAnswer:
        """Leave everything as it is, and close the review. The decision is logged; rejecting again
        is the same as once.

        Args:
            review_id: `id` of a review: paste `review_id` from the answer to a store, or an
                `id` from the list.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            note: A reason, for people.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: WriteAnswer = self._call(
            Request(
                "POST",
                "/v1/reviews/{}/reject",
                path=(review_id,),
                query={"view": view},
                body={"note": note},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def decide(
        self,
        decision: Literal["accept", "reject"] | str,
        *,
        view: View | str | None = None,
        ids: Sequence[Id] | None = None,
        filter: ReviewFilterFields | None = None,
        limit: int | None = None,
        memories: Mapping[str, list[str]] | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> DecideAnswer:
        """Accept or reject several reviews, each for itself: one that cannot be decided leaves the
        others alone.

        Args:
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            decision: `accept` or `reject`.
            ids: The reviews to decide.
            filter: Decide every waiting review that fits, instead of those named by `ids`.
            limit: With filter: how many at most.
            memories: To accept: the candidates that are chosen, by the id of their review.
            note: A reason, for people.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: DecideAnswer = self._call(
            Request(
                "POST",
                "/v1/reviews/decide",
                query={"view": view},
                body={
                    "decision": decision,
                    "ids": ids,
                    "filter": filter,
                    "limit": limit,
                    "memories": memories,
                    "note": note,
                },
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def answer_reviews(
        self,
        answers: Sequence[AnswerItem],
        *,
        view: View | str | None = None,
        idempotency_key: str | None = None,
    ) -> AnswersAnswer:
        """Answer open questions as the agent's own model, each for itself. What is named by its
        letter ends; none closes the question. Logged as decided by `agent`, and undone like
        anything else. What concerns a constraint or higher trust stays for a person.

        Args:
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            answers: One for each question.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: AnswersAnswer = self._call(
            Request(
                "POST",
                "/v1/reviews/answers",
                query={"view": view},
                body={"answers": answers},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def report(self, *, since: Time | None = None) -> ShadowReport:
        """Report what shadow mode would have changed: by relation, judge and confidence, with
        examples and how people decided so far.

        Args:
            since: Only proposals from then on.
        """
        answer: ShadowReport = self._call(
            Request("GET", "/v1/shadow/report", query={"since": since}, is_read=True)
        )
        return answer

    def list_log(
        self,
        *,
        operation: Operation | str | None = None,
        memory_id: Id | None = None,
        decided_by: Judge | str | None = None,
        actor: str | None = None,
        review: ReviewSource | str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        session_id: str | None = None,
    ) -> Pages[LogAnswer, LogEntryOut]:
        """List operations with what each read and wrote, newest first. Only a null `next_cursor`
        says that the list ends. A page looks at no more than 10,000 operations. If few of them
        pass `operation`, `decided_by`, `actor` or `review`, it has fewer than `limit`, maybe
        none, and the next page goes on behind those.

        Args:
            operation: Only operations of this kind.
            memory_id: Operations that wrote or changed this memory.
            decided_by: Only operations that this judge decided.
            actor: Operations that this actor wrote: the `actor` of another operation.
            review: Operations that left a review for this reason: shadow, for example.
            since: Only operations known from then on.
            until: Only operations known before then.
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
            session_id: Only operations of this session.
        """
        return Pages(
            self._call,
            Request(
                "GET",
                "/v1/log",
                query={
                    "operation": operation,
                    "memory_id": memory_id,
                    "decided_by": decided_by,
                    "actor": actor,
                    "review": review,
                    "since": since,
                    "until": until,
                    "limit": limit,
                    "cursor": cursor,
                    "session_id": session_id,
                },
                is_read=True,
            ),
            "items",
        )

    def get_log_entry(self, log_id: Id) -> LogEntryOut:
        """Read an operation. 410 names the archive to which it was moved.

        Args:
            log_id: `id` of an operation: paste `log_id` from the answer to a write, or an `id`
                from the list.
        """
        answer: LogEntryOut = self._call(Request("GET", "/v1/log/{}", path=(log_id,), is_read=True))
        return answer

    def list_events(
        self,
        *,
        after: Id | Literal["latest"] | None = None,
        wait: float | None = None,
        limit: int | None = None,
        operation: Sequence[Operation | str] | None = None,
    ) -> EventsAnswer:
        """List what happened to an agent, oldest first, in ids and without texts. Go on with
        `after`: nothing is missed and nothing comes twice. `wait` holds the request open until
        there is an event. With `Accept: text/event-stream` the answer is a stream of
        server-sent events that goes on after `Last-Event-ID`. 410 if operations behind `after`
        were archived meanwhile; `resume_after` says where to go on.

        Args:
            after: `id` of the last event that was seen, or `after` of the last answer.
                `latest`: only what happens from now on. Default: from the beginning of the log.
            wait: Seconds to wait for an event if there is none. A stream ignores it.
            limit: How many items a page has.
            operation: Only events of these operations; repeat the parameter for several.
        """
        answer: EventsAnswer = self._call(
            Request(
                "GET",
                "/v1/events",
                query={"after": after, "wait": wait, "limit": limit, "operation": operation},
                is_read=True,
            )
        )
        return answer

    def revert(
        self,
        log_id: Id,
        *,
        view: View | str | None = None,
        cascade: bool | None = None,
        store: bool | None = None,
        idempotency_key: str | None = None,
    ) -> RevertAnswer:
        """Undo an operation, a revert included. Reads at an earlier `known_at` stay as they were.
        409 lists what was built on it.

        Args:
            log_id: `id` of an operation: paste `log_id` from the answer to a write, or an `id`
                from the list.
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            cascade: Undo first what was built on it; without this, 409 lists that.
            store: Of a NOOP or DELETE: store what was said as a memory of its own too.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: RevertAnswer = self._call(
            Request(
                "POST",
                "/v1/log/{}/revert",
                path=(log_id,),
                query={"view": view},
                body={"cascade": cascade, "store": store},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def revert_many(
        self,
        *,
        view: View | str | None = None,
        log_ids: Sequence[Id] | None = None,
        operation: Operation | str | None = None,
        sweep_id: Id | None = None,
        request_id: str | None = None,
        session_id: str | None = None,
        source: str | None = None,
        decided_by: Judge | str | None = None,
        actor: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        capture_id: Id | None = None,
        cascade: bool | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> RevertsAnswer:
        """Undo many operations, newest first, all or none: those of a batch, an import, a session,
        a source, a judge or a time, or those that are named.

        Args:
            view: `full`: every field, also those that are null. `brief`: what an agent acts on,
                without empty fields; cast the answer to its `Brief…` type.
            log_ids: These operations of the log.
            operation: Only operations of this kind.
            sweep_id: What a sweep did.
            request_id: X-Request-Id of the call that did them: a batch, an import.
            session_id: Only operations of this session.
            source: `source` of the facts that were sent.
            decided_by: Which judge decided.
            actor: Who wrote them, as `actor` in the log. With `since`: all that a key wrote
                since then.
            since: From this time on.
            until: Up to this time.
            capture_id: What stored the facts of a capture.
            cascade: Undo also what was built on them; without this, 409 lists that.
            dry_run: true: answer with what would be undone and write nothing.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: RevertsAnswer = self._call(
            Request(
                "POST",
                "/v1/reverts",
                query={"view": view},
                body={
                    "log_ids": log_ids,
                    "operation": operation,
                    "sweep_id": sweep_id,
                    "request_id": request_id,
                    "session_id": session_id,
                    "source": source,
                    "decided_by": decided_by,
                    "actor": actor,
                    "since": since,
                    "until": until,
                    "capture_id": capture_id,
                    "cascade": cascade,
                    "dry_run": dry_run,
                },
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def end_session(
        self,
        session_id: str,
        *,
        at: Time | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> EndAnswer:
        """End a session: every memory of it with lifespan `session` is retracted, constraints
        included; all others stay. An operation each; `POST /v1/reverts` with this call's
        X-Request-Id undoes them all.

        Args:
            session_id: The session (conversation) in which it was said.
            at: When it ended. Default: now; what has not begun by now is then withdrawn.
            reason: Why, for the log.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: EndAnswer = self._call(
            Request(
                "POST",
                "/v1/sessions/{}/end",
                path=(session_id,),
                body={"at": at, "reason": reason},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def end_project(
        self,
        project: str,
        *,
        at: Time | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> EndAnswer:
        """End a project: the same, with its memories of lifespan `project`.

        Args:
            project: The project it belongs to, by name.
            at: When it ended. Default: now; what has not begun by now is then withdrawn.
            reason: Why, for the log.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: EndAnswer = self._call(
            Request(
                "POST",
                "/v1/projects/{}/end",
                path=(project,),
                body={"at": at, "reason": reason},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def start_sweep(
        self,
        *,
        agent_id: str | None = None,
        slot: SlotRequest | None = None,
        since: Time | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> SweepOut:
        """Look at stored memories again, as a store would: what contradicts something later ends,
        as far as rules, judges and caps allow. A worker does it; ask for the sweep to see how
        far it is. To undo it: `POST /v1/reverts` with its id as `sweep_id`.

        Args:
            agent_id: The agent of this call, to make sure.
            slot: This slot alone.
            since: What became known since then, and what is marked to be looked at again.
            dry_run: true: `findings` tell what would be done, and nothing is.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: SweepOut = self._call(
            Request(
                "POST",
                "/v1/sweeps",
                body={"agent_id": agent_id, "slot": slot, "since": since, "dry_run": dry_run},
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def list_sweeps(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[SweepsAnswer, SweepSummary]:
        """List sweeps, newest first, those started by the clock and after stores included.

        Args:
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
        """
        return Pages(
            self._call,
            Request("GET", "/v1/sweeps", query={"limit": limit, "cursor": cursor}, is_read=True),
            "items",
        )

    def get_sweep(self, sweep_id: Id) -> SweepOut:
        """Read how far a sweep is, and what it found.

        Args:
            sweep_id: `id` of a sweep: paste one from the answer to a POST, or from the list.
        """
        answer: SweepOut = self._call(
            Request("GET", "/v1/sweeps/{}", path=(sweep_id,), is_read=True)
        )
        return answer

    def cancel_sweep(self, sweep_id: Id, *, idempotency_key: str | None = None) -> SweepOut:
        """Stop a sweep where it is. What it did stays, and can be undone; one that is over stays
        as it is.

        Args:
            sweep_id: `id` of a sweep: paste one from the answer to a POST, or from the list.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: SweepOut = self._call(
            Request(
                "POST",
                "/v1/sweeps/{}/cancel",
                path=(sweep_id,),
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def get_insights(
        self,
        *,
        section: Sequence[Section | str] | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
        stale_days: int | None = None,
        exact: bool | None = None,
    ) -> InsightsAnswer:
        """Report what keeps changing and which judges err: churn, flip-flops, lives of values,
        retired and given back, signals, stale constraints, lengths of chains; each entry with
        ids to look at. A report: it changes nothing. A large agent, which has an index, is
        answered with what was counted lately: `counted_at` says when. With `since`, `until` or
        a `limit` above 100 it is counted now, and no more than the newest 5,000 memories,
        operations and reviews of the window: `counted_since` says from when on. `exact` counts
        all of the window now, which reads the whole agent.

        Args:
            section: Only these; may be repeated. Without it, all.
            since: Count what became known at that time or later.
            until: Count what became known before that time.
            limit: How many items a page has.
            stale_days: After how many days without a word a constraint counts as stale.
                Default: 180.
            exact: Count all of the window now, even if the agent has an index. An agent without
                one is always counted so.
        """
        answer: InsightsAnswer = self._call(
            Request(
                "GET",
                "/v1/insights",
                query={
                    "section": section,
                    "since": since,
                    "until": until,
                    "limit": limit,
                    "stale_days": stale_days,
                    "exact": exact,
                },
                is_read=True,
            )
        )
        return answer

    def import_history(
        self, lines: Iterable[Mapping[str, Any] | bytes], *, idempotency_key: str | None = None
    ) -> list[dict[str, Any]]:
        """Import versions with their own dates on both axes, a line each; or a native export (`GET
        /v1/export`), known by its first line, into an agent that holds nothing (else 409); its
        key needs `admin` too. A bad line is named by its number and nothing of the import is
        kept. Of an answer over 8 MB nothing is kept for a retry under the same Idempotency-Key:
        it is told that all was imported (410).

        Args:
            lines: Its lines, as objects or as bytes. They are sent as they come, and only once:
                this call is not tried again.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        return self._import(
            Request("POST", "/v1/import", idempotency_key=idempotency_key or make_key()), lines
        )

    def export(self, *, vectors: bool | None = None) -> Export:
        """Export everything of an agent, as it is at one moment: memories with what was ever
        believed of them, the log, relationships and reviews. `POST /v1/import` of it into an
        empty agent, here or elsewhere, gives an agent that answers the same on both axes and
        exports the same bytes. An export without its last line, of type `end`, was cut off. It
        holds a database connection while it is read, so a key may have only some under way at a
        time.

        Args:
            vectors: false: leave the vectors out; an import makes them again. Default: True.
        """
        return self._export(Request("GET", "/v1/export", query={"vectors": vectors}, is_read=True))

    def erase(
        self,
        *,
        chain_id: Id | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        cascade: bool | None = None,
        idempotency_key: str | None = None,
    ) -> ErasureAnswer:
        """Erase a fact with all versions, a session, or an agent: texts, vectors, hashes, in the
        tables and in the log. Intervals stay, so that reads over the hole say `erased`. This
        cannot be undone.

        Args:
            chain_id: A fact with all its versions: the id of its chain, or of any version.
            session_id: All that was said in a session.
            agent_id: Everything of this agent: repeat its id to confirm.
            cascade: Erase also what the texts were merged into.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: ErasureAnswer = self._call(
            Request(
                "POST",
                "/v1/erasures",
                body={
                    "chain_id": chain_id,
                    "session_id": session_id,
                    "agent_id": agent_id,
                    "cascade": cascade,
                },
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def get_stats(self, agent_id: str) -> StatsOut:
        """Count what an agent has: memories by status, what holds and how strong it is, the log by
        operation and judge, reviews. All numbers are those of `as_of`. Those of a large agent,
        which has an index, are a while old: the worker counts them now and then.

        Args:
            agent_id: An agent's id: paste one from the list.
        """
        answer: StatsOut = self._call(
            Request("GET", "/v1/agents/{}/stats", path=(agent_id,), is_read=True)
        )
        return answer

    def list_agents(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[AgentsAnswer, AgentOut]:
        """List agents, with how many memories each has and when it last learnt something: all that
        were ever written to and that the key is for.

        Args:
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
        """
        return Pages(
            self._call,
            Request("GET", "/v1/agents", query={"limit": limit, "cursor": cursor}, is_read=True),
            "items",
        )

    def get_agent(self, agent_id: str) -> AgentOut:
        """Read an agent: its mode, its time zone, and how many memories it has.

        Args:
            agent_id: An agent's id: paste one from the list.
        """
        answer: AgentOut = self._call(
            Request("GET", "/v1/agents/{}", path=(agent_id,), is_read=True)
        )
        return answer

    def patch_agent(
        self,
        agent_id: str,
        *,
        mode: Mode | str | Unset | None = UNSET,
        timezone: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> AgentOut:
        """Choose an agent's mode or time zone: what becomes of changes to its memories, and where
        the dates in its words are read. In shadow mode changes become reviews; frozen, nothing
        is written.

        Args:
            agent_id: An agent's id: paste one from the list.
            mode: live, shadow or frozen; null: as the settings say.
            timezone: The time zone in which the dates in its words are read, by its IANA name,
                such as Europe/Lisbon; null: as the settings say.
            idempotency_key: Names the call, so that it is executed once however often it is
                sent. Default: a new one, the same for every try.
        """
        answer: AgentOut = self._call(
            Request(
                "PATCH",
                "/v1/agents/{}",
                path=(agent_id,),
                body={"mode": mode, "timezone": timezone},
                keeps_null=True,
                idempotency_key=idempotency_key or make_key(),
            )
        )
        return answer

    def issue_key(
        self,
        name: str,
        scopes: Sequence[Scope | str],
        agents: Sequence[str],
        *,
        trust_ceiling: int | None = None,
        expires_at: Time | None = None,
    ) -> IssuedKeyOut:
        """Issue a key. It may do no more than the key of this call, and its secret is shown only
        in this answer. 409 without PALIMPSEST_API_KEY.

        Args:
            name: For people: who uses it, and what for.
            scopes: The calls that it allows. None contains another.
            agents: Ids of agents, `acme/*` for every id that begins with `acme/`, `*` for all.
            trust_ceiling: The highest trust that it may give to a fact, 0 to 100. Default: 100.
            expires_at: When it ends. Default: never.
        """
        answer: IssuedKeyOut = self._call(
            Request(
                "POST",
                "/v1/keys",
                body={
                    "name": name,
                    "scopes": scopes,
                    "agents": agents,
                    "trust_ceiling": trust_ceiling,
                    "expires_at": expires_at,
                },
            )
        )
        return answer

    def list_keys(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[KeysAnswer, KeyOut]:
        """List keys that may do no more than the key of this call, without their secrets.

        Args:
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
        """
        return Pages(
            self._call,
            Request("GET", "/v1/keys", query={"limit": limit, "cursor": cursor}, is_read=True),
            "items",
        )

    def revoke_key(self, key_id: str) -> KeyOut:
        """Revoke a key. Within a second no process takes it any more; it stays in the list.

        Args:
            key_id: `id` of a key: paste one from the answer to a POST, or from the list.
        """
        answer: KeyOut = self._call(Request("DELETE", "/v1/keys/{}", path=(key_id,)))
        return answer

    def rotate_key(self, key_id: str, *, overlap: int | None = None) -> IssuedKeyOut:
        """Replace a key: the new one has another id and secret, and the same name, rights and
        length of life. The old one ends after `overlap` seconds.

        Args:
            key_id: `id` of a key: paste one from the answer to a POST, or from the list.
            overlap: Seconds for which the old key still works, so that callers can change.
                Default: 3600.
        """
        answer: IssuedKeyOut = self._call(
            Request("POST", "/v1/keys/{}/rotate", path=(key_id,), body={"overlap": overlap})
        )
        return answer

    def create_webhook(
        self,
        url: str,
        *,
        agents: str | None = None,
        operations: Sequence[Operation | str] | None = None,
    ) -> NewWebhookOut:
        """Send events to an address from now on, signed as Standard Webhooks says. The secret is
        shown only in this answer. The key of the call must be for the agents, and the webhook
        ends with it.

        Args:
            url: Where events are sent: an https address in the public internet.
            agents: Whose events: an agent's id, `acme/*` for every id that begins with `acme/`,
                or `*` for all. Default: the agent of the call.
            operations: Only events of these operations. Default: all.
        """
        answer: NewWebhookOut = self._call(
            Request(
                "POST",
                "/v1/webhooks",
                body={"url": url, "agents": agents, "operations": operations},
            )
        )
        return answer

    def list_webhooks(
        self, *, limit: int | None = None, cursor: Id | None = None
    ) -> Pages[WebhooksAnswer, WebhookOut]:
        """List webhooks of agents that the key of the call is for, without their secrets.

        Args:
            limit: How many items a page has.
            cursor: Begin at the page that this `next_cursor` of another one names.
        """
        return Pages(
            self._call,
            Request("GET", "/v1/webhooks", query={"limit": limit, "cursor": cursor}, is_read=True),
            "items",
        )

    def get_webhook(self, webhook_id: Id) -> WebhookWithDeliveriesOut:
        """Read a webhook, whether it works, and what became of its last messages.

        Args:
            webhook_id: `id` of a webhook: paste one from the answer to a POST, or the list.
        """
        answer: WebhookWithDeliveriesOut = self._call(
            Request("GET", "/v1/webhooks/{}", path=(webhook_id,), is_read=True)
        )
        return answer

    def delete_webhook(self, webhook_id: Id) -> WebhookOut:
        """Remove a webhook, with its secret and its deliveries.

        Args:
            webhook_id: `id` of a webhook: paste one from the answer to a POST, or the list.
        """
        answer: WebhookOut = self._call(Request("DELETE", "/v1/webhooks/{}", path=(webhook_id,)))
        return answer

    def ping_webhook(self, webhook_id: Id) -> DeliveryOut:
        """Send a message of type `ping` now, once, and answer what became of it.

        Args:
            webhook_id: `id` of a webhook: paste one from the answer to a POST, or the list.
        """
        answer: DeliveryOut = self._call(
            Request("POST", "/v1/webhooks/{}/ping", path=(webhook_id,))
        )
        return answer

    def enable_webhook(self, webhook_id: Id) -> WebhookOut:
        """Let a webhook go on at once, if it is disabled or waits for its next try. One that ended
        with its key goes on with the key of the call.

        Args:
            webhook_id: `id` of a webhook: paste one from the answer to a POST, or the list.
        """
        answer: WebhookOut = self._call(
            Request("POST", "/v1/webhooks/{}/enable", path=(webhook_id,))
        )
        return answer

    def doctor(self) -> DoctorAnswer:
        """Check all that is stored of an agent: chains, beliefs, the log replayed, links, reviews,
        hashes, vectors, erasures.
        """
        answer: DoctorAnswer = self._call(Request("GET", "/v1/doctor", is_read=True))
        return answer

    def get_actor(self) -> ActorOut:
        """Read who calls with this key, what the key allows, and until when."""
        answer: ActorOut = self._call(Request("GET", "/v1/actor", is_read=True))
        return answer

    def livez(self) -> Health:
        """Check that the process answers. The database is not touched."""
        answer: Health = self._call(Request("GET", "/livez", is_read=True))
        return answer

    def readyz(self) -> Ready:
        """Check that the service can serve: the database answers within two seconds and takes
        writes, its vectors are of this service's model, requests move on, and the process is
        not about to end. Read replicas are listed, the model is named with its trouble, and
        neither makes the service unready.
        """
        answer: Ready = self._call(Request("GET", "/readyz", is_read=True))
        return answer

    def metrics(self) -> str:
        """Read what all workers counted: requests, operations by relation and judge, calls to the
        model and their tokens, the pool, the replicas, the queue. A key is needed only with
        PALIMPSEST_METRICS_NEED_KEY.
        """
        answer: str = self._call(Request("GET", "/metrics", is_read=True))
        return answer

    def version(self) -> Version:
        """Read the version of this service and of its encoder."""
        answer: Version = self._call(Request("GET", "/version", is_read=True))
        return answer
