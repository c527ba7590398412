"""Whether the process lives, whether it can serve, and which version it is."""

import sqlalchemy as sa
from fastapi import APIRouter
from pydantic import BaseModel

from app import __version__
from app.api.deps import PartsDep
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


@router.get("/readyz")
async def readyz(parts: PartsDep) -> Health:
    """The database answers too."""
    async with reads.reading(parts.engine) as connection:
        await connection.execute(sa.text("SELECT 1"))
    return Health(status="ready")


@router.get("/version")
async def version(parts: PartsDep) -> Version:
    """The version of this service and of its encoder."""
    return Version(version=__version__, encoder=parts.encoder)
