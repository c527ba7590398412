"""The optional parts of a chat-completions request that a server understands."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Format(StrEnum):
    """The way to request JSON: by an enforced schema, as any object, or in the prompt."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    PROMPT = "text"


_PLAINER = {Format.SCHEMA: Format.OBJECT, Format.OBJECT: Format.PROMPT}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The options of a request beyond model and messages. The first one tried is the richest."""

    format: Format = Format.SCHEMA
    limit: str = "max_tokens"
    temperature: bool = True

    def build_request_options(self, schema: dict[str, Any], max_tokens: int) -> dict[str, Any]:
        options: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            options["temperature"] = 0
        if self.format is Format.SCHEMA:
            options["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            }
        elif self.format is Format.OBJECT:
            options["response_format"] = {"type": "json_object"}
        return options

    def after_refusal(self, status: int, complaint: str) -> "Dialect | None":
        """Return a plainer dialect to try after an error.

        Return None if the error is not about these options, or if no option is left to drop.
        Reasoning models of OpenAI refuse `max_tokens` and `temperature` by name. Any other 400, 404
        or 422 may be about `response_format`; llama.cpp names it in a 500.
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
