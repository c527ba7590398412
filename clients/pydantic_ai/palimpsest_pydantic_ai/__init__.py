"""Pydantic AI's capability on Palimpsest: the user's memory in every run.

>>> agent = Agent("openai:gpt-5", capabilities=[PalimpsestMemory(AsyncClient(agent="ada"))])
>>> await agent.run("Where do I live?")
"""

from palimpsest_pydantic_ai.memory import PalimpsestMemory

__version__ = "0.1.0+checkout"

__all__ = ["PalimpsestMemory"]
