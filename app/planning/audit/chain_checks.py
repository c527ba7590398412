"""Checks of one chain: its first version, and the ends that follow from the claims (DESIGN §2)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from app.domain.timeline import settle_chain
from app.domain.version import Version
from app.planning.audit.faults import Fault, Remedy, RemedyTable
from app.planning.audit.replay import to_log_value

Ends = Mapping[str, Any]

# The known time of the changes that settling a chain would make; it is never written.
_ANY_TIME = datetime.max.replace(tzinfo=UTC)


def check_chain(chain: Sequence[Version], logged_ends: Mapping[str, Ends]) -> Iterator[Fault]:
    """Check that the chain has its first version, and that each version has its right end.

    `logged_ends` has the computed ends by the log, of versions for which the table has others. An
    end has a remedy only if the chain and the log agree on it.
    """
    if all(version.id != version.chain_id for version in chain):
        first = chain[0]
        sentence = f"Memory {first.id} is in the chain of {first.chain_id}, which is not."
        yield Fault("chains", (str(first.id), str(first.chain_id)), sentence)
    for version, settled in zip(chain, settle_chain(chain, _ANY_TIME), strict=True):
        yield from _check_end(version, _get_ends(settled), logged_ends.get(str(version.id)))


def _get_ends(version: Version) -> Ends:
    belief = version.belief
    return {
        "covered": to_log_value(belief.covered),
        "valid_until": to_log_value(belief.valid_until),
        "superseded_by": to_log_value(belief.superseded_by),
        "superseded_at": to_log_value(belief.superseded_at),
    }


def _check_end(version: Version, right: Ends, logged: Ends | None) -> Iterator[Fault]:
    memory_id, stored = str(version.id), _get_ends(version)
    remedy = None
    if logged and _is_same_end(logged, right):
        remedy = Remedy(RemedyTable.MEMORY, memory_id, logged)
    if not _is_same_end(stored, right):
        sentence = (
            f"Memory {memory_id} {_describe_end(stored)}; by its chain it {_describe_end(right)}."
        )
        successors = [ends["superseded_by"] for ends in (stored, right) if ends["superseded_by"]]
        ids = dict.fromkeys([memory_id, *successors])
        yield Fault("chains", tuple(ids), sentence, remedy)
    elif logged and remedy:
        sentence = (
            f"Memory {memory_id} was superseded at {stored['superseded_at']}; "
            f"the log says at {logged['superseded_at']}."
        )
        yield Fault("chains", (memory_id,), sentence, remedy)
    elif logged:
        sentence = (
            f"Memory {memory_id} {_describe_end(stored)}, as its chain says; "
            f"by the log it {_describe_end(logged)}."
        )
        yield Fault("log", (memory_id,), sentence)


def _is_same_end(one: Ends, other: Ends) -> bool:
    """Compare ends but for `superseded_at`, which does not follow from the chain alone."""
    return all(one[name] == other[name] for name in ("covered", "valid_until", "superseded_by"))


def _describe_end(ends: Ends) -> str:
    end = f"ends at {ends['valid_until']}" if ends["valid_until"] else "has no end"
    if ends["covered"]:
        end += f", covered and resumed at {', '.join(ends['covered'])}"
    return f"{end}, superseded by {ends['superseded_by']}" if ends["superseded_by"] else end
