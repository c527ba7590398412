"""An encoder behind HTTP: any OpenAI-compatible `/v1/embeddings`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from app.domain.errors import EmbedderKeyRefused, EmbedderUnavailable, WrongVectorSize
from app.embedding.answer import Vectors, WrongSize, read_vectors
from app.remote.endpoint import Endpoint, EndpointOptions, PendingQuestion
from app.remote.trouble import Reason, Trouble

# A number is written with up to 25 characters, and with a line and an indent of its own by some servers.
BYTES_PER_NUMBER = 48
BYTES_BESIDE = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingOptions(EndpointOptions):
    """An endpoint, the model to ask there, how many numbers its vectors have, and how many texts go into one request."""

    model: str
    dimensions: int
    batch: int = 32

    @property
    def name(self) -> str:
        """The encoder's name: what decides its vectors. Where it runs does not."""
        return f"{self.model}/{self.dimensions}"


class RemoteEmbedder:
    """An `Embedder` (see there) that asks an endpoint. The HTTP client is built and closed by the caller.

    `dimensions` is sent along; a server that does not take the word is asked without it from then on. There is no breaker: a text
    cannot be stored without its vector, so every call tries, and the first one after an outage succeeds. What else is given scripts
    the endpoint.
    """

    def __init__(self, http: httpx.AsyncClient, options: EmbeddingOptions, **scripted: Any) -> None:
        self.name = options.name
        self.dimensions = options.dimensions
        self._options = options
        self._endpoint = Endpoint(http, options, who="embedding server", **scripted)
        self._says_dimensions = True

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As every embedder; lone surrogates, which no request can carry, count as question marks. Raises EmbedderUnavailable."""
        sendable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        batches = [
            sendable[start : start + self._options.batch]
            for start in range(0, len(sendable), self._options.batch)
        ]
        outcomes = await asyncio.gather(*(self._encode_batch(batch) for batch in batches))
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
        """One request; a second one where the server may not know the word `dimensions`."""
        body: dict[str, Any] = {"model": self._options.model, "input": texts}
        most = BYTES_BESIDE + len(texts) * self.dimensions * BYTES_PER_NUMBER
        said = body | ({"dimensions": self.dimensions} if self._says_dimensions else {})
        answer = await question.post("/embeddings", said, most=most)
        if not isinstance(answer, Trouble) and answer.status in (400, 422) and "dimensions" in said:
            refusal = question.trouble_from_answer(answer)
            answer = await question.post("/embeddings", body, most=most)
            if isinstance(answer, Trouble) or answer.status != 200:
                return refusal  # it was not about the word: the first complaint says more
            self._says_dimensions = False
        if isinstance(answer, Trouble):
            return answer
        if answer.status != 200:
            return question.trouble_from_answer(answer)
        return read_vectors(answer.body, texts=len(texts), dimensions=self.dimensions)


def _build_error(trouble: Trouble) -> EmbedderUnavailable:
    if isinstance(trouble, WrongSize):
        return WrongVectorSize(trouble.received, trouble.expected)
    if trouble.reason is Reason.UNAUTHORIZED:
        return EmbedderKeyRefused(trouble.detail, wait=trouble.wait)
    return EmbedderUnavailable(trouble.detail, wait=trouble.wait)
