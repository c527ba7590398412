"""The answer of the route that says who calls."""

from contextlib import suppress
from typing import Self

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.errors import AgentForbidden, AgentNotNamed
from app.domain.keys import Actor, Scope


class ActorOut(AnswerBase):
    """Who calls, and what the key of the call allows."""

    actor: str = Field(
        description="The name in the log: `root`, `anonymous`, `key:` and an id, or `token:` …"
    )
    scopes: list[Scope]
    agents: list[str] = Field(description="Ids of agents; `acme/*`: all below; `*`: all.")
    agent: str | None = Field(
        description="The agent of a call that names none; null if every call must name one."
    )
    trust_ceiling: int
    expires_at: Time | None

    @classmethod
    def from_actor(cls, actor: Actor) -> Self:
        rights = actor.rights
        agent: str | None = None
        with suppress(AgentForbidden, AgentNotNamed):
            agent = rights.choose_agent(None)
        return cls.model_construct(
            actor=actor.name,
            scopes=[scope for scope in Scope if scope in rights.scopes],
            agents=list(rights.agents),
            agent=agent,
            trust_ceiling=rights.trust_ceiling,
            expires_at=actor.expires_at,
        )
