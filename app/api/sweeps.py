"""Sweeps: stored memories looked at again by a worker, on call."""

from collections.abc import Mapping
from typing import Annotated, Any, Self
from uuid import UUID

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, ConfigDict, Field, StrictBool
from starlette.responses import Response
from uuid_utils.compat import uuid7

from app.api import examples
from app.api.answers import AnswerBase
from app.api.deps import AgentDep, Cursor, PartsDep
from app.api.documented import BODY, WRITE, document_links, document_problems
from app.api.idempotency import KeyedDep
from app.api.reply import respond_with_answer
from app.api.schemas import MAX_LIMIT, Word
from app.api.times import Time
from app.domain.errors import InvalidFact, SweepsOff, UnknownSweep
from app.domain.relation import Operation, Relation
from app.store import chains, memories
from app.store.memories import After
from app.store.sweeps import runs as sweep_runs
from app.store.sweeps.runs import Origin, SweepScope, SweepStatus, SweptSlot

router = APIRouter(prefix="/v1/sweeps", tags=["sweeps"])

SweepPath = Annotated[
    UUID,
    Path(description="`id` of a sweep: paste one from the answer to a POST, or from the list."),
]


class SlotRequest(BaseModel):
    """One slot, in the words of its memories."""

    model_config = ConfigDict(extra="forbid")

    entity: Word | None = Field(None, description="Default: user.")
    category: Word | None = None
    key: Word


class SweepRequest(BaseModel):
    """What to look at again: by default everything of the agent."""

    model_config = ConfigDict(extra="forbid")

    agent_id: Word | None = Field(None, description="The agent of this call, to make sure.")
    slot: SlotRequest | None = Field(None, description="This slot alone.")
    since: Time | None = Field(
        None, description="What became known since then, and what is marked to be looked at again."
    )
    dry_run: StrictBool = Field(
        False, description="true: `findings` tell what would be done, and nothing is."
    )

    def to_scope(self) -> SweepScope:
        slot = SweptSlot(self.slot.entity, self.slot.category, self.slot.key) if self.slot else None
        return SweepScope(slot, self.since, self.dry_run)


class SlotOut(AnswerBase):
    """The slot of a sweep, in the words of whoever asked."""

    entity: str | None
    category: str | None
    key: str


class CountsOut(AnswerBase):
    """What a sweep came to, so far."""

    superseded: int = Field(0, description="Memories ended in favour of another.")
    duplicates: int = Field(0, description="Memories withdrawn because another says the same.")
    retracted: int = Field(0, description="Memories ended because another tells of their end.")
    merged: int = Field(0, description="Pairs of memories made into one.")
    reviews: int = Field(0, description="Questions to a person.")
    postponed: int = Field(
        0,
        description="Memories to be looked at again: their judges failed, or something moved meanwhile.",
    )


class FindingOut(AnswerBase):
    """One thing that a sweep did or asks. The log tells the whole of it: its request_id is the sweep's id."""

    operation: Operation
    relation: Relation
    memory_id: UUID | None = Field(description="The memory in whose favour.")
    others: list[UUID] = Field(description="The memories that end, or would.")
    confidence: float
    signals: list[str]
    review: bool = Field(description="Whether a person is asked.")


