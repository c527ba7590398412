"""The encoder that the settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from app.embedding import Embedder
from app.embedding.local import LocalEmbedder
from app.embedding.remote import EmbeddingOptions, RemoteEmbedder
from app.settings import Settings


def encoder_of(settings: Settings) -> tuple[str, int]:
    """Name and dimensions of the encoder, without loading it or asking it anything."""
    remote = _find_remote_options(settings)
    return (
        (remote.name, remote.dimensions)
        if remote
        else (LocalEmbedder.name, LocalEmbedder.dimensions)
    )


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[Embedder]:
    """The encoder, closed afterwards."""
    if options := _find_remote_options(settings):
        async with httpx.AsyncClient() as http:
            yield RemoteEmbedder(http, options)
        return
    local = LocalEmbedder(threads=settings.embedding_threads)
    try:
        yield local
    finally:
        local.close()


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
