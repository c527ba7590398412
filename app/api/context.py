"""The current picture for a prompt."""

from typing import Annotated, Any, Self

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import PlainTextResponse, Response

from app.api import examples
from app.api.answers import HintOut, MemoryOut
from app.api.deps import AgentDep, PartsDep, PointQuery
from app.api.reply import respond_with_answer
from app.api.schemas import Content, FilterFields
from app.api.times import Time
from app.domain.context import SECTIONS, ContextItem
from app.domain.fact import Kind
from app.domain.strength import HalfLives
from app.services.context import ComposedContext

router = APIRouter(prefix="/v1", tags=["recall"])

MAX_BUDGET = 32_000


class ContextQuery(PointQuery, FilterFields):
    """What the context is for, and how long it may be."""

    query: Content | None = Field(
        None,
        description="What the prompt is about; without it, the strongest memories come first.",
        json_schema_extra=examples.QUESTION,
    )
    budget_tokens: Annotated[int, Field(ge=1, le=MAX_BUDGET)] = Field(
        1000,
        description="Tokens that the text may take, headings included, by an estimate that is right to about a tenth.",
    )


class ContextItemOut(BaseModel):
    """A memory, the line it takes in the text, how useful it is, 0 to 1, and what should be known before acting on it."""

    memory: MemoryOut
    line: str
    usefulness: float
    hints: list[HintOut] = Field(
        description="`unstable_slot`, `flip_flop`: ask before acting on it."
    )

    @classmethod
    def from_item(cls, item: ContextItem, composed: ComposedContext, half_lives: HalfLives) -> Self:
        memory = MemoryOut.from_memory(item.memory, composed.moment.as_of, half_lives)
        hints = [HintOut.from_hint(hint) for hint in composed.hints.get(memory.id, ())]
        return cls.model_construct(
            memory=memory,
            line=item.line.rstrip("\n"),
            usefulness=round(item.usefulness, 6),
            hints=hints,
        )


class ContextAnswer(BaseModel):
    """What holds, by kind, most useful first: as text for a prompt, and as items in the order of the text."""

    model_config = ConfigDict(use_enum_values=True)

    text: str
    tokens: int = Field(description="Tokens of the text, by the same estimate.")
    items: dict[Kind, list[ContextItemOut]]
    left_out: int = Field(
        description="How many others hold that did not fit. Equal texts count once where both were read."
    )
    as_of: Time
    known_at: Time

    @classmethod
    def from_context(cls, composed: ComposedContext, half_lives: HalfLives) -> Self:
        context, moment = composed.context, composed.moment
        items: dict[str, list[ContextItemOut]] = {kind.value: [] for kind in SECTIONS}
        for item in context.items:
            items[item.kind.value].append(ContextItemOut.from_item(item, composed, half_lives))
        return cls.model_construct(
            text=context.text,
            tokens=context.tokens,
            items=items,
            left_out=context.left_out,
            as_of=moment.as_of,
            known_at=moment.known_at,
        )


_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ContextAnswer,
        "description": "The context",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
}


@router.get("/context", responses=_ANSWER, response_model=None)
async def context(
    parts: PartsDep,
    agent: AgentDep,
    query: Annotated[ContextQuery, Query()],
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """What holds now, by kind, most useful first, within a budget: constraints before all others, never anything superseded.
    With `Accept: text/plain`, the text alone."""
    composed = await parts.context.compose(
        agent,
        query.query,
        budget=query.budget_tokens,
        filters=query.to_filters(),
        point=query.to_point(),
    )
    parts.usage.note_uses(agent, (item.memory.id for item in composed.context.items))
    if "text/plain" in accept and "application/json" not in accept:
        return PlainTextResponse(composed.context.text)
    return respond_with_answer(ContextAnswer.from_context(composed, parts.half_lives))
