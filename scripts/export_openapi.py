"""Writes openapi/openapi.json from the code."""

import json
from pathlib import Path

from app.main import create_app
from app.settings import load_settings

TARGET = Path(__file__).parent.parent / "openapi" / "openapi.json"
# The document that a service serves names that service; a file needs an address.
SERVERS = [{"url": "http://localhost:8000", "description": "`make serve`"}]


def document() -> str:
    """The OpenAPI document as committed."""
    served = create_app(load_settings(host="127.0.0.1")).openapi()
    return json.dumps(served | {"servers": SERVERS}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(document())
