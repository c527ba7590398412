"""The state of the process: alive, ready to serve, its figures and its version."""

from datetime import datetime
from math import isfinite
from typing import Any, Self

from fastapi import APIRouter, Depends, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from starlette.responses import RedirectResponse, Response

from app import __version__
from app.advice import advise_on_model
from app.api.deps import ServicesDep, check_scope
from app.api.openapi import document_problems
from app.api.problems import respond_draining, respond_starving
from app.classification.model.check import ModelChecker
from app.services.metrics import (
    render_metrics,
    update_model_gauge,
    update_pool_gauges,
    update_replica_gauges,
    update_webhooks_gauge,
)
from app.store.reads import Replica

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """All is well."""

    status: str


class ReplicaOut(BaseModel):
    """A read replica, as this process sees it."""

    name: str = Field(description="Its host and port.")
    used: bool = Field(description="Whether reads go to it.")
    lag_seconds: float | None = Field(
        description="How old its answers may be, at most; null if that is not known."
    )
    trouble: str | None = Field(
        description="Why it is refused; null if it is not. Too much lag alone is no trouble."
    )

    @classmethod
    def from_replica(cls, replica: Replica, *, used: bool) -> Self:
        lag = replica.compute_lag()
        return cls(
            name=replica.name,
            used=used,
            lag_seconds=round(lag, 3) if isfinite(lag) else None,
            trouble=replica.refusal,
        )


class ModelOut(BaseModel):
    """The language model, as this process found it."""

    name: str
    checked_at: datetime | None = Field(
        description="When it was last asked about pairs with known answers; null before."
    )
    trouble: str | None = Field(
        description="What is wrong with it and what to do about it; null if nothing is known."
    )

    @classmethod
    def from_checker(cls, checker: ModelChecker) -> Self:
        report = checker.report
        return cls(
            name=checker.model,
            checked_at=report.checked_at if report else None,
            trouble=advise_on_model(report) if report else None,
        )


class Ready(Health):
    """The service can serve. Without its replicas it still can: the primary answers then. Without
    its model it can too: facts are judged without one.
    """

    replicas: list[ReplicaOut] = Field(description="The read replicas of the settings.")
    model: ModelOut | None = Field(description="The model of the settings; null if there is none.")


class Version(BaseModel):
    """What runs here."""

    version: str = Field(description="The version of this service.")
    encoder: str = Field(description="The model that makes the vectors of this service.")


@router.head("/", include_in_schema=False)
@router.get("/", include_in_schema=False)
async def root(request: Request) -> RedirectResponse:
    """Lead a browser to the console, or else to the page on which everything can be tried."""
    return RedirectResponse("ui" if request.app.state.settings.console else "docs")


# Probes such as `wget --spider` ask without wanting the body.
@router.head("/livez", include_in_schema=False)
@router.get("/livez")
async def livez() -> Health:
    """Check that the process answers. The database is not touched."""
    return Health(status="ok")


@router.head("/readyz", include_in_schema=False, response_model=None)
@router.get(
    "/readyz",
    response_model=Ready,
    responses=document_problems(500, 503),
    description=(
        "Check that the service can serve: the database answers within two seconds and takes "
        "writes, its vectors are of this service's model, requests move on, and the process is not "
        "about to end. Read replicas are listed, the model is named with its trouble, and neither "
        "makes the service unready."
    ),
)
async def readyz(request: Request, services: ServicesDep) -> Ready | Response:
    if request.app.state.draining:
        return respond_draining()
    if any(gate.starves for gate in request.app.state.gates.values()):
        return respond_starving()
    await services.readiness.check()
    reads = services.reads
    replicas = [
        ReplicaOut.from_replica(replica, used=reads.is_used(replica)) for replica in reads.replicas
    ]
    checker = services.model_checker
    model = ModelOut.from_checker(checker) if checker else None
    return Ready(status="ready", replicas=replicas, model=model)


async def check_metrics_scope(request: Request, services: ServicesDep) -> None:
    """Raise ScopeMissing if the metrics need a key, and this one does not allow them."""
    if services.settings.metrics_need_key:
        await check_scope(request)


_METRICS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Prometheus text format",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
}


@router.get(
    "/metrics",
    dependencies=[Depends(check_metrics_scope)],
    responses=_METRICS | document_problems(401, 403, 429, 503),
    response_class=Response,
    description=(
        "Read what all workers counted: requests, operations by relation and judge, calls to the "
        "model and their tokens, the pool, the replicas, the queue. A key is needed only with "
        "PALIMPSEST_METRICS_NEED_KEY."
    ),
)
async def metrics(services: ServicesDep) -> Response:
    update_pool_gauges(services.engine)
    update_replica_gauges(services.reads)
    update_model_gauge(services.model_checker)
    await update_webhooks_gauge(services.webhooks)
    return Response(render_metrics(), media_type=CONTENT_TYPE_LATEST)


@router.get("/version")
async def version(services: ServicesDep) -> Version:
    """Read the version of this service and of its encoder."""
    return Version(version=__version__, encoder=services.encoder)
