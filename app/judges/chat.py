"""A client of OpenAI-compatible chat completions. Whatever the server does, the result is a value."""

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import httpx

from app.judges.backoff import jitter, retry_after
from app.judges.breaker import Breaker
from app.judges.completion import Reason, Reply, Trouble, complaint, read_completion
from app.judges.dialect import Dialect

MAX_RESPONSE_BYTES = 2**20

# What speaks against the server rather than the question. Only this opens the breaker: no agent's texts shall open it for the others.
OUTAGES = {
    Reason.TIMEOUT,
    Reason.UNREACHABLE,
    Reason.RATE_LIMITED,
    Reason.SERVER_ERROR,
    Reason.UNAUTHORIZED,
    Reason.TOO_LARGE,
    Reason.MALFORMED,
}
NEVER_SENT = {Reason.CIRCUIT_OPEN, Reason.BUSY}


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Where and how to ask. Times are in seconds; `total_timeout` bounds the whole of one question, waiting and retries included."""

    base_url: str = "https://api.openai.com/v1"
    model: str = "gpt-4o-mini"
    api_key: str | None = field(default=None, repr=False)
    connect_timeout: float = 5.0
    read_timeout: float = 20.0
    total_timeout: float = 30.0
    concurrency: int = 8
    tries: int = 3
    max_tokens: int = 4096

    def __post_init__(self) -> None:
        """Raises ValueError for an address or a key that no request could carry."""
        if httpx.URL(self.base_url).scheme not in ("http", "https") or not httpx.URL(self.base_url).host:
            raise ValueError("The base URL must start with http:// or https:// and name a host.")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ValueError("The API key must consist of printable ASCII characters.")

    @property
    def url(self) -> str:
        return self.base_url.rstrip("/") + "/chat/completions"

    @property
    def headers(self) -> dict[str, str]:
        # Uncompressed: a few compressed kilobytes could otherwise unfold past the bound in one step.
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        return headers | ({"Authorization": f"Bearer {self.api_key}"} if self.api_key else {})

    @property
    def timeout(self) -> httpx.Timeout:
        return httpx.Timeout(self.read_timeout, connect=self.connect_timeout, pool=self.total_timeout)


@dataclass(frozen=True, slots=True)
class _Answer:
    """An HTTP answer, its body within the bound."""

    status: int
    body: bytes
    wait: float | None


@dataclass(frozen=True, slots=True)
class _Failure:
    """A try without a reply: whether another one may help, and what wait the server asked for."""

    trouble: Trouble
    again: bool = False
    wait: float | None = None


@dataclass(slots=True)
class _Question:
    """One question under way: what to send, since when, and the HTTP calls so far."""

    messages: list[dict[str, str]]
    schema: dict[str, Any]
    started: float
    calls: int = 0


class ChatClient:
    """Asks one question at a time per caller, at most `concurrency` at once. The HTTP client is built and closed by the caller.

    429, 5xx and failed connections are tried again with full jitter, after what Retry-After asks for; where that is past the
    total timeout, not at all. Which dialect the server understands is found out once. `sleep`, `random`, `clock` (seconds,
    monotonic) and `now` can be scripted.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        options: ChatOptions,
        *,
        breaker: Breaker | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._http = http
        self._options = options
        self._breaker = breaker or Breaker()
        self._sleep = sleep
        self._random = random
        self._clock = clock
        self._now = now
        self._places = asyncio.Semaphore(options.concurrency)
        self._dialect = Dialect()

    @property
    def model(self) -> str:
        return self._options.model

    async def complete(self, system: str, user: str, schema: dict[str, Any]) -> Reply | Trouble:
        """The model's reply to the two messages, as JSON of the schema where the server can promise that, or why there is none.

        Raises nothing for what the server does; a cancelled caller stays cancelled.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        question = _Question(messages, schema, self._clock())
        try:
            async with asyncio.timeout(self._options.total_timeout):
                outcome = await self._persist(question)
        except TimeoutError:
            outcome = self._out_of_time(question)
        self._learn(outcome)
        return replace(outcome, calls=question.calls, ms=(self._clock() - question.started) * 1000)

    async def _persist(self, question: _Question) -> Reply | Trouble:
        """Tries until there is a reply, a failure that another try cannot help, or no try or time left."""
        outcome = await self._try(question)
        for failures in range(self._options.tries - 1):
            if isinstance(outcome, Reply) or not outcome.again:
                break
            wait = jitter(failures, self._random()) + (outcome.wait or 0.0)
            if wait >= self._remaining(question):
                break
            await self._sleep(wait)
            latest = await self._try(question)
            if isinstance(latest, _Failure) and latest.trouble.reason is Reason.CIRCUIT_OPEN:
                break  # opened meanwhile by other questions: what went wrong with this one says more
            outcome = latest
        return outcome if isinstance(outcome, Reply) else outcome.trouble

    async def _try(self, question: _Question) -> Reply | _Failure:
        """One try, in one of the places. The breaker is asked last, so that those who waited for a place see it open."""
        async with self._places:
            if not self._breaker.admits():
                return _Failure(Trouble(Reason.CIRCUIT_OPEN, "The model failed repeatedly and is left alone for a moment."))
            return await self._converse(question)

    async def _converse(self, question: _Question) -> Reply | _Failure:
        """One request; more only where the server does not understand the dialect."""
        dialect = self._dialect
        while True:
            answer = await self._send(question, dialect)
            if isinstance(answer, _Failure):
                return answer
            if answer.status == 200:
                self._dialect = dialect  # remembered once it worked: an error may as well be about this one question
                reply = read_completion(answer.body)
                return reply if isinstance(reply, Reply) else _Failure(reply)
            plainer = dialect.after_refusal(answer.status, complaint(answer.body))
            if plainer is None:
                return self._refused(answer)
            dialect = plainer

    async def _send(self, question: _Question, dialect: Dialect) -> _Answer | _Failure:
        question.calls += 1
        try:
            return await self._post(question, dialect)
        except httpx.TimeoutException as error:
            return _Failure(Trouble(Reason.TIMEOUT, f"The model server was silent too long ({type(error).__name__})."), again=True)
        except httpx.HTTPError as error:
            return _Failure(Trouble(Reason.UNREACHABLE, f"The connection to the model failed ({type(error).__name__})."), again=True)

    async def _post(self, question: _Question, dialect: Dialect) -> _Answer | _Failure:
        options = self._options
        body = {"model": options.model, "messages": question.messages, **dialect.words(question.schema, options.max_tokens)}
        content = json.dumps(body).encode()
        async with self._http.stream(
            "POST", options.url, content=content, headers=options.headers, timeout=options.timeout, follow_redirects=False
        ) as response:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                return _Failure(Trouble(Reason.MALFORMED, "The model server compressed its answer although asked not to."))
            received = bytearray()
            async for chunk in response.aiter_raw():
                received += chunk
                if len(received) > MAX_RESPONSE_BYTES:
                    return _Failure(Trouble(Reason.TOO_LARGE, f"The answer was longer than {MAX_RESPONSE_BYTES} bytes."))
            return _Answer(response.status_code, bytes(received), retry_after(response.headers.get("Retry-After"), self._now()))

    def _refused(self, answer: _Answer) -> _Failure:
        """The failure that an HTTP status stands for."""
        reason = _reason(answer.status)
        said = complaint(answer.body)
        if self._options.api_key:
            said = said.replace(self._options.api_key, "[key]")
        detail = f"The model server answered {answer.status}" + (f": {said.rstrip('. ')}." if said else ".")
        return _Failure(Trouble(reason, detail), again=reason in (Reason.RATE_LIMITED, Reason.SERVER_ERROR), wait=answer.wait)

    def _out_of_time(self, question: _Question) -> Trouble:
        seconds = f"{self._options.total_timeout:g} s"
        if question.calls == 0:
            return Trouble(Reason.BUSY, f"Too many questions at once: none of the places for them became free within {seconds}.")
        return Trouble(Reason.TIMEOUT, f"The model gave no answer within {seconds}.")

    def _remaining(self, question: _Question) -> float:
        return self._options.total_timeout - (self._clock() - question.started)

    def _learn(self, outcome: Reply | Trouble) -> None:
        if isinstance(outcome, Trouble) and outcome.reason in OUTAGES:
            self._breaker.failed()
        elif isinstance(outcome, Reply) or outcome.reason not in NEVER_SENT:
            self._breaker.succeeded()


def _reason(status: int) -> Reason:
    if status == 429:
        return Reason.RATE_LIMITED
    if status >= 500:
        return Reason.SERVER_ERROR
    return Reason.UNAUTHORIZED if status == 401 else Reason.REJECTED
