"""The base of all answers."""

from pydantic import BaseModel, ConfigDict


class AnswerBase(BaseModel):
    """An answer, built from what the service made itself: words of enums go out as they come from the database."""

    model_config = ConfigDict(use_enum_values=True)
