"""An encoder behind HTTP: any OpenAI-compatible `/v1/embeddings`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from app.domain.errors import EmbedderKeyRefused, EmbedderUnavailable, WrongVectorSize
from app.embedding.answer import Vectors, WrongSize, normalise_rows, read_vectors
from app.remote.endpoint import OK, Endpoint, EndpointOptions, HttpAnswer, PendingQuestion, Timing
from app.remote.trouble import Reason, Trouble, find_error_message, is_about_length

# A number has up to 25 characters, and some servers give each number an indented line of its own.
BYTES_PER_NUMBER = 48
BYTES_AROUND_NUMBERS = 2**16
# Statuses with which servers refuse a request that holds a word they do not know.
UNKNOWN_WORD = (400, 422)
# Statuses with which servers refuse a text above the model's window, llama.cpp with the last.
TOO_LONG = (400, 413, 422, 500)
# No window is smaller than this many characters.
SHORTEST_CUT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingOptions(EndpointOptions):
    """An endpoint, its model, the size of the model's vectors, and the texts per request."""

    model: str
    dimensions: int
    batch: int = 32

    @property
    def name(self) -> str:
        """The encoder's name. It holds what decides the vectors, and not where the model runs."""
        return f"{self.model}/{self.dimensions}"


class RemoteEmbedder:
    """An `Embedder` that asks an endpoint. The caller builds and closes the HTTP client.

    Requests hold the word `dimensions`, unless the server has refused that word once. A text above
    the model's window is cut to halves until they fit, and has the mean of their vectors. There is
    no breaker: no text can be stored without its vector, so every call tries, and the first one
    after an outage succeeds. `scripted` goes to the endpoint, for tests.
    """

    def __init__(self, http: httpx.AsyncClient, options: EmbeddingOptions, **scripted: Any) -> None:
        self.name = options.name
        self.dimensions = options.dimensions
        self._options = options
        self._endpoint = Endpoint(http, options, who="embedding server", timing=Timing(**scripted))
        self._sends_dimensions = True

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode as every embedder does. Raises EmbedderUnavailable.

        Lone surrogates, which no request can carry, count as question marks.
        """
        sendable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        size = self._options.batch
        batches = [sendable[start : start + size] for start in range(0, len(texts), size)]
        outcomes = await asyncio.gather(*map(self._encode_batch, batches))
        rows = [np.empty((0, self.dimensions), np.float32)]
        for outcome in outcomes:
            if isinstance(outcome, Trouble):
                raise _build_error(outcome)
            rows.append(outcome.rows)
        return np.concatenate(rows)

    async def _encode_batch(self, texts: list[str]) -> Vectors | Trouble:
        return await self._endpoint.ask(lambda question: self._request_vectors(question, texts))

    async def _request_vectors(
        self, question: PendingQuestion, texts: list[str]
    ) -> Vectors | Trouble:
        answer = await self._post_texts(question, texts)
        if isinstance(answer, Trouble):
            return answer
        if answer.status == OK:
            return read_vectors(answer.body, texts=len(texts), dimensions=self.dimensions)
        if _finds_text_too_long(answer):
            if len(texts) > 1:
                return await self._request_halves(question, texts)
            if len(texts[0]) >= 2 * SHORTEST_CUT:
                # The mean of the vectors of both halves, of unit length.
                middle = len(texts[0]) // 2
                halves = [texts[0][:middle], texts[0][middle:]]
                vectors = await self._request_vectors(question, halves)
                if isinstance(vectors, Trouble):
                    return vectors
                return normalise_rows(vectors.rows.mean(axis=0, keepdims=True))
        return question.trouble_from_answer(answer)

    async def _request_halves(
        self, question: PendingQuestion, texts: list[str]
    ) -> Vectors | Trouble:
        """Encode each half of a batch by itself, so that only texts that are too long are cut."""
        middle = len(texts) // 2
        first = await self._request_vectors(question, texts[:middle])
        if isinstance(first, Trouble):
            return first
        second = await self._request_vectors(question, texts[middle:])
        if isinstance(second, Trouble):
            return second
        return Vectors(np.concatenate([first.rows, second.rows]))

    async def _post_texts(
        self, question: PendingQuestion, texts: list[str]
    ) -> HttpAnswer | Trouble:
        """Send one request, and a second one if the server may not know the word `dimensions`."""
        plain = {"model": self._options.model, "input": texts}
        most = BYTES_AROUND_NUMBERS + len(texts) * self.dimensions * BYTES_PER_NUMBER
        if not self._sends_dimensions:
            return await question.post("/embeddings", plain, most=most)
        sized = {**plain, "dimensions": self.dimensions}
        first = await question.post("/embeddings", sized, most=most)
        if isinstance(first, Trouble) or first.status not in UNKNOWN_WORD:
            return first
        if _finds_text_too_long(first) and b"dimension" not in first.body:
            return first
        second = await question.post("/embeddings", plain, most=most)
        if isinstance(second, Trouble) or second.status != OK:
            # The word was not the reason, so the first complaint says more.
            return first
        self._sends_dimensions = False
        return second


def _finds_text_too_long(answer: HttpAnswer) -> bool:
    return answer.status in TOO_LONG and is_about_length(find_error_message(answer.body))


def _build_error(trouble: Trouble) -> EmbedderUnavailable:
    if isinstance(trouble, WrongSize):
        return WrongVectorSize(trouble.received, trouble.expected)
    if trouble.reason is Reason.UNAUTHORIZED:
        return EmbedderKeyRefused(trouble.detail, wait=trouble.wait)
    return EmbedderUnavailable(trouble.detail, wait=trouble.wait)
