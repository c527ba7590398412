"""Requests that undo operations."""

from dataclasses import fields, replace
from typing import Self
from uuid import UUID

from pydantic import Field, StrictBool, model_validator

from app.api.schemas.fields import StrictRequest, Word, build_from_fields
from app.api.times import Time
from app.domain.actor import name_sweep
from app.domain.relation import Judge, Operation
from app.store.log.reverts import Selection


class RevertRequest(StrictRequest):
    """How an operation is undone."""

    cascade: StrictBool = Field(
        default=False, description="Undo first what was built on it; without this, 409 lists that."
    )
    store: StrictBool = Field(
        default=False,
        description="Of a NOOP or DELETE: store what was said as a memory of its own too.",
    )


MAX_LOG_IDS = 200
_CRITERIA = (*(field.name for field in fields(Selection)), "sweep_id")


class RevertsRequest(StrictRequest):
    __doc__ = (
        "Which operations to undo: those that meet all criteria, of which one at least is needed. "
        "Those that were undone before are left out."
    )

    log_ids: list[UUID] | None = Field(
        None, min_length=1, max_length=MAX_LOG_IDS, description="These operations of the log."
    )
    operation: Operation | None = Field(None, description="Only operations of this kind.")
    sweep_id: UUID | None = Field(None, description="What a sweep did.")
    request_id: Word | None = Field(
        None, description="X-Request-Id of the call that did them: a batch, an import."
    )
    session_id: Word | None = Field(None, description="Only operations of this session.")
    source: Word | None = Field(None, description="`source` of the facts that were sent.")
    decided_by: Judge | None = Field(None, description="Which judge decided.")
    actor: Word | None = Field(
        None,
        description="Who wrote them, as `actor` in the log. With `since`: all that a key wrote "
        "since then.",
    )
    since: Time | None = Field(None, description="From this time on.")
    until: Time | None = Field(None, description="Up to this time.")
    capture_id: UUID | None = Field(None, description="What stored the facts of a capture.")
    cascade: StrictBool = Field(
        False, description="Undo also what was built on them; without this, 409 lists that."
    )
    dry_run: StrictBool = Field(
        False, description="true: answer with what would be undone and write nothing."
    )

    @model_validator(mode="after")
    def _require_criterion(self) -> Self:
        if all(getattr(self, name) is None for name in _CRITERIA):
            raise ValueError("name at least one criterion, such as request_id or since")
        if self.sweep_id and (self.request_id or self.actor):
            raise ValueError(
                "give sweep_id alone, without request_id and actor: operations of a sweep carry "
                "its id in both"
            )
        return self

    def to_selection(self) -> Selection:
        selection = build_from_fields(Selection, self, log_ids=self.log_ids)
        if self.sweep_id is None:
            return selection
        # The actor selects: a caller may send the id of a sweep as its own request id. The request
        # id is stated too because an index finds it.
        return replace(selection, request_id=str(self.sweep_id), actor=name_sweep(self.sweep_id))
