"""The optional parts of a chat-completions request that a server understands."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from app.remote.trouble import is_about_length


class Format(StrEnum):
    """The way to request JSON: by an enforced schema, as any object, or in the prompt."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    PROMPT = "text"


_PLAINER = {Format.SCHEMA: Format.OBJECT, Format.OBJECT: Format.PROMPT}
_UNKNOWN = re.compile(r"unsupported|not (?:supported|permitted|allowed)|un(?:known|recogni|expect)")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The options of a request beyond model and messages. The first one tried is the richest.

    `limit` is the name of the limit of answer tokens, which may be halved; None leaves it out.
    """

    format: Format = Format.SCHEMA
    limit: str | None = "max_tokens"
    is_halved: bool = False
    temperature: bool = True

    def build_request_options(self, schema: dict[str, Any], answer_tokens: int) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.limit is not None:
            options[self.limit] = answer_tokens // 2 if self.is_halved else answer_tokens
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

        Return None if the error is not about these options, or if no option is left to drop. Any
        400, 404 or 422 that names no option may be about each of them: first about
        `response_format`, which llama.cpp names in a 500, then about `temperature`.
        """
        words = complaint.lower()
        if "response_format" not in words:
            if status not in (400, 404, 422):
                return None
            if "max_completion_tokens" in words and self.limit == "max_tokens":
                return replace(self, limit="max_completion_tokens")
            if "temperature" in words and self.temperature:
                return replace(self, temperature=False)
            if self.limit is not None and self.limit in words and _UNKNOWN.search(words):
                return replace(self, limit=None)
            if is_about_length(words):
                can_halve = self.limit is not None and not self.is_halved
                return replace(self, is_halved=True) if can_halve else None
        plainer = _PLAINER.get(self.format)
        if plainer is not None:
            return replace(self, format=plainer)
        return replace(self, temperature=False) if self.temperature else None
