"""CrewAI's memory on Palimpsest: saved and recalled without a language model.

>>> crew = Crew(agents=[agent], tasks=[task], memory=PalimpsestMemory(Client(agent="ada")))
>>> crew.kickoff()
"""

from palimpsest_crewai.memory import PalimpsestMemory
from palimpsest_crewai.storage import PalimpsestStorage

__version__ = "0.1.0+checkout"

__all__ = ["PalimpsestMemory", "PalimpsestStorage"]
