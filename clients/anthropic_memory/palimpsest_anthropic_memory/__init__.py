"""Anthropic's memory tool on Palimpsest: files kept as facts, where every edit is a version.

>>> tool = PalimpsestMemoryTool(Client())
>>> anthropic.beta.messages.tool_runner(..., tools=[tool])
"""

from palimpsest_anthropic_memory.tool import AsyncPalimpsestMemoryTool, PalimpsestMemoryTool

__version__ = "0.1.0+checkout"

__all__ = ["AsyncPalimpsestMemoryTool", "PalimpsestMemoryTool"]
