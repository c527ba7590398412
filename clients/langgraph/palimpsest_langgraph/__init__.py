"""LangGraph's store on Palimpsest: every put is a version, and reads go back in time.

>>> from palimpsest_client import Client
>>> from palimpsest_langgraph import PalimpsestStore
>>> store = PalimpsestStore(Client())
>>> store.put(("users", "ada"), "home", {"city": "Lisbon"})
"""

from palimpsest_langgraph.items import ItemVersion
from palimpsest_langgraph.store import AsyncPalimpsestStore, PalimpsestStore

__version__ = "0.1.0+checkout"

__all__ = ["AsyncPalimpsestStore", "ItemVersion", "PalimpsestStore"]
