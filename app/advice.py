"""Advice for the person who runs the service, in words of the command line and the settings."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.domain import errors
from app.services.reembed import ReembedStopped
from app.store import unfit
from app.store.reembed import ReembedUnderWay

# Templates over an error's message (`fact`) and its attributes. The first kind that fits counts,
# so a kind stands before its base. An error of no kind here is its message.
_ADVICE: Mapping[type[Exception], str] = {
    errors.UnknownAgent: "{fact} GET /v1/agents lists those that are known.",
    errors.UnknownKey: "{fact} `palimpsest keys list` shows all of them.",
    errors.KeyEnded: "{fact} Issue a new one with `palimpsest keys create`.",
    errors.UnknownArchive: "{fact} `palimpsest doctor` names those that are missing or damaged.",
    errors.LogDamaged: "{fact} `palimpsest doctor` says what is wrong.",
    errors.ArchiveFolderMissing: (
        "The archive folder is not there: make it or mount it, or set PALIMPSEST_ARCHIVE_DIR. "
        "Nothing was archived or erased."
    ),
    errors.ArchiveFolderReadOnly: (
        "The archive folder cannot be written: give the service the right to it. "
        "Nothing was archived or erased."
    ),
    errors.ArchiveDamaged: (
        "{reason} Bring it back from a copy, or give it up with `palimpsest retain --forget`. "
        "Nothing was archived or erased."
    ),
    errors.EmbedderKeyRefused: "{reason} Check PALIMPSEST_EMBEDDING_API_KEY.",
    errors.WrongVectorSize: (
        "The embedding server answered with {received} dimensions where "
        "PALIMPSEST_EMBEDDING_DIMENSIONS says {expected}; set it to what the model gives."
    ),
    errors.EmbedderUnavailable: "{reason}",
    ReembedStopped: (
        "{cause} What is done is kept, and everything still works with the old model: "
        "run `palimpsest reembed` again."
    ),
    ReembedUnderWay: (
        "Another `palimpsest reembed` works on this database. Let it finish, or end it; "
        "then run this again."
    ),
    unfit.OtherSchema: (
        "{fact} Run `palimpsest migrate` or start with `palimpsest serve --migrate`."
    ),
    unfit.OtherEncoder: (
        "{fact} Run `palimpsest reembed` to change them to {name}, or start with that model, "
        "or with another database."
    ),
    unfit.UnknownTextLanguage: "PALIMPSEST_TEXT_LANGUAGE: {fact}",
    unfit.UnreadableAddress: "PALIMPSEST_DATABASE_URL: {reason}",
    unfit.NoConnection: "Cannot connect to the database of PALIMPSEST_DATABASE_URL: {reason}",
    unfit.MissingRoles: (
        "{fact} Let an administrator of the server run this, then run `palimpsest migrate` "
        "again: {statements}"
    ),
    unfit.OldServer: "{fact} Upgrade the server, then run `palimpsest migrate`.",
    unfit.MissingExtension: (
        "{fact} Install pgvector {needed} or newer on the server, then run `palimpsest migrate`."
    ),
    unfit.OldExtension: (
        "{fact} Install it, run `ALTER EXTENSION vector UPDATE`, `palimpsest migrate`."
    ),
    unfit.ClusterRefused: "{fact} docs/citus.md says what every node needs.",
    unfit.DataFolderUnwritable: (
        "PALIMPSEST_DATA_DIR: {reason}: {folder}. Name a folder that this user may write."
    ),
    unfit.DataFolderInUse: (
        "PALIMPSEST_DATA_DIR: {fact} Stop that one, or let both use one database with "
        "PALIMPSEST_DATABASE_URL."
    ),
}


def advise_operator(error: Exception) -> str:
    """Return what is the case and what the person who runs the service can do about it."""
    for kind, template in _ADVICE.items():
        if isinstance(error, kind):
            return fill_template(template, error)
    return str(error)


def fill_template(template: str, error: Exception) -> str:
    """Return the template with the error's message (`fact`) and attributes in its places."""
    values = {name: _format_value(value) for name, value in vars(error).items()}
    return template.format_map({**values, "fact": str(error)})


def _format_value(value: Any) -> Any:
    match value:
        case datetime():
            return errors.format_utc(value)
        case Exception():
            return advise_operator(value)
        case _:
            return value
