"""Writes openapi/openapi.json from the code."""

import json
from pathlib import Path

from app.main import create_app
from app.settings import load_settings

TARGET = Path(__file__).parent.parent / "openapi" / "openapi.json"


def document() -> str:
    """The OpenAPI document as committed."""
    return (
        json.dumps(
            create_app(load_settings(host="127.0.0.1")).openapi(), indent=1, ensure_ascii=False
        )
        + "\n"
    )


if __name__ == "__main__":
    TARGET.write_text(document())
