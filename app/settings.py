"""The only reader of the environment. Every setting is a variable `PALIMPSEST_<NAME>`.

`docs/operate/settings.md` is generated from this module.
"""

import difflib
import ipaddress
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from croniter import croniter
from pydantic import BeforeValidator, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError

from app.database_urls import POOLER, SCHEMA, set_schema, split_options
from app.domain.agent import Mode
from app.domain.dates.zones import find_zone
from app.domain.fact import Kind
from app.domain.relation import Classify

LOOPBACK_NAMES = {"localhost"}
SHORTEST_SECRET = 32


class InvalidSettings(Exception):
    """A setting has a wrong value; the message is one line that names the variable."""


_SEMANTIC_DAYS = '{"fact": 180, "preference": 365, "decision": 365, "constraint": 3650}'
_CORE_DAYS = '{"fact": 365, "preference": 730, "decision": 730, "constraint": 3650}'


def _days_per_kind(defaults: str) -> BeforeValidator:
    """Return a parser of a JSON object; kinds that the object leaves out keep their default."""

    def parse_days(value: Any) -> Any:
        days = _parse_json(value) if isinstance(value, str) else value
        advice = f"must be a JSON object of days per kind, such as {defaults}"
        if not isinstance(days, dict):
            raise ValueError(advice)  # noqa: TRY004 - pydantic turns only this one into a problem
        unknown_kinds = days.keys() - set(Kind)
        if unknown_kinds:
            names = ", ".join(sorted(map(str, unknown_kinds)))
            raise ValueError(f"{advice}; {names} is none of {', '.join(Kind)}")
        return json.loads(defaults) | days

    return BeforeValidator(parse_days)


