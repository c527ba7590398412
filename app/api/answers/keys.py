"""Answers of the routes of keys."""

from typing import Any, Self

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.keys import ApiKey, Scope
from app.services.keys import IssuedKey


class KeyOut(AnswerBase):
    """A key, without its secret."""

    id: str = Field(description="The id of the key, which is no secret.")
    name: str
    scopes: list[Scope]
    agents: list[str] = Field(
        description=(
            "The agents that the key is for: ids, `acme/*` for all with that beginning, or `*`."
        )
    )
    trust_ceiling: int
    created_at: Time
    created_by: str = Field(description="`root`, `command`, or `key:` and the id of a key.")
    expires_at: Time | None
    revoked_at: Time | None = Field(description="When it was revoked; null: it was not.")
    last_used_at: Time | None = Field(description="Written once a minute.")

    @classmethod
    def from_key(cls, key: ApiKey, /, **more: Any) -> Self:
        rights = key.rights
        return cls.from_attributes(
            key,
            scopes=[scope for scope in Scope if scope in rights.scopes],
            agents=list(rights.agents),
            trust_ceiling=rights.trust_ceiling,
            **more,
        )


class IssuedKeyOut(KeyOut):
    """A new key, with its secret."""

    key: str = Field(description="What callers send. It is shown only here, and stored nowhere.")

    @classmethod
    def from_issued(cls, issued: IssuedKey) -> Self:
        return cls.from_key(issued.key, key=issued.text)


class KeysAnswer(AnswerBase):
    """Keys in order of their ids, those that have ended included."""

    items: list[KeyOut]
    next_cursor: str | None
