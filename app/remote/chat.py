"""A client of OpenAI-compatible chat completions, whose trouble is a value."""

from dataclasses import dataclass
from typing import Any

import httpx

from app.remote.breaker import Breaker
from app.remote.completion import Reply, make_cut_off_trouble, read_completion
from app.remote.dialect import Dialect
from app.remote.endpoint import Endpoint, EndpointOptions, PendingQuestion, Timing
from app.remote.json_answer import UnreadableAnswer, find_answer
from app.remote.trouble import NEVER_SENT, Reason, Trouble, find_error_message

MAX_RESPONSE_BYTES = 2**20

# Reasons that speak against the server and not against the question. Only these open the breaker,
# so that no agent's texts can open it for the others.
OUTAGES = {
    Reason.TIMEOUT,
    Reason.UNREACHABLE,
    Reason.RATE_LIMITED,
    Reason.SERVER_ERROR,
    Reason.UNAUTHORIZED,
    Reason.TOO_LARGE,
    Reason.MALFORMED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions(EndpointOptions):
    """An endpoint, the model to ask there, and how long its answer may be."""

    model: str = "gpt-4o-mini"
    answer_tokens: int = 1500


class ChatClient:
    """Asks a chat model: an `Endpoint` behind a breaker.

    The client learns the server's dialect once. Other keyword arguments script the endpoint.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        options: ChatOptions,
        *,
        breaker: Breaker | None = None,
        **scripted: Any,
    ) -> None:
        self._endpoint = Endpoint(http, options, who="model server", timing=Timing(**scripted))
        self._options = options
        self._breaker = breaker or Breaker()
        self._dialect = Dialect()

    @property
    def model(self) -> str:
        return self._options.model

    @property
    def address(self) -> str:
        """The host of the endpoint, with its port if the URL names one."""
        return httpx.URL(self._options.base_url).netloc.decode("ascii")

    @property
    def dialect(self) -> Dialect:
        """The options that the server is known, or else hoped, to understand."""
        return self._dialect

    async def complete(self, system: str, user: str, schema: dict[str, Any]) -> Reply | Trouble:
        """Return the model's reply to the two messages, or the trouble.

        `find_answer` finds an answer of the schema in the reply. Trouble with the server raises
        nothing. A cancelled caller stays cancelled.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        outcome = await self._endpoint.ask(
            lambda question: self._request_completion(question, messages, schema)
        )
        if isinstance(outcome, Trouble) and outcome.reason in OUTAGES:
            self._breaker.record_failure()
        elif isinstance(outcome, Reply) or outcome.reason not in NEVER_SENT:
            self._breaker.record_success()
        return outcome

    async def _request_completion(
        self, question: PendingQuestion, messages: list[dict[str, str]], schema: dict[str, Any]
    ) -> Reply | Trouble:
        """Send one request, and a plainer one as often as the server refuses the dialect.

        The breaker is asked here, so that callers who waited for a place see it open.
        """
        if not self._breaker.admit_call():
            return Trouble(
                Reason.CIRCUIT_OPEN, "The model failed repeatedly and is left alone for a moment."
            )
        dialect = self._dialect
        while True:
            body = {
                "model": self._options.model,
                "messages": messages,
                **dialect.build_request_options(schema, self._options.answer_tokens),
            }
            answer = await question.post("/chat/completions", body, most=MAX_RESPONSE_BYTES)
            if isinstance(answer, Trouble):
                return answer
            if answer.status == 200:
                # A dialect is remembered once it worked: an error may be about this question only.
                self._dialect = dialect
                return _read_reply(answer.body, schema)
            plainer = dialect.after_refusal(answer.status, find_error_message(answer.body))
            if plainer is None:
                return question.trouble_from_answer(answer)
            dialect = plainer


def _read_reply(body: bytes, schema: dict[str, Any]) -> Reply | Trouble:
    """Return a reply that holds an answer, or the trouble."""
    reply = read_completion(body)
    if isinstance(reply, Trouble):
        return reply
    try:
        find_answer(reply.text, schema)
    except UnreadableAnswer as why:
        tokens = {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
        }
        if reply.is_cut_off:
            return make_cut_off_trouble(**tokens)
        return Trouble(Reason.UNREADABLE, str(why), **tokens)
    return reply
