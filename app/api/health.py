"""Whether the process lives, whether it can serve, and which version it is."""

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.responses import Response

from app import __version__
from app.api.answers import Problem
from app.api.deps import PartsDep
from app.api.problems import draining
from app.services.metrics import exposition, look_at_pool
from app.store import reads

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """All is well."""

    status: str


class Version(BaseModel):
    """What runs here."""

    version: str
    encoder: str


@router.get("/livez")
async def livez() -> Health:
    """The process answers. Never touches the database."""
    return Health(status="ok")


@router.get("/readyz", response_model=Health, responses={503: {"model": Problem, "description": "It ends, or the database is away"}})
async def readyz(request: Request, parts: PartsDep) -> Health | Response:
    """The database answers too, its vectors are of this service's model, and the process is not about to end."""
    if request.app.state.draining:
        return draining()
    async with reads.reading(parts.engine) as connection:
        await reads.check_encoder(connection, parts.encoder)
    return Health(status="ready")


@router.get("/metrics", responses={200: {"content": {"text/plain": {}}, "description": "Prometheus text format"}}, response_model=None)
async def metrics(parts: PartsDep) -> Response:
    """What all workers counted: requests, operations by relation and judge, calls to the model and their tokens, the pool, the queue."""
    look_at_pool(parts.engine)
    return Response(exposition(), media_type=CONTENT_TYPE_LATEST)


@router.get("/version")
async def version(parts: PartsDep) -> Version:
    """The version of this service and of its encoder."""
    return Version(version=__version__, encoder=parts.encoder)
