"""The format of log records: a line of JSON each, or in colours for a person.

A record never holds a key or the text of a fact. Code logs through the standard library, with
values in `extra`. `palimpsest serve` passes the result of `build_log_config()` to uvicorn, which
applies that configuration in every process. An application that embeds `create_app()` keeps its
own logging.
"""

import logging
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from datetime import datetime
from typing import Any

import psycopg
import structlog
from structlog.typing import Processor

from app.database_names import remove_shard
from app.domain.keys import ANONYMOUS, DEFAULT_AGENT
from app.settings import Settings

_LOGIN = re.compile(r"(://[^\s:/@]*:)[^\s/]+@|(password=)('(?:[^'\\]|\\.)*'|\S+)")
# The secrets of issued keys. Their ids stay: they tell who it was.
_ISSUED_KEY = re.compile(r"(pal_[0-9a-f]{16}_)[0-9a-f]{64}")
# The signatures of tokens.
_SIGNATURE = re.compile(r"\b(eyJ[\w-]+\.[\w-]+\.)[\w-]+")
_QUIET_LOGGERS = (
    "httpx",
    "httpcore",
    "alembic",
    "mcp",
    "app.store.engine",
    "procrastinate",
)


def build_log_config(settings: Settings) -> dict[str, Any]:
    """Return the logging of a served process, in the form of `logging.config.dictConfig`."""
    as_json = settings.log_format == "json" or (
        settings.log_format == "auto" and not sys.stderr.isatty()
    )
    keys = list(settings.own_keys)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": "app.logs.formatter", "as_json": as_json, "keys": keys}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "filters": {"startup": {"()": "app.logs.StartupFilter"}},
        "root": {"level": settings.log_level.upper(), "handlers": ["stderr"]},
        "loggers": {
            "uvicorn.error": {"filters": ["startup"]},
            **{name: {"level": "WARNING"} for name in _QUIET_LOGGERS},
        },
    }


class StartupFilter(logging.Filter):
    """Drops what uvicorn says of its start: one line of our own says that the service is ready."""

    _BEGINNINGS = (
        "Started server process",
        "Started parent process",
        "Waiting for application startup",
        "Application startup complete",
        "Uvicorn running on",
    )

    def filter(self, record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith(self._BEGINNINGS)


def formatter(*, as_json: bool, keys: list[str]) -> logging.Formatter:
    """Return a formatter for records of any logger, with their request. The `keys` become stars."""
    logging.captureWarnings(capture=True)
    for_format: list[Processor] = (
        [structlog.processors.JSONRenderer()]
        if as_json
        else [_shorten_for_person, structlog.dev.ConsoleRenderer(pad_event_to=0, pad_level=False)]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[
            _keep_first_line,
            _add_trace_id,
            _add_exception,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *for_format,
            _SecretRedactor(keys),
        ],
    )


def _keep_first_line(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Drop what asyncio writes beneath its message: the task with the message of its exception."""
    if event.get("logger") == "asyncio":
        event["event"] = str(event["event"]).partition("\n")[0]
    event.pop("color_message", None)  # the message of uvicorn a second time
    return event


def _shorten_for_person(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Describe a request in one phrase, by this machine's clock, without values that are usual."""
    at = datetime.fromisoformat(event["timestamp"])
    event["timestamp"] = at.astimezone().strftime("%H:%M:%S")
    if event["level"] == "info":
        event.pop("logger", None)
    if event["event"] == "request":
        method, route, status = (event.pop(name) for name in ("method", "route", "status"))
        event["event"] = f"{method} {route} {status} {event.pop('duration_ms'):.0f} ms"
        usual = {"agent": DEFAULT_AGENT, "actor": ANONYMOUS.name}
        if status < 500:  # no other line is about the same request
            usual["request_id"] = event["request_id"]
        for name, value in usual.items():
            if event[name] in (value, None):
                del event[name]
    return event


def _add_trace_id(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Add the trace of the record, if this process is traced."""
    if "opentelemetry.sdk.trace" in sys.modules:
        from opentelemetry import trace

        span = trace.get_current_span().get_span_context()
        if span.is_valid:
            event["trace_id"] = trace.format_trace_id(span.trace_id)
    return event


def _add_exception(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["exception"] = discreet_traceback(error)
    return event


def discreet_traceback(error: BaseException) -> str:
    """Return the places and types of the error and of all its causes, without their messages.

    Messages of drivers and parsers quote the values that caused the error.
    """
    return "\n\n".join(_describe_causes(error))


def _describe_causes(error: BaseException) -> Iterator[str]:
    cause = error.__cause__
    if cause is None and not error.__suppress_context__:
        cause = error.__context__
    if cause is not None:
        yield from _describe_causes(cause)
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    places = "".join(traceback.format_tb(error.__traceback__))
    yield f"{places}{kind}: {_describe_error(error)}"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _describe_causes(inner)


def _describe_error(error: BaseException) -> str:
    """Return what is no secret of an error: the database's code and names, the system's reason."""
    match error:
        case psycopg.Error():
            names = (
                error.sqlstate,
                error.diag.constraint_name,
                error.diag.table_name,
                error.diag.column_name,
            )
            return " ".join(remove_shard(name) for name in names if name) or "(message withheld)"
        case OSError() if error.strerror:
            return error.strerror
        case _:
            return "(message withheld)"


class _SecretRedactor:
    """Replaces passwords in addresses and the keys of the service in a rendered line by stars."""

    def __init__(self, keys: list[str]) -> None:
        self._keys = keys

    def __call__(self, _logger: Any, _method: str, line: Mapping[str, Any] | str) -> str:
        text = _LOGIN.sub(_redact_login, str(line))
        text = _ISSUED_KEY.sub(r"\1***", text)
        text = _SIGNATURE.sub(r"\1***", text)
        for key in self._keys:
            text = text.replace(key, "***")
        return text


def _redact_login(match: re.Match[str]) -> str:
    beginning_of_address, password_option = match[1], match[2]
    if beginning_of_address:
        return f"{beginning_of_address}***@"
    return f"{password_option}***"
