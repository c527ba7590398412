"""The advice for the person who runs the service: each error's text on the command line."""

from pathlib import Path

import pytest

from app.advice import advise_operator
from app.domain import errors
from app.domain.errors import PalimpsestError
from app.services.reembed import ReembedStopped
from app.store import unfit
from app.store.reembed import ReembedUnderWay

STOPPED = " What is done is kept, and everything still works with the old model: run `palimpsest reembed` again."


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            errors.UnknownAgent("ann"),
            "Nothing was ever stored for an agent 'ann'. GET /v1/agents lists those that are known.",
        ),
        (
            errors.UnknownArchive("ann", "x.ndjson"),
            "Agent 'ann' has no archive 'x.ndjson'. `palimpsest doctor` names those that are missing or damaged.",
        ),
        (
            errors.LogDamaged("ann", "7"),
            "The log of agent 'ann' cannot be replayed for memory 7, so that none of it was archived. "
            "`palimpsest doctor` says what is wrong.",
        ),
        (
            errors.ArchiveFolderMissing(),
            "The archive folder is not there: make it or mount it, or set PALIMPSEST_ARCHIVE_DIR. "
            "Nothing was archived or erased.",
        ),
        (
            errors.ArchiveDamaged("The archive a is not as it was written."),
            "The archive a is not as it was written. Bring it back from a copy, or give it up with "
            "`palimpsest retain --forget`. Nothing was archived or erased.",
        ),
        (ReembedStopped(errors.EmbedderUnavailable("No answer.")), "No answer." + STOPPED),
        (
            ReembedStopped(errors.EmbedderKeyRefused("The embedding server answered 401.")),
            "The embedding server answered 401. Check PALIMPSEST_EMBEDDING_API_KEY." + STOPPED,
        ),
        (
            ReembedStopped(errors.WrongVectorSize(2, 3)),
            "The embedding server answered with 2 dimensions where PALIMPSEST_EMBEDDING_DIMENSIONS "
            "says 3; set it to what the model gives." + STOPPED,
        ),
        (
            ReembedUnderWay(),
            "Another `palimpsest reembed` works on this database. Let it finish, or end it; then run this again.",
        ),
        (
            unfit.OtherSchema(),
            "The database schema is not that of this version. "
            "Run `palimpsest migrate` or start with `palimpsest serve --migrate`.",
        ),
        (
            unfit.OtherEncoder(stored=("old", 384), own=("new", 8)),
            "The vectors in this database were made by old (384 dimensions), not by new (8). "
            "Run `palimpsest reembed` to change them to new, or start with that model, or with another database.",
        ),
        (
            unfit.UnknownTextLanguage("klingon"),
            "PALIMPSEST_TEXT_LANGUAGE: this Postgres has no text search configuration 'klingon'; "
            "`english` is one.",
        ),
        (
            unfit.UnreadableAddress("it cannot be read"),
            "PALIMPSEST_DATABASE_URL: it cannot be read",
        ),
        (
            unfit.NoConnection("connection refused"),
            "Cannot connect to the database of PALIMPSEST_DATABASE_URL: connection refused",
        ),
        (
            unfit.OldServer("15.2"),
            "Postgres 15.2 is too old: 16 or newer is needed. Upgrade the server, then run `palimpsest migrate`.",
        ),
        (
            unfit.MissingExtension("0.8.4"),
            "The extension `vector` (pgvector) is missing. Install pgvector 0.8.4 or newer on the server, "
            "then run `palimpsest migrate`.",
        ),
        (
            unfit.OldExtension("0.5.0", "0.8.4"),
            "pgvector 0.5.0 is too old: 0.8.4 or newer is needed. Install it, run `ALTER EXTENSION vector "
            "UPDATE`, `palimpsest migrate`.",
        ),
        (
            unfit.DataFolderUnwritable("/file/data", "Not a directory"),
            "PALIMPSEST_DATA_DIR: Not a directory: /file/data. Name a folder that this user may write.",
        ),
        (
            unfit.DataFolderInUse(Path("/data")),
            "PALIMPSEST_DATA_DIR: /data is in use by a process that cannot be seen from here, such as one in "
            "another container. Stop that one, or let both use one database with PALIMPSEST_DATABASE_URL.",
        ),
        (errors.InvalidFact("It contradicts itself."), "It contradicts itself."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_an_error_is_printed_with_what_to_do_about_it(
    error: PalimpsestError | unfit.UnfitDatabase, text: str
) -> None:
    assert advise_operator(error) == text
