"""Short-lived tokens for one agent, signed by whoever shares a secret with the service."""

import time
from datetime import UTC, datetime
from typing import Annotated

import jwt
from pydantic import BaseModel, Field, ValidationError, field_validator

from app.domain.agent import AGENT_ID_PATTERN
from app.domain.fact import DEFAULT_TRUST
from app.domain.keys import MAX_TRUST, Actor, Rights, Scope, is_pattern

ALGORITHM = "HS256"
AUDIENCE = "palimpsest"
LONGEST_LIFE = 3600  # seconds
CLOCK_DIFFERENCE = 10  # seconds that the signer's clock may be ahead or behind
MOST_BYTES = 4_096
GRANTED_SCOPES = frozenset(Scope) - {Scope.ADMIN}


class BadToken(Exception):
    """The token is signed rightly, but says what no token may, or has expired."""


class _Claims(BaseModel):
    sub: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,100}$")]
    agent: Annotated[str, Field(pattern=AGENT_ID_PATTERN)]
    scope: str
    trust: Annotated[int, Field(ge=0, le=MAX_TRUST)] = DEFAULT_TRUST
    exp: float

    @field_validator("agent")
    @classmethod
    def _check_agent(cls, agent: str) -> str:
        if is_pattern(agent):
            raise ValueError("a token is for one agent")
        return agent

    @field_validator("scope")
    @classmethod
    def _check_scope(cls, scope: str) -> str:
        if not scope.split() or not GRANTED_SCOPES.issuperset(scope.split()):
            raise ValueError(f"give some of {', '.join(sorted(GRANTED_SCOPES))}")
        return scope

    @field_validator("exp")
    @classmethod
    def _check_end(cls, end: float) -> float:
        if end > time.time() + LONGEST_LIFE + CLOCK_DIFFERENCE:
            raise ValueError("a token lives for an hour at most")
        return end

    def to_actor(self) -> Actor:
        rights = Rights(
            scopes=frozenset(map(Scope, self.scope.split())),
            agents=(self.agent,),
            trust_ceiling=self.trust,
        )
        expires_at = datetime.fromtimestamp(self.exp + CLOCK_DIFFERENCE, UTC)
        return Actor(f"token:{self.sub}", rights, expires_at)


def read_token(text: str, secret: str) -> Actor | None:
    """Return who calls with this token; None if it was not signed with the secret.

    Raises BadToken. The claims are described in docs/operate/keys.md.
    """
    if not _is_signed(text, secret):
        return None
    try:
        claims = jwt.decode(
            text,
            secret,
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            leeway=CLOCK_DIFFERENCE,
            options={"require": ["aud", "exp"]},
        )
        return _Claims.model_validate(claims).to_actor()
    except jwt.InvalidTokenError as problem:
        raise BadToken(f"The token is refused: {problem}.") from None
    except ValidationError as problem:
        error = problem.errors()[0]
        raise BadToken(f"The token's `{error['loc'][0]}` is refused: {error['msg']}.") from None


def _is_signed(text: str, secret: str) -> bool:
    """Return True if the signature is right. Only then may the answer say what else is wrong."""
    if len(text) > MOST_BYTES:
        return False
    try:
        jwt.PyJWS().decode(text, secret, algorithms=[ALGORITHM])
    except jwt.InvalidTokenError:
        return False
    return True
