"""The chain covers every column of the log that says something."""

from app.domain.log_chain import CONTENT_COLUMNS, LINKED_COLUMNS
from app.store.other_columns import OTHER_COLUMNS, Erasure
from app.store.tables import consolidation_log

# The agent may be imported under another name, and a revert marks what it undid. The others are
# computed from the columns of the chain.
NOT_COVERED = {
    "agent_id",
    "reverted_by",
    "signal_names",
    "previous_hash",
    "hash",
    "content_digest",
    "content_salt",
}


def test_every_column_is_covered_once_or_left_out_for_a_reason() -> None:
    names = [*CONTENT_COLUMNS, *LINKED_COLUMNS, *NOT_COVERED]
    assert sorted(names) == sorted(column.name for column in consolidation_log.columns)


def test_the_content_is_all_that_erase_takes_out() -> None:
    erased = {
        column.name
        for column in OTHER_COLUMNS["consolidation_log"]
        if column.erasure in (Erasure.REMOVED, Erasure.BY_FIELD)
    }
    assert erased - NOT_COVERED == set(CONTENT_COLUMNS)
