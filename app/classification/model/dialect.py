"""Which of the optional words of a chat-completions request a server understands."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Format(StrEnum):
    """How JSON is asked for: by a schema that the server enforces, as any object, or in the prompt alone."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    PROMPT = "text"


_PLAINER = {Format.SCHEMA: Format.OBJECT, Format.OBJECT: Format.PROMPT}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a request says beyond model and messages. The first one tried is the richest."""

    format: Format = Format.SCHEMA
    limit: str = "max_tokens"
    temperature: bool = True

    def build_request_options(self, schema: dict[str, Any], max_tokens: int) -> dict[str, Any]:
        """The optional part of a request's body."""
        said: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            said["temperature"] = 0
        if self.format is Format.SCHEMA:
            said["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            }
        elif self.format is Format.OBJECT:
            said["response_format"] = {"type": "json_object"}
        return said

    def after_refusal(self, status: int, complaint: str) -> "Dialect | None":
        """What to say instead after an error, or None where it was not about these words, or nothing is left to give up.

        Reasoning models of OpenAI refuse `max_tokens` and `temperature` by name. Of the rest, any 400, 404 or 422 may be
        about `response_format`; llama.cpp says so in a 500.
        """
        if "response_format" not in complaint:
            if status not in (400, 404, 422):
                return None
            if "max_completion_tokens" in complaint and self.limit == "max_tokens":
                return replace(self, limit="max_completion_tokens")
            if "temperature" in complaint and self.temperature:
                return replace(self, temperature=False)
        plainer = _PLAINER.get(self.format)
        return None if plainer is None else replace(self, format=plainer)
