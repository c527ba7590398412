"""One line of an import."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StringConstraints

from app.api.schemas.fields import check_text
from app.api.schemas.memories import FactFields
from app.api.times import Time


class ImportLine(FactFields):
    """One line of an import: one version, never deduplicated."""

    type: Literal["memory"] = "memory"
    created_at: Time | None = Field(None, description="When it became known. Default: now.")
    temporary: StrictBool = Field(
        False, description="true: what it covers in its chain resumes at its `valid_until`."
    )
    client_ref: (
        Annotated[str, StringConstraints(max_length=500), AfterValidator(check_text)]
        | StrictInt
        | None
    ) = Field(None, description="Echoed beside the new id.")
