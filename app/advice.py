"""Advice for the person who runs the service, in words of the command line and the settings."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.classification.model.check import LEAST_FOUND, ModelReport
from app.domain import errors
from app.remote.trouble import Reason
from app.services.reembed import ReembedStopped
from app.store import unfit
from app.store.reembed import ReembedUnderWay

# Templates over an error's message (`fact`) and attributes, for the terminal and the log. An error
# of a kind without a template takes that of its base, and at last its message alone. Advice that
# differs over HTTP stands in `api/problems.py`.
_ADVICE: Mapping[type[Exception], str] = {
    errors.UnknownAgent: "{fact} GET /v1/agents lists those that are known.",
    errors.UnknownKey: "{fact} `palimpsest keys list` shows all of them.",
    errors.KeyEnded: "{fact} Issue a new one with `palimpsest keys create`.",
    errors.UnknownArchive: "{fact} `palimpsest doctor` names those that are missing or damaged.",
    errors.LogDamaged: "{fact} `palimpsest doctor` says what is wrong.",
    errors.ArchivesUnavailable: "{fact} Nothing was archived or erased.",
    errors.ArchiveFolderMissing: (
        "{fact}: make it or mount it, or set PALIMPSEST_ARCHIVE_DIR. Nothing was archived or "
        "erased."
    ),
    errors.ArchiveFolderReadOnly: (
        "{fact}: give the service the right to it. Nothing was archived or erased."
    ),
    errors.ArchiveDamaged: (
        "{fact} Bring it back from a copy, or give it up with `palimpsest retain --forget`. "
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
    unfit.MissingRights: (
        "{fact} Let an administrator run this in the database, then run `palimpsest migrate` "
        "again: {statements}"
    ),
    unfit.ForeignTables: (
        "{fact} Set PALIMPSEST_DATABASE_SCHEMA to a new name, then run `palimpsest migrate`."
    ),
    unfit.ForeignSchema: (
        "{fact} Set PALIMPSEST_DATABASE_SCHEMA to a new name, then run `palimpsest migrate`."
    ),
    unfit.OtherPlace: (
        "{fact} Set PALIMPSEST_DATABASE_SCHEMA to it, or to `public` for another installation."
    ),
    unfit.NewerSchema: "{fact} Run that version, or a later one.",
    unfit.UnreleasedSchema: (
        "{fact} No migration leads on from it: run `palimpsest export` of that version for each "
        "agent, then `palimpsest import` of this one into a new database."
    ),
    unfit.DatabaseTakesNoWrites: (
        "{fact} Name the primary, and look for default_transaction_read_only."
    ),
    unfit.OldServer: "{fact} Upgrade the server, then run `palimpsest migrate`.",
    unfit.MissingExtension: (
        "{fact} Install pgvector {needed} or newer on the server, then run `palimpsest migrate`."
    ),
    unfit.OldExtension: (
        "{fact} Install it, run `ALTER EXTENSION vector UPDATE`, `palimpsest migrate`."
    ),
    unfit.ClusterRefused: "{fact} docs/operate/citus.md says what every node needs.",
    unfit.PastInUse: (
        "{fact} End it (see pg_stat_activity, pg_prepared_xacts and pg_replication_slots), "
        "then run `palimpsest vacuum` again."
    ),
    unfit.TableInUse: "{fact} Run `palimpsest vacuum` again in a quiet hour.",
    unfit.DataFolderUnwritable: (
        "PALIMPSEST_DATA_DIR: {reason}: {folder}. Name a folder that this user may write."
    ),
    unfit.EmbeddedServerFailed: (
        "{fact}. Put that right, or name another folder with PALIMPSEST_DATA_DIR."
    ),
    unfit.DataFolderInUse: (
        "PALIMPSEST_DATA_DIR: {fact} Stop that one, or let both use one database with "
        "PALIMPSEST_DATABASE_URL."
    ),
}


# What a failure of the model means and what to do, by its word: the end of a sentence that begins
# with the model's name. A failure of no word here is an answer that cannot be read.
_MODEL_ADVICE: Mapping[str | None, str] = {
    Reason.UNAUTHORIZED: "answered 401: check PALIMPSEST_LLM_API_KEY",
    Reason.REJECTED: (
        "refused the question: check PALIMPSEST_LLM_MODEL and PALIMPSEST_LLM_BASE_URL; "
        "`palimpsest model check` shows its words"
    ),
    Reason.UNREACHABLE: "cannot be reached: check PALIMPSEST_LLM_BASE_URL, and that it runs",
    Reason.TIMEOUT: (
        "did not answer in time: take a faster one, or raise PALIMPSEST_LLM_READ_TIMEOUT and "
        "PALIMPSEST_LLM_TOTAL_TIMEOUT"
    ),
    Reason.RATE_LIMITED: "answered 429: its account allows no more questions now",
    Reason.SERVER_ERROR: "answers with errors of its server: look there",
    Reason.MALFORMED: (
        "does not answer as chat completions do: check that PALIMPSEST_LLM_BASE_URL ends where "
        "/chat/completions begins, as in /v1"
    ),
    Reason.CIRCUIT_OPEN: "failed repeatedly and is not asked for a moment",
    Reason.BUSY: "is busy with other questions: see PALIMPSEST_LLM_CONCURRENCY",
    "budget": "was not checked, because a budget for it is used up: see PALIMPSEST_LLM_*",
}
_UNREADABLE = "gives answers that cannot be read: take a stronger one (PALIMPSEST_LLM_MODEL)"


def advise_on_model(report: ModelReport) -> str | None:
    """Return what is wrong with the model and what to do about it; None if it is usable.

    The sentence quotes nothing that the model's server says.
    """
    name = f"The model {report.model} at {report.address}"
    advice = (
        "Take a stronger one (PALIMPSEST_LLM_MODEL), or judge without one: "
        "unset PALIMPSEST_LLM_BASE_URL."
    )
    if report.failure:
        trouble = _MODEL_ADVICE.get(report.failure, _UNREADABLE)
        return f"{name} {trouble}. Facts are judged without a model meanwhile."
    if report.ended_wrongly:
        holding = sum(not each.pair.ends for each in report.pairs)
        return f"{name} ends what holds: {report.ended_wrongly} of {holding}. {advice}"
    if report.endings_found < LEAST_FOUND:
        ending = sum(each.pair.ends for each in report.pairs)
        return f"{name} misses what ends: it found {report.endings_found} of {ending}. {advice}"
    return None


def advise_operator(error: Exception) -> str:
    """Return what is the case and what the person who runs the service can do about it."""
    for kind in type(error).__mro__:
        if kind in _ADVICE:
            return fill_template(_ADVICE[kind], error)
    return str(error)


def fill_template(template: str, error: Exception, **more: str) -> str:
    """Fill in the error's message (`fact`), its attributes and `more`."""
    values: dict[str, Any] = {}
    for name, value in vars(error).items():
        match value:
            case datetime():
                values[name] = errors.format_utc(value)
            case Exception():
                values[name] = advise_operator(value)
            case _:
                values[name] = value
    return template.format_map({**values, "fact": str(error), **more})
