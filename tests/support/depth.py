"""How much the tests try: as little as finds most, or with PALIMPSEST_DEEP all that there is time for."""

import os
from typing import Final

DEEP: Final = bool(os.environ.get("PALIMPSEST_DEEP"))
