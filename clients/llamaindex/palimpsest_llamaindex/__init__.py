"""LlamaIndex's memory on Palimpsest: the user's memory in every chat.

>>> block = PalimpsestMemoryBlock(client=Client(agent="ada"))
>>> memory = PalimpsestMemory.from_defaults(session_id="chat 12", memory_blocks=[block])
>>> await agent.run("Where do I live?", memory=memory)
"""

from palimpsest_llamaindex.memory import PalimpsestMemory, PalimpsestMemoryBlock

__version__ = "0.1.0+checkout"

__all__ = ["PalimpsestMemory", "PalimpsestMemoryBlock"]
