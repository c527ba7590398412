"""Writes the table of docs/operate/settings.md from the code."""

from pathlib import Path

from app.settings import settings_table

TARGET = Path(__file__).parent.parent / "docs" / "operate" / "settings.md"


def document() -> str:
    """The page as committed."""
    return (
        "# Settings\n\nRead from the environment at start; a wrong value stops the start with one line that names the variable. "
        "This table is written by `make settings-docs`.\n\n" + settings_table() + "\n"
    )


if __name__ == "__main__":
    TARGET.write_text(document())
