"""The views of an answer that a caller can choose from."""

from enum import StrEnum
from typing import Annotated, Final

from fastapi import Query


class View(StrEnum):
    """How much of an answer the caller wants."""

    FULL = "full"
    BRIEF = "brief"


VIEW_DESCRIPTION: Final = (
    "`full`: every field, also those that are null. `brief`: what an agent acts on, without empty "
    "fields."
)
ViewDep = Annotated[View, Query(description=VIEW_DESCRIPTION)]
