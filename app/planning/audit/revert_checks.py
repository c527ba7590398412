"""Checks of reverts: `reverts` and `reverted_by` of the log's operations must fit each other."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.domain.relation import Operation
from app.planning.audit.faults import Fault, Remedy, RemedyTable

LogRow = Mapping[str, Any]


def check_reverts(operations: Sequence[LogRow]) -> Iterator[Fault]:
    """Check that `reverted_by` of each operation names the revert of it that stands.

    `operations` are all operations that undid another or were undone, newest first.
    """
    earlier: set[Any] = set()
    wrong: list[Fault] = []
    for operation in reversed(operations):
        log_id, undone, kind = str(operation["id"]), operation["reverts"], operation["operation"]
        if (kind == Operation.REVERT) != (undone is not None):
            ids = (log_id, *([str(undone)] if undone else []))
            sentence = f"Operation {log_id} is of the kind {kind} and undid {undone or 'nothing'}."
            wrong.append(Fault("reverts", ids, sentence))
        elif undone is not None and undone not in earlier:
            sentence = f"Operation {log_id} undid {undone}, which this agent had not done before."
            wrong.append(Fault("reverts", (log_id, str(undone)), sentence))
        earlier.add(operation["id"])
    yield from wrong
    standing_reverts: dict[Any, list[Any]] = {}
    for operation in operations:
        reverts = standing_reverts.get(operation["id"], [])
        if operation["reverts"] is not None and not reverts:
            standing_reverts.setdefault(operation["reverts"], []).append(operation["id"])
        yield from _check_reverted_by(operation, reverts, trusted=not wrong)


def _check_reverted_by(
    operation: LogRow, standing: Sequence[Any], *, trusted: bool
) -> Iterator[Fault]:
    """Compare `reverted_by` with the reverts that stand.

    It may be put right if it is `trusted` that every `reverts` is sound.
    """
    log_id, stated = str(operation["id"]), operation["reverted_by"]
    if len(standing) > 1:
        reverts = list(map(str, standing))
        sentence = f"Operation {log_id} was undone more than once: by {', '.join(reverts)}."
        yield Fault("reverts", (log_id, *reverts), sentence)
        return
    right = standing[0] if standing else None
    if stated == right:
        return
    sentence = (
        f"Operation {log_id} says that it was undone by {stated or 'none'}; "
        f"by the log it was undone by {right or 'none'}."
    )
    ids = [str(i) for i in (log_id, stated, right) if i is not None]
    values = {"reverted_by": None if right is None else str(right)}
    remedy = Remedy(RemedyTable.OPERATION, log_id, values) if trusted else None
    yield Fault("reverts", tuple(ids), sentence, remedy)
