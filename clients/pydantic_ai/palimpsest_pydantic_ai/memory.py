"""The capability of Pydantic AI on a client."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any
from urllib.parse import quote

from pydantic_ai import FunctionToolset
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import AgentDepsT, RunContext

from palimpsest_client import AsyncClient
from palimpsest_client.models import MessageRequest

_PLAIN = ";,/?:@&=+$!*'()#"  # stand in the name of an agent as they are


@dataclass
class PalimpsestMemory(AbstractCapability[AgentDepsT]):
    """Show the model what the memory holds for the prompt, and store what the run said.

    The memory stands before the user's words of the request alone: the message history never holds
    it. The tool `search_memory` answers further questions, also as of an earlier day.
    """

    client: AsyncClient
    _: KW_ONLY
    user: Callable[[RunContext[AgentDepsT]], str] | None = None
    """Names the user of a run, whose memory it is. Default: the agent of the client."""
    budget_tokens: int = 1_000
    """The most tokens that the memory takes in a request."""
    _context: str = field(default="", init=False, repr=False)

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> "PalimpsestMemory[AgentDepsT]":
        """Return the memory of this run's user."""
        client = self.client.agent(quote(self.user(ctx), safe=_PLAIN)) if self.user else self.client
        return replace(self, client=client, user=None)

    def get_toolset(self) -> FunctionToolset[AgentDepsT]:
        """Return the tools of the model."""
        return FunctionToolset([self.search_memory])

    async def search_memory(self, question: str, as_of: str | None = None) -> list[str]:
        """Search the user's memory.

        Args:
            question: What to look for.
            as_of: A day, such as 2025-06-30, to search what was true then. Default: now.
        """
        answer = await self.client.search(question, as_of=as_of, limit=10)
        return [hit["memory"]["content"] or "" for hit in answer["results"]]

    async def before_run(self, ctx: RunContext[AgentDepsT]) -> None:
        """Read what the memory holds for the prompt."""
        answer = await self.client.context(
            query=_read_prompt(ctx) or None, budget_tokens=self.budget_tokens
        )
        self._context = answer["text"]

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put the memory before the user's latest words, in this request only."""
        if self._context:
            request_context.messages = _add_context(request_context.messages, self._context)
        return request_context

    async def after_run(
        self, ctx: RunContext[AgentDepsT], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Store the prompt and the answer, and the facts that the user stated."""
        texts = {"user": _read_prompt(ctx), "assistant": result.output}
        messages: list[MessageRequest] = [
            {"id": f"{ctx.run_id}/{role}", "role": role, "content": text}
            for role, text in texts.items()
            if isinstance(text, str) and text.strip()
        ]
        if messages:
            await self.client.capture(ctx.conversation_id or str(ctx.run_id), messages)
        return result


def _read_prompt(ctx: RunContext[Any]) -> str:
    """Return the words of the prompt, which may hold images too."""
    parts = [ctx.prompt] if isinstance(ctx.prompt, str) else ctx.prompt or []
    return "\n".join(part for part in parts if isinstance(part, str))


def _add_context(messages: Sequence[ModelMessage], context: str) -> list[ModelMessage]:
    changed = list(messages)
    for place in reversed(range(len(changed))):
        message = changed[place]
        if isinstance(message, ModelRequest) and any(
            isinstance(part, UserPromptPart) for part in message.parts
        ):
            changed[place] = replace(message, parts=[UserPromptPart(context), *message.parts])
            break
    return changed
