"""Who calls, and what the key of the call allows: kinds of calls, agents, and trust."""

import hmac
import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import NewType

from app.domain.agent import AgentId
from app.domain.errors import (
    AgentForbidden,
    AgentNotNamed,
    HistoryForbidden,
    ScopeMissing,
    TrustTooHigh,
)
from app.domain.fact import DEFAULT_TRUST, Fact

KeyId = NewType("KeyId", str)

MAX_TRUST = 100
DEFAULT_AGENT = AgentId("default")
EVERY_AGENT = "*"
_EVERY_ID_BELOW = "/*"
_KEY = re.compile(r"pal_([0-9a-f]{16})_([0-9a-f]{64})")


class Scope(StrEnum):
    """A kind of call. Each is granted by itself: none contains another."""

    READ = "read"
    WRITE = "write"
    REVIEW = "review"
    ERASE = "erase"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """The calls that a caller may make.

    `agents` are ids of agents, `acme/*` for every id that begins with `acme/`, and `*` for all.
    `trust_ceiling` is the highest trust, 0 to 100, that the caller may state for a fact.
    """

    scopes: frozenset[Scope]
    agents: tuple[str, ...]
    trust_ceiling: int = MAX_TRUST

    def require_scope(self, scope: Scope) -> None:
        """Raise ScopeMissing unless such calls are allowed."""
        if scope not in self.scopes:
            raise ScopeMissing(scope)

    def allows_agent(self, agent: str) -> bool:
        return any(covers_agents(allowed, agent) for allowed in self.agents)

    def require_agent(self, agent: str) -> AgentId:
        """Raise AgentForbidden unless calls for this agent are allowed."""
        if not self.allows_agent(agent):
            raise AgentForbidden(agent)
        return AgentId(agent)

    @property
    def only_agent(self) -> AgentId | None:
        """The one agent that calls may be for, None if they may be for several."""
        if len(self.agents) == 1 and not is_pattern(self.agents[0]):
            return AgentId(self.agents[0])
        return None

    def choose_agent(self, named: str | None) -> AgentId:
        """Return the agent of a call that names this one, or None.

        A call that names none is for the only agent, or else for `default`. Raises AgentForbidden
        and AgentNotNamed.
        """
        if named is not None:
            return self.require_agent(named)
        if only_agent := self.only_agent:
            return only_agent
        if self.allows_agent(DEFAULT_AGENT):
            return DEFAULT_AGENT
        raise AgentNotNamed(self.agents)

    def limit_trust(self, stated: int | None) -> int | None:
        """Return the trust of a fact for which this trust is stated, or None.

        A fact without one gets the usual trust, or the ceiling if that is lower. Raises
        TrustTooHigh for a stated trust above the ceiling.
        """
        if stated is None:
            return None if self.trust_ceiling >= DEFAULT_TRUST else self.trust_ceiling
        if stated > self.trust_ceiling:
            raise TrustTooHigh(stated, self.trust_ceiling)
        return stated

    def limit_fact(self, fact: Fact) -> Fact:
        """Return the fact with the trust that it may have. Raises TrustTooHigh."""
        trust = self.limit_trust(fact.trust)
        return fact if trust == fact.trust else replace(fact, trust=trust)

    def require_full_trust(self) -> None:
        """Raise HistoryForbidden unless any trust may be stated."""
        if self.trust_ceiling < MAX_TRUST:
            raise HistoryForbidden(self.trust_ceiling)

    def include(self, other: "Rights") -> bool:
        """Return True if these rights allow everything that the other ones allow."""
        covers_agents = all(self.allows_agent(pattern) for pattern in other.agents)
        return (
            other.scopes <= self.scopes
            and covers_agents
            and other.trust_ceiling <= self.trust_ceiling
        )


def is_pattern(agents: str) -> bool:
    """Return True if the text stands for many agents."""
    return agents == EVERY_AGENT or agents.endswith(_EVERY_ID_BELOW)


def covers_agents(allowed: str, agents: str) -> bool:
    """Return True if `allowed` stands for an agent, or for every agent of a pattern."""
    if allowed in (EVERY_AGENT, agents):
        return True
    beginning = allowed.removesuffix("*")
    is_longer = len(agents) > len(beginning)
    return is_pattern(allowed) and is_longer and agents.startswith(beginning)


EVERYTHING = Rights(scopes=frozenset(Scope), agents=(EVERY_AGENT,))


@dataclass(frozen=True, slots=True)
class Actor:
    """Who calls: a name for the log, the rights, and the time at which they end, if they do.

    `key_id` is that of the issued key, None for whoever calls without one. `audience` is the only
    path that a token of OAuth is for.
    """

    name: str
    rights: Rights
    expires_at: datetime | None = None
    key_id: KeyId | None = None
    audience: str | None = None


ROOT = Actor("root", EVERYTHING)
# Whoever calls a service that asks nobody for a key.
ANONYMOUS = Actor("anonymous", EVERYTHING)
# Whoever calls, without showing a key, what is open to everybody.
STRANGER = Actor("stranger", Rights(scopes=frozenset(), agents=()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is stored, without its secret; one with an audience is a token of OAuth."""

    id: KeyId
    secret_hash: bytes = field(repr=False)
    name: str
    rights: Rights
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    audience: str | None = None

    @property
    def actor(self) -> Actor:
        return Actor(f"key:{self.id}", self.rights, self.expires_at, self.id, self.audience)

    def is_valid(self, now: datetime) -> bool:
        has_expired = self.expires_at is not None and self.expires_at <= now
        return self.revoked_at is None and not has_expired

    def has_secret(self, secret: str) -> bool:
        return hmac.compare_digest(hash_secret(secret), self.secret_hash)


@dataclass(frozen=True, slots=True)
class PresentedKey:
    """A key as a caller sends it."""

    id: KeyId
    secret: str = field(repr=False)

    def format(self) -> str:
        return f"pal_{self.id}_{self.secret}"

    @classmethod
    def parse(cls, text: str) -> "PresentedKey | None":
        """Return None if the text is not a key that was issued here."""
        match = _KEY.fullmatch(text)
        return cls(KeyId(match[1]), match[2]) if match else None


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 of a secret. It has 256 random bits, so a slow hash would add nothing."""
    return sha256(secret.encode()).digest()
