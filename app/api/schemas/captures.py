"""Requests that store messages and undo captures."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, StrictBool, StringConstraints, model_validator

from app.api.message_forms import MAX_CHARACTERS, MAX_MESSAGE, MAX_MESSAGES
from app.api.schemas.fields import (
    PageSize,
    Splitting,
    StrictRequest,
    Word,
    check_text,
)
from app.api.times import SpokenTime
from app.api.views import VIEW_DESCRIPTION, View
from app.domain.captures import CaptureRequest, CaptureState, ExtractBy, Message
from app.domain.talk import Role

MessageText = Annotated[
    str,
    StringConstraints(max_length=MAX_MESSAGE),
    AfterValidator(check_text),
]


class MessageRequest(StrictRequest):
    """A message of a session."""

    id: Word | None = Field(
        None,
        description=(
            "A name of your own for it, unique in the session. A message whose id the session has "
            "already is not stored again."
        ),
    )
    role: Role = Field(description="Who speaks. Facts are read from what users say.")
    name: Word | None = Field(None, description="The name of the speaker.")
    content: MessageText = Field(description="What was said, in full.")
    at: SpokenTime | None = Field(None, description="When it was said. Default: now.")

    def to_message(self) -> Message:
        return Message(self.role, self.content, self.id, self.name, self.at)


def _name_forms(schema: dict[str, Any]) -> None:
    """Add to the schema of messages that each may have the form of an SDK."""
    form = {
        "type": "object",
        "additionalProperties": True,
        "description": (
            "A message as the SDK of OpenAI, Anthropic or Gemini, LangChain, Pydantic AI or "
            "Vercel's AI SDK writes it."
        ),
    }
    schema["items"] = {"anyOf": [schema["items"], form]}


class MessagesRequest(StrictRequest):
    """Messages of a session, in the order in which they were said."""

    session_id: Word | None = Field(
        None,
        description=(
            "A name of your own for the conversation. Default: a session of the call's own, which "
            "the answer names."
        ),
    )
    messages: Annotated[list[MessageRequest], Field(min_length=1, max_length=MAX_MESSAGES)] = Field(
        description=(
            f"Together at most {MAX_CHARACTERS:,} characters. Each as it is here, or as an SDK "
            "writes it (docs/guide/messages.md#forms-of-messages)."
        ),
        json_schema_extra=_name_forms,
    )
    extract: ExtractBy | None = Field(
        None,
        description=(
            "What reads facts from them. Default: what PALIMPSEST_EXTRACT says. `model` falls back "
            "to the rules if the model does not answer; `off` stores the messages alone."
        ),
    )
    split: Splitting = Field(
        "auto",
        description=(
            "off: a sentence of several facts stays one. What a model reads is never split."
        ),
    )
    wait: StrictBool | None = Field(
        None,
        description=(
            "true: answer with the facts. false: answer at once (202); a worker reads the messages "
            "together with the next of the session, which costs a model far less. Default: false "
            "where a model reads and PALIMPSEST_CAPTURE_QUIET_SECONDS is not 0."
        ),
    )
    dry_run: StrictBool = Field(
        False,
        description=(
            "true: answer with what would be done and write nothing; for messages of at most 1,000 "
            "facts."
        ),
    )

    @model_validator(mode="after")
    def _check_messages(self) -> Self:
        ids = [message.id for message in self.messages if message.id is not None]
        if len(set(ids)) < len(ids):
            raise ValueError("two messages have the same id; give each an id of its own")
        return self

    def to_capture_request(
        self,
        *,
        extract: ExtractBy,
        trust: int,
        may_end_stated: bool,
        model_waits: bool,
        redacted: int,
    ) -> CaptureRequest:
        """Return the request. `model_waits` is the default of `wait` where a model reads."""
        by_default = model_waits if extract is ExtractBy.MODEL else True
        return CaptureRequest(
            session_id=self.session_id,
            messages=tuple(message.to_message() for message in self.messages),
            extract=extract,
            split=self.split == "auto",
            trust=trust,
            may_end_stated=may_end_stated,
            waits=by_default if self.wait is None else self.wait,
            dry_run=self.dry_run,
            redacted=redacted,
        )


class CapturesQuery(StrictRequest):
    """A page of captures, and which of them it shows."""

    session_id: Word | None = None
    state: CaptureState | None = None
    limit: PageSize = 50
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")
    view: View = Field(View.FULL, description=VIEW_DESCRIPTION)


class UndoRequest(StrictRequest):
    """How a capture is undone."""

    cascade: StrictBool = Field(
        False, description="Undo also what was built on it; without this, 409 lists that."
    )
    dry_run: StrictBool = Field(
        False, description="true: answer with what would be undone and write nothing."
    )