class SweepSummary(AnswerBase):
    """A sweep and how far it is."""

    id: UUID
    status: SweepStatus
    origin: Origin
    slot: SlotOut | None = Field(
        description="The slot it is about; null: all of them, or one whose words were erased."
    )
    since: Time | None
    dry_run: bool
    total: int | None = Field(description="Memories to examine; null before it is counted.")
    examined: int
    progress: float | None = Field(description="Of 1; null before the memories are counted.")
    counts: CountsOut
    error: str | None
    created_at: Time
    started_at: Time | None
    finished_at: Time | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls.model_construct(**cls._values_from_row(row))

    @classmethod
    def _values_from_row(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        values = {name: row[name] for name in cls.model_fields if name in row}
        values["progress"] = _compute_progress(row)
        values["slot"] = SlotOut(**row["slot"]) if row["slot"] else None
        values["counts"] = CountsOut(**row["counts"])
        return values


class SweepOut(SweepSummary):
    """A sweep, how far it is, and what it found."""

    findings: list[FindingOut] = Field(description="In the order found, 1,000 at most.")

    @classmethod
    def _values_from_row(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return super()._values_from_row(row) | {
            "findings": [FindingOut(**finding) for finding in row["findings"]]
        }


def _compute_progress(row: Mapping[str, Any]) -> float | None:
    if row["status"] == SweepStatus.DONE:
        return 1.0
    return min(1.0, row["examined"] / max(row["total"], 1)) if row["total"] is not None else None


class SweepsAnswer(AnswerBase):
    """Sweeps, newest first; what each found stands in the sweep itself."""

    items: list[SweepSummary]
    next_cursor: str | None


class SweepsQuery(BaseModel):
    """A page of sweeps."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")


_FOLLOW = document_links("id", "sweep_id", "get_sweep", "cancel_sweep")


@router.post(
    "",
    status_code=202,
    responses={202: {"model": SweepOut, "links": _FOLLOW}, **document_problems(*BODY, *WRITE)},
    response_model=None,
)
async def start_sweep(
    parts: PartsDep,
    agent: AgentDep,
    keyed: KeyedDep,
    body: Annotated[SweepRequest | None, Body(openapi_examples=examples.SWEEP)] = None,
) -> Response:
    """Look at stored memories again, as stores would have: what contradicts something later ends, as far as rules, judges and caps allow.

    A worker does it; ask for the sweep to see how far it is. To undo it: `POST /v1/reverts` with its id as `sweep_id`.
    """
    body = body or SweepRequest.model_validate({})
    if body.agent_id is not None and body.agent_id != agent:
        raise InvalidFact(
            f"agent_id ({body.agent_id}) is not the agent of this call ({agent}); name it in X-Agent-Id."
        )
    if not parts.settings.supersession_enabled:
        raise SweepsOff
    async with parts.engine.begin() as connection:
        if keyed.call:
            await chains.lock_agent(connection, agent, encoder=None)
        once = keyed.plan_replay(_render_accepted)
        await once.check_replay(connection)
        row = await sweep_runs.create_sweep(
            connection, agent, uuid7(), body.to_scope(), Origin.REQUEST
        )
        await once.keep_result(connection, row)
    parts.sweeps.wake_for_sweep(agent, row["id"])
    return _render_accepted(row)


def _render_accepted(row: Mapping[str, Any]) -> Response:
    return respond_with_answer(SweepOut.from_row(row), 202)


@router.get("", responses={200: {"model": SweepsAnswer}}, response_model=None)
async def list_sweeps(
    parts: PartsDep, agent: AgentDep, query: Annotated[SweepsQuery, Query()]
) -> Response:
    """The agent's sweeps, newest first, those started by the clock and after stores included."""
    after = Cursor.decode(query.cursor).after if query.cursor else None
    async with memories.open_read_connection(parts.engine) as connection:
        rows = await sweep_runs.list_sweeps(connection, agent, limit=query.limit + 1, after=after)
    shown = rows[: query.limit]
    next_cursor = (
        Cursor(After(shown[-1]["created_at"], shown[-1]["id"]), None).encode()
        if len(rows) > query.limit
        else None
    )
    return respond_with_answer(
        SweepsAnswer.model_construct(
            items=[SweepSummary.from_row(row) for row in shown], next_cursor=next_cursor
        )
    )


@router.get(
    "/{sweep_id}",
    responses={200: {"model": SweepOut}, **document_problems(404)},
    response_model=None,
)
async def get_sweep(parts: PartsDep, agent: AgentDep, sweep_id: SweepPath) -> Response:
    """How far a sweep is, and what it found."""
    async with memories.open_read_connection(parts.engine) as connection:
        row = await sweep_runs.find_sweep(connection, agent, sweep_id)
    if row is None:
        raise UnknownSweep(sweep_id)
    return respond_with_answer(SweepOut.from_row(row))


@router.post(
    "/{sweep_id}/cancel",
    responses={200: {"model": SweepOut}, **document_problems(*BODY, 404, *WRITE)},
    response_model=None,
)
async def cancel_sweep(
    parts: PartsDep, agent: AgentDep, keyed: KeyedDep, sweep_id: SweepPath
) -> Response:
    """Stop a sweep where it is. What it did stays, and can be undone; one that is over stays as it is."""

    def render_answer(row: Mapping[str, Any]) -> Response:
        return respond_with_answer(SweepOut.from_row(row))

    async with parts.engine.begin() as connection:
        if keyed.call:
            await chains.lock_agent(connection, agent, encoder=None)
        once = keyed.plan_replay(render_answer)
        await once.check_replay(connection)
        row = await sweep_runs.cancel_open_sweep(connection, agent, sweep_id)
        if row is None:
            raise UnknownSweep(sweep_id)
        await once.keep_result(connection, row)
    return render_answer(row)
