"""A client of servers that speak the OpenAI API: bounded places, bounded tries, bounded answers."""

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import httpx

from app.remote.backoff import compute_jitter, parse_retry_after
from app.remote.trouble import (
    NEVER_SENT,
    PASSING,
    CallOutcome,
    Reason,
    Trouble,
    find_error_message,
    find_error_status,
    format_detail,
)

R = TypeVar("R", bound=CallOutcome)

OK: Final = 200
UNAUTHORIZED: Final = 401
TOO_MANY: Final = 429
SERVER_ERRORS: Final = 500  # and above


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """The address, and how to ask there. Times are in seconds.

    `total_timeout` bounds the whole of one question, with waits and retries. A query of the address
    goes to the end of each URL.
    """

    base_url: str = "https://api.openai.com/v1"
    api_key: str | None = field(default=None, repr=False)
    connect_timeout: float = 5.0
    read_timeout: float = 20.0
    total_timeout: float = 30.0
    concurrency: int = 8
    tries: int = 3

    def __post_init__(self) -> None:
        """Raises ValueError for an address or a key that no request could carry."""
        url = httpx.URL(self.base_url)
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError("The base URL must start with http:// or https:// and name a host.")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ValueError("The API key must consist of printable ASCII characters.")

    @property
    def headers(self) -> dict[str, str]:
        # The answer must not be compressed: a few compressed kilobytes could unfold past the bound
        # in one step.
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        if self.api_key and "api-version" in httpx.URL(self.base_url).params:
            headers["api-key"] = self.api_key  # Azure's deployments take no other header
        elif self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers

    def build_url(self, path: str) -> str:
        """Return the URL of a path below the address."""
        address, mark, query = self.base_url.partition("?")
        return address.rstrip("/") + path + mark + query

    @property
    def timeout(self) -> httpx.Timeout:
        return httpx.Timeout(
            self.read_timeout, connect=self.connect_timeout, pool=self.total_timeout
        )


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An HTTP answer with a body within the bound.

    `wait` is the number of seconds that Retry-After asks for, or None.
    """

    status: int
    body: bytes
    wait: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The sources of time and chance, which tests script. `clock` is monotonic, in seconds."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


class PendingQuestion:
    """One question under way: its start (seconds, monotonic), and its HTTP calls and tokens."""

    def __init__(self, endpoint: "Endpoint", started: float) -> None:
        self._endpoint = endpoint
        self.started = started
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0

    async def post(self, path: str, body: dict[str, Any], *, most: int) -> HttpAnswer | Trouble:
        """Send one request below the base URL. An answer of more than `most` bytes is a trouble."""
        self.calls += 1
        return await self._endpoint.post(path, body, most=most)

    def trouble_from_answer(self, answer: HttpAnswer) -> Trouble:
        """Return the trouble that the status of an answer means."""
        return self._endpoint.trouble_from_answer(answer)

    def count_tokens(self, outcome: CallOutcome) -> None:
        """Count the tokens of one try."""
        self.prompt_tokens += outcome.prompt_tokens
        self.completion_tokens += outcome.completion_tokens


class Endpoint:
    """Asks one question at a time per caller, and at most `concurrency` questions at once.

    429, 5xx, failed connections and unreadable answers are tried again, after the wait that
    Retry-After asks for and full jitter. There is no other try if less than a whole read timeout
    would be left for it. `who` is the name of the server in sentences. The caller builds and closes
    the HTTP client.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        options: EndpointOptions,
        *,
        who: str,
        timing: Timing,
    ) -> None:
        self._http = http
        self._options = options
        self._who = who
        self._timing = timing
        self._places = asyncio.Semaphore(options.concurrency)

    async def ask(
        self, converse: Callable[[PendingQuestion], Awaitable[R | Trouble]]
    ) -> R | Trouble:
        """Return what `converse` makes of the server's answers, or the trouble.

        Each try runs `converse` once. Nothing that the server does raises an error. A cancelled
        caller stays cancelled.
        """
        question = PendingQuestion(self, self._timing.clock())
        outcome: R | Trouble
        try:
            async with asyncio.timeout(self._options.total_timeout):
                outcome = await self._ask_with_retries(question, converse)
        except TimeoutError:
            seconds = f"{self._options.total_timeout:g} s"
            outcome = Trouble(Reason.TIMEOUT, f"The {self._who} gave no answer within {seconds}.")
            if question.calls == 0:
                outcome = Trouble(
                    Reason.BUSY,
                    "Too many questions at once: none of the places for them became free "
                    f"within {seconds}.",
                )
        elapsed = self._timing.clock() - question.started
        return replace(
            outcome,
            calls=question.calls,
            prompt_tokens=question.prompt_tokens,
            completion_tokens=question.completion_tokens,
            ms=elapsed * 1000,
        )

    async def _ask_with_retries(
        self,
        question: PendingQuestion,
        converse: Callable[[PendingQuestion], Awaitable[R | Trouble]],
    ) -> R | Trouble:
        """Try until there is a reply, a lasting trouble, or no try or no time left."""
        outcome = await self._ask_once(question, converse)
        for failures in range(self._options.tries - 1):
            if not isinstance(outcome, Trouble) or outcome.reason not in PASSING:
                break
            jitter = compute_jitter(failures, self._timing.random())
            wait = jitter + (outcome.wait or 0.0)
            elapsed = self._timing.clock() - question.started
            if wait + self._options.read_timeout > self._options.total_timeout - elapsed:
                break
            await self._timing.sleep(wait)
            latest = await self._ask_once(question, converse)
            if isinstance(latest, Trouble) and latest.reason in NEVER_SENT:
                # Other questions kept this one back, so the trouble of the last try says more.
                break
            outcome = latest
        return outcome

    async def _ask_once(
        self,
        question: PendingQuestion,
        converse: Callable[[PendingQuestion], Awaitable[R | Trouble]],
    ) -> R | Trouble:
        async with self._places:
            outcome = await converse(question)
        question.count_tokens(outcome)
        return outcome

    async def post(self, path: str, body: dict[str, Any], *, most: int) -> HttpAnswer | Trouble:
        """Send one request, without another try."""
        try:
            return await self._send_request(path, json.dumps(body).encode(), most)
        except httpx.TimeoutException as error:
            return Trouble(
                Reason.TIMEOUT, f"The {self._who} was silent too long ({type(error).__name__})."
            )
        except httpx.HTTPError as error:
            return Trouble(
                Reason.UNREACHABLE,
                f"The connection to the {self._who} failed ({type(error).__name__}).",
            )

    async def _send_request(self, path: str, content: bytes, most: int) -> HttpAnswer | Trouble:
        options = self._options
        async with self._http.stream(
            "POST",
            options.build_url(path),
            content=content,
            headers=options.headers,
            timeout=options.timeout,
            follow_redirects=False,
        ) as response:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                return Trouble(
                    Reason.MALFORMED,
                    f"The {self._who} compressed its answer although asked not to.",
                )
            received = bytearray()
            async for chunk in response.aiter_raw():
                received += chunk
                if len(received) > most:
                    return Trouble(
                        Reason.TOO_LARGE,
                        f"The answer of the {self._who} was longer than {most} bytes.",
                    )
            body = bytes(received)
            status = response.status_code
            if status == OK:
                status = find_error_status(body) or OK
            return HttpAnswer(
                status,
                body,
                parse_retry_after(response.headers.get("Retry-After"), self._timing.now()),
            )

    def trouble_from_answer(self, answer: HttpAnswer) -> Trouble:
        """Return the trouble that the status means, in the server's words without the key."""
        words = find_error_message(answer.body)
        if self._options.api_key:
            words = words.replace(self._options.api_key, "[key]")
        reason = Reason.REJECTED
        if answer.status == TOO_MANY:
            reason = Reason.RATE_LIMITED
        elif answer.status >= SERVER_ERRORS:
            reason = Reason.SERVER_ERROR
        elif answer.status == UNAUTHORIZED:
            reason = Reason.UNAUTHORIZED
        detail = f"The {self._who} answered {answer.status}{format_detail(words)}."
        return Trouble(reason, detail, answer.wait)
