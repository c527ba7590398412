"""The base class of answers."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict


class AnswerBase(BaseModel):
    """An answer to a call.

    Answers are built without validation, because the service made their values itself. Words of
    enums leave as the database returned them.
    """

    model_config = ConfigDict(use_enum_values=True)
    leaves_out_empty: ClassVar[bool] = False

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Build the answer from the values of its fields; other names in `values` are ignored."""
        fields = {name: values[name] for name in cls.model_fields}
        return cls.model_construct(**fields)

    @classmethod
    def from_attributes(cls, source: object, **computed: Any) -> Self:
        """Build the answer from `computed`, and else from the attributes of the same names."""
        for name in cls.model_fields.keys() - computed.keys():
            computed[name] = getattr(source, name)
        return cls.model_construct(**computed)
