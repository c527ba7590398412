"""OpenAI Agents' session on Palimpsest: the history of a conversation, which is never lost.

>>> session = PalimpsestSession("conversation 12", AsyncClient())
>>> await Runner.run(agent, "Where do I live?", session=session)
"""

from palimpsest_openai_agents.session import PalimpsestSession

__version__ = "0.1.0+checkout"

__all__ = ["PalimpsestSession"]
