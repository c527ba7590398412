"""Requests that issue and change keys."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, Field

from app.api.schemas.fields import Number, PageSize, StrictRequest, Word
from app.api.times import Time
from app.domain.agent import AGENT_ID_RULE
from app.domain.keys import MAX_TRUST, Rights, Scope

KEY_ID_PATTERN = r"^[0-9a-f]{16}$"
MOST_AGENTS = 100
LONGEST_OVERLAP = 30 * 86_400  # seconds


# The id of an agent, or its beginning and a star. An id that holds a star itself cannot be named.
_AGENTS = r"^(\*|[\x21-\x29\x2b-\x7e]{1,126}(/\*)?)$"


def _check_agents(agents: str) -> str:
    if not re.fullmatch(_AGENTS, agents):
        raise ValueError(
            f"give the id of an agent ({AGENT_ID_RULE}), `*` for every agent, or a beginning that "
            "ends with a slash, and a star: acme/*"
        )
    return agents


Agents = Annotated[
    str, AfterValidator(_check_agents), Field(json_schema_extra={"pattern": _AGENTS})
]


class KeyRequest(StrictRequest):
    """A key to issue."""

    name: Word = Field(description="For people: who uses it, and what for.")
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=len(Scope))] = Field(
        description="The calls that it allows. None contains another."
    )
    agents: Annotated[list[Agents], Field(min_length=1, max_length=MOST_AGENTS)] = Field(
        description="Ids of agents, `acme/*` for every id that begins with `acme/`, `*` for all."
    )
    trust_ceiling: Annotated[int, Field(ge=0, le=MAX_TRUST), Number] = Field(
        MAX_TRUST, description="The highest trust that it may give to a fact, 0 to 100."
    )
    expires_at: Time | None = Field(None, description="When it ends. Default: never.")

    def to_rights(self) -> Rights:
        return Rights(
            scopes=frozenset(self.scopes),
            agents=tuple(dict.fromkeys(self.agents)),
            trust_ceiling=self.trust_ceiling,
        )


class RotateRequest(StrictRequest):
    """How a key is replaced."""

    overlap: Annotated[int, Field(ge=0, le=LONGEST_OVERLAP), Number] = Field(
        3600, description="Seconds for which the old key still works, so that callers can change."
    )

    def to_overlap(self) -> timedelta:
        return timedelta(seconds=self.overlap)


class KeysQuery(StrictRequest):
    """A page of keys."""

    limit: PageSize = 50
    cursor: str | None = Field(
        None, pattern=KEY_ID_PATTERN, description="`next_cursor` of the page before."
    )
