"""Google ADK's memory service on Palimpsest: the user's memory in every session.

>>> memory = PalimpsestMemoryService(AsyncClient())
>>> Runner(app_name="desk", agent=agent, session_service=sessions, memory_service=memory)
"""

from palimpsest_google_adk.service import PalimpsestMemoryService

__version__ = "0.1.0+checkout"

__all__ = ["PalimpsestMemoryService"]
