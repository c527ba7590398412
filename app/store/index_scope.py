"""Which memories a statement ranks: all of an agent, or those that the agent's index finds.

A large agent has an index of its own (docs/decisions/0017). The index only chooses ids. What holds,
what the filters say, distances and ranks are read from the memories themselves, so an answer from
the index differs from the exact one at most by a memory that the index did not find.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.agent import AgentId
from app.store.ranking import CHOSEN_LEXEMES, MATCHED_LEXEMES, RANK, RANK_OF_CHOSEN, SAME_ENCODER

# How many memories the index is asked for, by vector and by words, to rank so many of them.
_REACH_FACTOR = 2
LEAST_REACH = 100
# The graph of a larger index misses more. It is asked for one of so many memories.
_REACH_SHARE = 2_500
# To ask the index for more takes about as long as to read the whole of an agent of 20,000 memories.
MOST_REACH = 4_000

# The words that find memories are together in no more than about so many memories. If all are more
# frequent, memories must have several, as long as so many at least have them.
CHOSEN_MOST = 2_000
CHOSEN_LEAST = 200
# The most memories with such words that are read.
READ_MOST = 10_000


@dataclass(frozen=True, slots=True)
class AgentIndex:
    """The index of an agent: how many memories it has, and how many of these held, lately."""

    agent: AgentId
    memories: int
    live: int

    def choose_reach(self, needed: int) -> int:
        """Return how many memories to ask for, so that about this many of them hold."""
        versions = self.memories / max(self.live, 1)
        reach = round(needed * _REACH_FACTOR * versions)
        return min(MOST_REACH, max(LEAST_REACH, self.memories // _REACH_SHARE, reach))


@dataclass(frozen=True, slots=True)
class Yield:
    """How many memories the index named for a reach, and how many of those pass the conditions."""

    named: int
    passed: int

    def is_enough(self, reach: int, needed: int) -> bool:
        """Return True if the best `needed` are among those found, or if all were found."""
        return self.passed >= needed or self.named < reach

    def widen_reach(self, reach: int, needed: int) -> int | None:
        """Return the reach that probably suffices; None if that is too far."""
        if not self.passed:
            return None
        wider = round(1.5 * reach * needed / self.passed)
        return wider if wider <= MOST_REACH else None


def choose_next_reach(row: Mapping[str, Any], mode: str, reach: int, needed: int) -> int | None:
    """Return `reach` if it was enough in this mode, a wider one, or None for an exact read.

    `row` is any row of a statement with the `counts` of a scope.
    """
    if not row["is_indexed"]:
        return None
    vectors = Yield(row["near_found"], row["near_passed"])
    words = Yield(row["worded_found"], row["worded_passed"])
    yields = {"vector": [vectors], "text": [words]}.get(mode, [vectors, words])
    short = [one for one in yields if not one.is_enough(reach, needed)]
    wider = [one.widen_reach(reach, needed) for one in short]
    return None if None in wider else max([reach, *filter(None, wider)])


@dataclass(frozen=True, slots=True)
class Scope:
    """The memories that a statement ranks: the FROM and the WHERE of them.

    A fact is compared by `rank`, their rank by words, and a question by `lexemes`, their words if
    these may find them. `ctes` stand before what uses them, each with a comma behind it.
    """

    ctes: str
    source: str
    where: str
    rank: str
    lexemes: str
    columns: str = ""
    counts: str = ""


def rank_all(source: str, where: str, *, chooses: bool = False) -> Scope:
    """Rank every memory of the agent. `chooses` is as in `build_query_words_cte`."""
    if chooses:
        return Scope("", source, where, RANK_OF_CHOSEN, CHOSEN_LEXEMES)
    return Scope("", source, where, RANK, MATCHED_LEXEMES)


# How many memories were found, and how many of them pass the conditions. `live` has those.
_COUNTS = """,
    EXISTS (SELECT FROM agent_indexes i WHERE i.agent_id = :agent) AS is_indexed,
    (SELECT count(*) FROM found WHERE is_near) AS near_found,
    (SELECT count(*) FROM live WHERE is_near) AS near_passed,
    (SELECT count(*) FROM found WHERE is_worded) AS worded_found,
    (SELECT count(*) FROM live WHERE is_worded) AS worded_passed
"""


# The memories that were stored after those in the index.
_NOT_INDEXED = """
    SELECT m.id, false, false
    FROM memories m
    WHERE m.agent_id = :agent AND (m.created_at, m.id) > (
        SELECT i.covers_until, i.covers_id FROM agent_indexes i WHERE i.agent_id = :agent
    )
"""


def rank_found(
    source: str, where: str, *others: str, vector: str | None = None, has_words: bool = True
) -> Scope:
    """Rank what the index finds for the vector and the words, and what it does not have yet.

    `others` are SELECTs of further ids. The parameters are in `list_index_values`.
    """
    selects = []
    if vector is not None:
        selects.append(f"""
            SELECT id, true AS is_near, false AS is_worded
            FROM find_nearest_indexed({vector}, :reach) AS id
            WHERE {SAME_ENCODER}
        """)
    if has_words:
        selects.append(f"""
            SELECT id, false AS is_near, true AS is_worded
            FROM find_indexed_by_words(
                (SELECT chosen FROM query_words),
                (SELECT words FROM query_words),
                {vector or "NULL"},
                :reach,
                :read_most
            ) AS id
        """)
    selects.append(_NOT_INDEXED)
    selects += [f"SELECT other.id, false, false FROM ({other}) AS other" for other in others]
    parts = " UNION ALL ".join(selects)
    named = f"""
        found AS MATERIALIZED (
            SELECT id, bool_or(is_near) AS is_near, bool_or(is_worded) AS is_worded
            FROM ({parts}) AS part
            GROUP BY id
        ),
    """
    return Scope(
        ctes=named,
        source=f"found CROSS JOIN {source}",
        where=f"{where} AND m.id = found.id",
        rank=RANK_OF_CHOSEN,
        lexemes=CHOSEN_LEXEMES,
        columns=", found.is_near, found.is_worded",
        counts=_COUNTS,
    )


def list_index_values(reach: int) -> dict[str, int]:
    """Return the parameters of `rank_found`."""
    return list_choice_values() | {"reach": reach, "read_most": READ_MOST}


def list_choice_values() -> dict[str, int]:
    """Return the parameters of a `build_query_words_cte` that chooses."""
    return {"chosen_least": CHOSEN_LEAST, "chosen_most": CHOSEN_MOST}


# If all words of a fact are frequent, only its vector chooses what it is compared with. To find
# words that are rare together takes longer than all else.
CHOICE_FOR_FACTS = {"chosen_least": None}
