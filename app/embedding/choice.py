"""The encoder that the settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from app.embedding import Embedder, many_languages
from app.embedding.local import DIMENSIONS, ENGLISH_ENCODER, LocalEmbedder
from app.embedding.remote import EmbeddingOptions, RemoteEmbedder
from app.networks import FairThreads
from app.settings import Settings


def encoder_of(settings: Settings) -> tuple[str, int]:
    """Return the encoder's name and dimensions, without loading or asking the encoder.

    Raises DamagedNetwork.
    """
    remote = _find_remote_options(settings)
    if remote is not None:
        return remote.name, remote.dimensions
    is_english = settings.languages == "english"
    return ENGLISH_ENCODER if is_english else many_languages.name_encoder(), DIMENSIONS


@asynccontextmanager
async def open_embedder(settings: Settings, threads: FairThreads) -> AsyncIterator[Embedder]:
    """Open the encoder of the settings, and close it at the end. A local one runs on `threads`."""
    options = _find_remote_options(settings)
    if options is not None:
        async with httpx.AsyncClient() as http:
            yield RemoteEmbedder(http, options)
        return
    if settings.languages == "english":
        yield LocalEmbedder(threads)
    else:
        yield LocalEmbedder(threads, many_languages.open_network(threads.count))


def _find_remote_options(settings: Settings) -> EmbeddingOptions | None:
    if settings.embedding_base_url is None:
        return None
    assert settings.embedding_dimensions is not None, "load_settings asks for it"
    return EmbeddingOptions(
        base_url=settings.embedding_base_url,
        model=settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        api_key=settings.embedding_api_key,
        connect_timeout=settings.embedding_connect_timeout,
        read_timeout=settings.embedding_read_timeout,
        total_timeout=settings.embedding_total_timeout,
        concurrency=settings.embedding_concurrency,
        tries=settings.embedding_tries,
        batch=settings.embedding_batch,
    )