def _parse_json(text: str) -> Any:
    """Return the parsed value, or None if the text is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _parse_folder(value: Any) -> Path:
    """Return the folder as an absolute path: a command may run in another folder than a service."""
    if not str(value):
        raise ValueError("must name a folder; unset it for the default")
    return Path(os.path.expanduser(value)).absolute()


_Folder = Annotated[Path, BeforeValidator(_parse_folder)]

_Days = Annotated[float, Field(gt=0, le=36_500, allow_inf_nan=False)]


SHORTEST_KEY = 8  # characters
# Imports that are sent at once, and calls at once that wait for the receivers of webhooks.
UPLOADS = 40
WEBHOOK_CALLS = 16


class Settings(BaseSettings):
    """The settings. The environment wins over files of the secrets folder, they over defaults."""

    model_config = SettingsConfigDict(
        env_prefix="PALIMPSEST_", extra="ignore", hide_input_in_errors=True
    )

    database_url: str | None = Field(
        None,
        description=(
            "Postgres to use, as postgresql://user:password@host/name. Unset: an embedded "
            "one in the data folder."
        ),
    )
    owner_url: str | None = Field(
        None,
        description=(
            "The same database for the login that owns the tables. `palimpsest migrate`, "
            "`serve --migrate`, `reembed` and `vacuum` use it. Unset: PALIMPSEST_DATABASE_URL."
        ),
    )
    replica_urls: str | None = Field(
        None,
        min_length=1,
        description=(
            "Read replicas of the database, as postgresql:// addresses with commas between them "
            "(docs/operate/replicas.md), each of one server. Unset: the primary answers every read."
        ),
    )
    replica_max_lag: float = Field(
        5.0,
        gt=0,
        le=3600,
        description=(
            "Seconds by which the answer of a replica may be old, at most. A replica that is "
            "further behind is not used until it has caught up."
        ),
    )
    replica_wait: float = Field(
        0.1,
        ge=0,
        le=10,
        description=(
            "Seconds to wait for a replica that lacks what the caller of a read has written. Then "
            "the primary answers."
        ),
    )
    database_schema: str | None = Field(
        None,
        description=(
            "Schema of the tables, which `palimpsest migrate` makes if it is missing; "
            "`?schema=` in the address says the same. Unset: `public`."
        ),
    )
    database_pooler: bool = Field(
        False,
        description=(
            "Set it if a transaction pooler such as PgBouncer lies before Postgres; "
            "`?pgbouncer=true` in the address says the same. Then nothing is prepared on the "
            "server, and a worker looks for work every few seconds. A pooler that is noticed is "
            "treated alike."
        ),
    )
    data_dir: _Folder = Field(
        Path(platformdirs.user_data_dir("palimpsest")),
        description=(
            "Folder of the embedded Postgres and of archives. Default: "
            "`~/.local/share/palimpsest`, on macOS `~/Library/Application Support/palimpsest`."
        ),
    )
    pool_size: int = Field(
        12, ge=1, le=200, description="Database connections per process, at most."
    )
    pool_timeout: float = Field(
        10.0, gt=0, le=300, description="Seconds to wait for a database connection."
    )
    connect_timeout: int = Field(
        5, ge=2, le=300, description="Seconds that opening a database connection may take."
    )
    statement_timeout: float = Field(
        30.0, ge=0, le=86_400, description="Seconds that one SQL statement may take; 0: any time."
    )
    lock_timeout: float = Field(
        10.0,
        ge=0,
        le=86_400,
        description="Seconds to wait for another write of the same agent; 0: any time.",
    )
    idle_transaction_timeout: float = Field(
        60.0,
        ge=0,
        le=86_400,
        description=(
            "Seconds after which Postgres ends a transaction in which nothing happens; 0: never."
        ),
    )
    host: str = Field(
        "127.0.0.1", description="Address to listen on. Anything but loopback needs an API key."
    )
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    workers: int = Field(
        1, ge=1, le=64, description="Service processes that share the port and the database."
    )
    api_key: str | None = Field(
        None,
        description=(
            "The root key, 32 characters or more, sent as `Authorization: Bearer KEY` or "
            "`X-API-Key`: it may do everything, and issues other keys. If it is set, every request "
            "needs a key."
        ),
    )
    token_secret: str | None = Field(
        None,
        description=(
            "Secret that signs short-lived tokens for one agent (docs/operate/keys.md). Unset: "
            "none are taken. It needs PALIMPSEST_API_KEY."
        ),
    )
    metrics_need_key: bool = Field(
        False,
        description="/metrics needs a key too, one with the scope `admin`.",
    )
    console: bool = Field(
        True,
        description="Serve the console, pages for people, at /ui (docs/guide/console.md).",
    )
    secrets_dir: Path | None = Field(
        None,
        description=(
            "Folder of files that each hold a setting, for secrets: `palimpsest_api_key` holds "
            "PALIMPSEST_API_KEY. A variable wins over its file."
        ),
    )
    allowed_hosts: str = Field(
        "localhost,127.0.0.1,[::1]",
        description=(
            "Hosts under which a service without a key answers, with commas between them; `*`: "
            "any. They keep web pages of other hosts out."
        ),
    )
    allow_unauthenticated: bool = Field(
        False,
        description=(
            "Listen on any address without a key. Only behind something that authenticates."
        ),
    )
    network_threads: int = Field(
        2,
        ge=1,
        le=64,
        description=(
            "Threads of the local encoder and judge that one agent may have at a time, per "
            "process. While others call too, it has one fewer, but at least one. Where there are "
            "two or more, the judge works on two of its own."
        ),
    )
    languages: Literal["english", "many"] = Field(
        "english",
        description=(
            "What the local networks read: encoder, judge and reader of messages. Many needs the "
            "package palimpsest-memory-languages (`make languages`), and, with a local "
            "encoder, `palimpsest reembed` if something is stored already."
        ),
    )
    embedding_base_url: str | None = Field(
        None,
        description=(
            "OpenAI-compatible endpoint that makes the vectors, up to /v1. Unset: the local "
            "encoder."
        ),
    )
    embedding_model: str = Field(
        "text-embedding-3-small",
        min_length=1,
        description="Embedding model to ask. Another one needs `palimpsest reembed`.",
    )
    embedding_dimensions: int | None = Field(
        None,
        ge=1,
        le=16_000,
        description=(
            "Numbers in each vector of that model; needed with the endpoint. Another size "
            "needs `palimpsest reembed`."
        ),
    )
    embedding_api_key: str | None = Field(
        None, min_length=1, description="Key of the embedding endpoint."
    )
    embedding_connect_timeout: float = Field(
        5.0, gt=0, le=300, description="Seconds to wait for a connection to the embedding endpoint."
    )
    embedding_read_timeout: float = Field(
        20.0,
        gt=0,
        le=600,
        description="Seconds to wait for more of the embedding endpoint's answer.",
    )
    embedding_total_timeout: float = Field(
        30.0,
        gt=0,
        le=600,
        description=(
            "Seconds that one embedding request may take, retries included. A retry needs a whole "
            "read timeout of them."
        ),
    )
    embedding_tries: int = Field(3, ge=1, le=10, description="Tries of one embedding request.")
    embedding_batch: int = Field(
        32, ge=1, le=2048, description="Texts in one embedding request, at most."
    )
    embedding_concurrency: int = Field(
        8, ge=1, le=256, description="Embedding requests at once, per process."
    )
    text_language: str = Field(
        "english",
        pattern=r"^[a-z_]+$",
        description="Postgres text search configuration for new memories and queries.",
    )
    read_dates: bool = Field(
        True,
        description=(
            "A fact without dates of its own gets those that its words state, unless its request "
            "says otherwise. false: no words are read for dates."
        ),
    )
    timezone: str = Field(
        "UTC",
        description=(
            "Time zone of the dates in words, by its IANA name, such as Europe/Lisbon. An agent "
            "can have its own: `PATCH /v1/agents/{agent_id}`."
        ),
    )
    fuzzy_dedupe: bool = Field(
        True,
        description=(
            "A text equal but for case, spacing and punctuation is known already (NOOP). false: it "
            "is another fact, whatever the judges would say."
        ),
    )
    max_closures_per_store: int = Field(
        3, ge=0, le=100, description="How many stored memories one classified store may end."
    )
    max_closures_per_hour: int = Field(
        10,
        ge=0,
        description=(
            "How many memories of an agent judges may end within an hour, sweeps included, or 5 % "
            "of its live memories, or half of the facts stored in that hour, whichever is "
            "most; beyond, their proposals become reviews. What callers and the rules of slots end "
            "does not count, nor does what a batch with `history: true` ends. 0: no limit."
        ),
    )
    core_inheritance: Literal["any", "contradiction"] = Field(
        "any",
        description=(
            "When a successor of a core memory becomes core: on every update, or on "
            "contradictions only."
        ),
    )
    classify: Classify = Field(
        Classify.CASCADE,
        description=(
            "Which judges a store asks (reference 000: classifyBeforeWrite): off, rules, signals, "
            "cascade, or model, which asks the model about every fact and needs one."
        ),
    )
    local_judge: bool = Field(
        True,
        description=(
            "The local judge reads the likeliest candidates of a fact wherever signals do: a "
            "small network in the package, which needs no endpoint."
        ),
    )
    llm_base_url: str | None = Field(
        None,
        description=(
            "OpenAI-compatible endpoint of the model that judges facts and reads messages, up to "
            "/v1 (docs/operate/models.md). Unset: none is asked."
        ),
    )
    llm_model: str = Field(
        "gpt-4o-mini", min_length=1, description="Model to ask (reference 000: classifyModel)."
    )
    llm_form: Literal["auto", "full", "small"] = Field(
        "auto",
        description="How the model is asked: with all rules (`full`), or with examples and four "
        "words, for a small model (`small`). `auto` begins in full, and changes to `small` for "
        "good once an answer cannot be read.",
    )
    llm_api_key: str | None = Field(None, min_length=1, description="Key of the model's endpoint.")
    llm_connect_timeout: float = Field(
        5.0, gt=0, le=300, description="Seconds to wait for a connection to the model's endpoint."
    )
    llm_read_timeout: float = Field(
        30.0, gt=0, le=600, description="Seconds to wait for more of the model's answer."
    )
    llm_total_timeout: float = Field(
        45.0,
        gt=0,
        le=600,
        description=(
            "Seconds that asking may take, waiting and retries included. A retry needs a whole "
            "read timeout of them."
        ),
    )
    llm_concurrency: int = Field(
        8, ge=1, le=256, description="Questions to the model at once, per process."
    )
    llm_tries: int = Field(
        3,
        ge=1,
        le=10,
        description="Tries of one question. An answer that cannot be read counts as one.",
    )
    llm_answer_tokens: int = Field(
        1500,
        ge=100,
        le=100_000,
        description=(
            "Tokens of an answer, at most; a reasoning model's thinking is among them. Halved if "
            "the server finds that too many."
        ),
    )
    llm_calls_per_minute: int = Field(
        60,
        ge=0,
        description="Questions to the model that one agent may cause per minute, per process.",
    )
    llm_tokens_per_day: int = Field(
        1_000_000, ge=0, description="Tokens that one agent may cause per day, per process."
    )
    llm_calls_per_minute_per_key: int = Field(
        300,
        ge=0,
        description=(
            "The same for one key, whatever agents it names. Calls without a key and sweeps share "
            "one such budget."
        ),
    )
    llm_tokens_per_day_per_key: int = Field(
        5_000_000, ge=0, description="Tokens that one key may cause per day, per process."
    )
    llm_calls_per_minute_in_all: int = Field(
        600, ge=0, description="The same for all callers together, per process."
    )
    llm_tokens_per_day_in_all: int = Field(
        10_000_000, ge=0, description="Tokens of all callers together per day, per process."
    )
    extract: Literal["auto", "network", "model"] = Field(
        "auto",
        description=(
            "What reads facts from messages, unless a call says otherwise: the network in "
            "the package, or the model of PALIMPSEST_LLM_BASE_URL. auto: the model if one is set, "
            "otherwise the network."
        ),
    )
    capture_quiet_seconds: float = Field(
        60,
        ge=0,
        le=3600,
        description=(
            "A model reads the messages of a session together, once none has come for so many "
            "seconds or 20 wait; POST /v1/messages answers before. 0: each call waits for its "
            "facts."
        ),
    )
    confidence_threshold: float = Field(
        0.8,
        ge=0,
        le=1,
        description=(
            "Below it a model's judgment is not acted on but reviewed (reference 003: "
            "confidence 0.8)."
        ),
    )
    supersession_min_confidence: float = Field(
        0.7,
        ge=0,
        le=1,
        description=(
            "Below it a signal is not acted on but reviewed (reference 001: "
            "supersessionMinConfidence)."
        ),
    )
    fallback_action: Literal["add", "review"] = Field(
        "add",
        description=(
            "What becomes of a fact whose judges failed (reference 003: fallback_action "
            "COEXIST): stored beside, or reviewed too."
        ),
    )
    mode: Mode = Field(
        Mode.LIVE,
        description="What becomes of changes, where an agent has not chosen (reference 001). live: "
        "they are made. shadow: every fact is "
        "added and every change to a stored one becomes a review. frozen: nothing is "
        "written, stores become reviews.",
    )
    require_human_review: bool = Field(
        False,
        description=(
            "A person sees every change of a stored memory before it is made: live agents "
            "work as in shadow (reference 003)."
        ),
    )
    review_days: int = Field(
        30, ge=1, le=3650, description="Days after which a review that nobody decided expires."
    )
    cold_after_days: float = Field(
        365.0,
        ge=0,
        le=36_500,
        allow_inf_nan=False,
        description="Days after which a memory that ended is cold: plain reads and searches no "
        "longer pass it; history, as-of reads and "
        "exports do. 0: never.",
    )
    audit_retention_days: float | None = Field(
        None,
        gt=0,
        le=36_500,
        allow_inf_nan=False,
        description="Days that operations stay in the log; then they move to archive files "
        "(reference 003: retention_days 90). "
        "Unset: for ever.",
    )
    message_retention_days: float | None = Field(
        None,
        gt=0,
        le=36_500,
        allow_inf_nan=False,
        description="Days that the texts of messages stay (docs/guide/messages.md). The facts that "
        "were read from them stay. Unset: for ever.",
    )
    message_vectors: bool = Field(
        default=True,
        description="A worker makes a vector of each message, so that searches find messages by "
        "meaning too. Off: by their words alone.",
    )
    capture_trust: int = Field(
        40,
        ge=0,
        le=100,
        description="Trust of the facts that are read from messages. What they would end of higher "
        "trust waits as a review; a stated fact has 50.",
    )
    secrets: Literal["redact", "refuse", "keep"] = Field(
        "redact",
        description="Secrets in what callers write (docs/guide/secrets.md). `redact`: a mark takes "
        "their place in texts before anything is stored; names, ids and exports that hold keys "
        "or tokens are refused. `refuse`: texts that hold secrets are refused too. `keep`: "
        "stored as they come.",
    )
    archive_dir: _Folder | None = Field(
        None,
        description="Folder of the archives of the log, which must be there; all processes need "
        "the "
        "same. Unset: `archive` in the data "
        "folder, made when needed.",
    )
    enable_merge: bool = Field(
        True, description="Judgments may merge (reference 003: enable_merge)."
    )
    enable_supersede: bool = Field(
        True, description="Judgments may supersede (reference 003: enable_supersede)."
    )
    enable_delete: bool = Field(
        True, description="Judgments may retract (reference 003: enable_delete)."
    )
    semantic_contradiction_enabled: bool = Field(
        True,
        description="The model may be asked at all (reference 001: semanticContradictionEnabled).",
    )
    supersession_semantic_fallback: bool = Field(
        True,
        description=(
            "The model is asked where signals are inconclusive (reference 001: "
            "supersessionSemanticFallback)."
        ),
    )
    supersession_enabled: bool = Field(
        True,
        description="Stored memories may be looked at again: at once where a store left something "
        "open, in sweeps, and by the clock "
        "(reference 001: supersessionEnabled).",
    )
    supersession_sweep_enabled: bool = Field(
        True,
        description=(
            "The clock starts sweeps (reference 001: supersessionSweepEnabled); calls may in "
            "any case."
        ),
    )
    supersession_cron: str = Field(
        "17 3 * * *",
        description=(
            "When sweeps are started, as a cron expression of five fields in UTC, or "
            "@hourly, @daily and the like."
        ),
    )
    supersession_batch: int = Field(
        100,
        ge=1,
        le=10_000,
        description="Memories that a sweep examines and writes down at a time.",
    )
    candidate_min_importance: float = Field(
        0.0,
        ge=0,
        le=1,
        description=(
            "Memories less important are not compared with; core always is (reference 002: 0.5)."
        ),
    )
    similarity_floor: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Memories less similar are not compared with; 0: ranks decide. Reference 002's "
        "0.6 loses 31 % of the targets, "
        "003's 0.85 loses 78 %.",
    )
    max_candidates: int = Field(
        10,
        ge=0,
        le=50,
        description=(
            "Near neighbours that an incoming fact is compared with and that answers list "
            "(reference 003: 5). Where a model is asked, twice as many."
        ),
    )
    agent_index_from: int = Field(
        20_000,
        ge=0,
        description=(
            "An agent with so many live memories gets an index of its own, and loses it below half "
            "of that. Smaller agents are searched exactly. 0: no agent gets one."
        ),
    )
    max_agent_indexes: int = Field(
        100,
        ge=0,
        description=(
            "Indexes of agents that there may be. Further large agents are searched exactly, and "
            "the worker logs how many."
        ),
    )
    agent_index_memory: int = Field(
        512,
        ge=64,
        description=(
            "Megabytes that Postgres may take to build the index of an agent. 1,000,000 memories "
            "of the local encoder need about 1,400; with less, it takes several times as long."
        ),
    )
    half_life_days_semantic: Annotated[
        dict[Kind, _Days], NoDecode, _days_per_kind(_SEMANTIC_DAYS)
    ] = Field(
        _SEMANTIC_DAYS,
        validate_default=True,
        description="Days in which an unrepeated memory loses half its strength, per kind, as "
        "JSON: "
        "what people say of themselves changes "
        "within months, habits and decisions within years, a constraint binds until it "
        "is ended. Kinds left out keep their default.",
    )
    half_life_days_core: Annotated[dict[Kind, _Days], NoDecode, _days_per_kind(_CORE_DAYS)] = Field(
        _CORE_DAYS,
        validate_default=True,
        description="The same for core memories, which are kept longer and never fall below 0.60.",
    )
    use_flush_seconds: float = Field(
        5.0,
        ge=0,
        le=3600,
        description=(
            "Seconds until what searches, contexts and reads by id answered is counted as "
            "used (`use_count`); 0: it is not."
        ),
    )
    max_body_bytes: int = Field(
        16 * 2**20,
        ge=1024,
        description=(
            "Largest body of a batch or of messages in bytes. Any other body may have at most 256 "
            "KiB; imports stream and are bounded per line."
        ),
    )
    max_answer_bytes: int = Field(
        4 * 2**20,
        ge=1024,
        le=2**30,
        description=(
            "Bytes that the items of one answer may take, about. A list, the log, reviews and a "
            "history go on behind `next_cursor` then; a search and a `why` say `truncated`. One "
            "item always fits."
        ),
    )
    max_connections: int = Field(
        1000,
        ge=10,
        le=100_000,
        description=(
            "Open connections per process. Beyond, the one that has been idle longest is closed."
        ),
    )
    max_connections_per_address: int = Field(
        1000,
        ge=1,
        le=100_000,
        description=(
            "Open connections of one address, per process. Behind a proxy all callers have its "
            "address."
        ),
    )
    max_reads: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description=(
            "Reads worked on at once, per process; of one key half of them at most. Unset: half "
            "the database connections."
        ),
    )
    max_writes: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description=(
            "Writes worked on at once, per process; of one key half of them at most. Unset: half "
            "the database connections, and with a model four more for each of "
            "PALIMPSEST_LLM_CONCURRENCY, because those mostly wait."
        ),
    )
    max_transfers: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description=(
            "Imports and exports worked on at once, per process; of one key half of them at most. "
            "Unset: a third of the database connections."
        ),
    )
    max_event_readers: int = Field(
        200,
        ge=1,
        le=100_000,
        description=(
            "Readers of /v1/events at once, per process, those who wait included; of one key half "
            "of them at most. More are refused at once."
        ),
    )
    webhooks_allow_http: bool = Field(
        False,
        description="Webhooks may be http addresses; anybody on the way can read what is sent.",
    )
    webhooks_allow_private: bool = Field(
        False,
        description=(
            "Webhooks may lead to this machine and its network. Whoever may create webhooks can "
            "then call what only this service can reach."
        ),
    )
    max_queue: int = Field(
        1000,
        ge=0,
        le=100_000,
        description=(
            "Requests of each of these kinds that may wait for their turn; of one key half of them "
            "at most. More are refused at once."
        ),
    )
    queue_timeout: float = Field(
        10.0,
        gt=0,
        le=300,
        description="Seconds that a request may wait for its turn; then it is refused.",
    )
    shutdown_delay: float = Field(
        0.0,
        ge=0,
        le=300,
        description=(
            "Seconds between /readyz turning 503 and the port closing; behind a load "
            "balancer, longer than it takes to notice."
        ),
    )
    shutdown_timeout: int = Field(
        50, ge=1, le=3600, description="Seconds that requests under way may take to end after that."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least important records to write."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        "auto",
        description="Log lines as JSON or in colours; auto: in colours on a terminal, else JSON.",
    )

    @field_validator("database_url", "owner_url")
    @classmethod
    def _check_database_url(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("postgresql://", "postgres://")):
            raise ValueError("must start with postgresql://")
        return url

    @field_validator("replica_urls")
    @classmethod
    def _check_replica_urls(cls, urls: str | None) -> str | None:
        for url in urls.split(",") if urls else ():
            if not url.strip().startswith(("postgresql://", "postgres://")):
                raise ValueError("must be addresses that start with postgresql://, one per server")
        return urls

    @field_validator("allowed_hosts")
    @classmethod
    def _check_hosts(cls, hosts: str) -> str:
        for host in hosts.split(","):
            if "/" in host or (":" in host and not host.strip().endswith("]")):
                raise ValueError(
                    "must be names or addresses without a port, as localhost,127.0.0.1,[::1]"
                )
        return hosts

    @field_validator("timezone")
    @classmethod
    def _check_timezone(cls, name: str) -> str:
        if find_zone(name) is None:
            raise ValueError("must be a name of the IANA database, such as Europe/Lisbon")
        return name

    @field_validator("supersession_cron")
    @classmethod
    def _check_schedule(cls, cron: str) -> str:
        if not croniter.is_valid(cron):
            raise ValueError(
                "must be a cron expression of five fields, such as '17 3 * * *' for "
                "every day at 3:17 UTC"
            )
        return cron

    @field_validator("llm_base_url", "embedding_base_url")
    @classmethod
    def _check_web_address(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https:// and name a host, up to /v1")
        return url

    @field_validator("api_key", "token_secret")
    @classmethod
    def _check_length(cls, secret: str | None) -> str | None:
        if secret is not None and len(secret.strip()) < SHORTEST_SECRET:
            raise ValueError(
                f"must have at least {SHORTEST_SECRET} random characters, so that nobody can guess "
                "it; `openssl rand -hex 32` prints one"
            )
        return secret

    @field_validator("llm_api_key", "api_key", "embedding_api_key")
    @classmethod
    def _check_header_value(cls, key: str | None) -> str | None:
        if key is not None and not (key.isascii() and key.isprintable()):
            raise ValueError("must consist of printable ASCII characters")
        return key

    @property
    def allowed_host_names(self) -> frozenset[str]:
        names = (name.strip().lower() for name in self.allowed_hosts.split(","))
        return frozenset(name for name in names if name)

    @property
    def replica_url_list(self) -> list[str]:
        return [url.strip() for url in (self.replica_urls or "").split(",") if url.strip()]

    @property
    def archive_folder(self) -> Path:
        return self.archive_dir or self.data_dir / "archive"

    @property
    def own_keys(self) -> tuple[str, ...]:
        """The keys of the service itself, except those too short to tell from innocent words."""
        keys = (self.api_key, self.token_secret, self.llm_api_key, self.embedding_api_key)
        return tuple(key for key in keys if key and len(key) >= SHORTEST_KEY)

    @property
    def places(self) -> dict[str, int]:
        """Return how many requests of each kind are worked on at once.

        Six searches keep two cores busy; more at once would only slow each other. Writes and
        transfers leave connections to reads, even while all writes wait for each other. Who sends
        an import, or waits for a receiver of events, needs no connection.
        """
        for_model = 4 * self.llm_concurrency if self.llm_base_url else 0
        return {
            "read": self.max_reads or max(1, self.pool_size // 2),
            "write": self.max_writes or max(1, self.pool_size // 2) + for_model,
            "transfer": self.max_transfers or max(1, self.pool_size // 3),
            "upload": UPLOADS,
            "webhook": WEBHOOK_CALLS,
            "events": self.max_event_readers,
        }

    @property
    def has_model_judge(self) -> bool:
        """Return whether an endpoint is set and both switches of reference 001 are on."""
        is_on = self.semantic_contradiction_enabled and self.supersession_semantic_fallback
        return self.llm_base_url is not None and is_on

    @property
    def listens_beyond_loopback(self) -> bool:
        if self.host in LOOPBACK_NAMES:
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return True


def load_settings(**overrides: object) -> Settings:
    """Return the settings of this process. Raises InvalidSettings."""
    values: dict[str, Any] = {"_secrets_dir": _find_secrets_folder(), **overrides}
    try:
        settings = Settings(**values)
    except SettingsError as problem:
        # Its cause names the file, such as one that this user may not read.
        raise InvalidSettings(f"PALIMPSEST_SECRETS_DIR: {problem.__cause__ or problem}") from None
    except ValidationError as problem:
        first = problem.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "?"
        raise InvalidSettings(f"PALIMPSEST_{name.upper()}: {first['msg']}") from None
    settings = _read_addresses(settings)
    if (
        settings.listens_beyond_loopback
        and not settings.api_key
        and not settings.allow_unauthenticated
    ):
        raise InvalidSettings(
            f"PALIMPSEST_API_KEY: needed to listen on {settings.host}, beyond loopback. "
            "Set it, or PALIMPSEST_ALLOW_UNAUTHENTICATED=true."
        )
    if settings.classify is Classify.MODEL and not settings.has_model_judge:
        raise InvalidSettings(
            "PALIMPSEST_CLASSIFY: model needs a model that may judge. Set PALIMPSEST_LLM_BASE_URL "
            "(docs/operate/models.md), or PALIMPSEST_CLASSIFY=cascade."
        )
    for name in ("metrics_need_key", "token_secret"):
        if getattr(settings, name) and not settings.api_key:
            raise InvalidSettings(
                f"PALIMPSEST_{name.upper()}: needs PALIMPSEST_API_KEY. Set that too."
            )
    if settings.token_secret and settings.token_secret == settings.api_key:
        raise InvalidSettings(
            "PALIMPSEST_TOKEN_SECRET: must not be PALIMPSEST_API_KEY, because whoever has a token "
            "can try to guess its secret. Set another."
        )
    if settings.extract == "model" and not settings.llm_base_url:
        raise InvalidSettings(
            "PALIMPSEST_EXTRACT: model needs PALIMPSEST_LLM_BASE_URL. Set that too, or auto."
        )
    if settings.languages == "many" and find_spec("palimpsest_languages") is None:
        raise InvalidSettings(
            "PALIMPSEST_LANGUAGES: many needs the package palimpsest-memory-languages, which "
            "is not installed. Run `make languages` in a checkout, or unset it."
        )
    if settings.embedding_base_url and settings.embedding_dimensions is None:
        raise InvalidSettings(
            "PALIMPSEST_EMBEDDING_DIMENSIONS: needed with PALIMPSEST_EMBEDDING_BASE_URL. "
            "Set it to the size of the model's vectors."
        )
    return settings


def _read_addresses(settings: Settings) -> Settings:
    """Return the settings with what the addresses say, and the addresses with the schema."""
    addresses = {
        "database_url": [settings.database_url] if settings.database_url else [],
        "owner_url": [settings.owner_url] if settings.owner_url else [],
        "replica_urls": settings.replica_url_list,
    }
    schema, is_pooled = settings.database_schema, settings.database_pooler
    for name, urls in addresses.items():
        for url in urls:
            _, options = split_options(url)
            named = options.get(SCHEMA) or schema
            if schema not in (None, named):
                raise InvalidSettings(
                    f"PALIMPSEST_{name.upper()}: names the schema {named}, and another setting "
                    f"names {schema}. Name one."
                )
            schema = named
            is_pooled |= name != "owner_url" and options.get(POOLER) == "true"
    if schema is None:
        return settings.model_copy(update={"database_pooler": is_pooled})
    try:
        _check_schema_name(schema)
    except ValueError as problem:
        raise InvalidSettings(f"PALIMPSEST_DATABASE_SCHEMA: {problem}") from None
    with_schema = {
        name: ",".join(set_schema(url, schema) for url in urls) or None
        for name, urls in addresses.items()
    }
    changes = {**with_schema, "database_schema": schema, "database_pooler": is_pooled}
    return settings.model_copy(update=changes)


def _check_schema_name(schema: str) -> None:
    """Raise ValueError if Postgres does not let a schema have this name."""
    is_of_postgres = schema.startswith("pg_") or schema == "information_schema"
    if is_of_postgres or not 0 < len(schema.encode()) <= 63 or "\0" in schema:
        raise ValueError("must be a name of 1 to 63 bytes that is none of Postgres' own")


# Variables that other parts of the package read: its command line, and its tests.
_OTHER_VARIABLES = {"PALIMPSEST_URL", "PALIMPSEST_AGENT", "PALIMPSEST_SECRETS_DIR"}
_TEST_VARIABLES = ("PALIMPSEST_TEST_", "PALIMPSEST_DEEP", "PALIMPSEST_ORACLE_")


def describe_unknown_variables() -> list[str]:
    """Return a sentence for each variable of the environment that looks like a setting."""
    known = {f"PALIMPSEST_{name.upper()}" for name in Settings.model_fields} | _OTHER_VARIABLES
    unknown = [
        name
        for name in sorted(os.environ)
        if name.upper().startswith("PALIMPSEST_")
        and name.upper() not in known
        and not name.startswith(_TEST_VARIABLES)
    ]
    words = {name.removeprefix("PALIMPSEST_") for name in known}
    sentences: list[str] = []
    for name in unknown:
        word = name.upper().removeprefix("PALIMPSEST_")
        similar = difflib.get_close_matches(word, words, n=1, cutoff=0.75)
        advice = "docs/operate/settings.md lists those there are."
        if similar:
            advice = f"Did you mean PALIMPSEST_{similar[0]}?"
        sentences.append(f"{name} is no setting, so it changes nothing. {advice}")
    return sentences


def _find_secrets_folder() -> str | None:
    """Return the folder of the environment. Raise InvalidSettings if it is not there."""
    folder = os.environ.get("PALIMPSEST_SECRETS_DIR")
    if folder is not None and not os.path.isdir(folder):
        raise InvalidSettings(f"PALIMPSEST_SECRETS_DIR: there is no folder {folder}.")
    return folder


def should_trace() -> bool:
    """Return whether OpenTelemetry's own variables ask for traces."""
    if (
        os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or os.environ.get("OTEL_TRACES_EXPORTER") == "none"
    ):
        return False
    names = (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_TRACES_EXPORTER",
    )
    return any(os.environ.get(name) for name in names)


def settings_table() -> str:
    """Return the settings as a Markdown table."""
    rows = ["| variable | default | meaning |", "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        default = "(unset)" if field.default is None else str(field.default).lower()
        if name == "data_dir":
            default = "(platform folder)"
        rows.append(f"| `PALIMPSEST_{name.upper()}` | `{default}` | {field.description} |")
    return "\n".join(rows)
