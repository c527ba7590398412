"""Every link of the documentation resolves, and every page can be found."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
INDEX = ROOT / "docs" / "README.md"
PAGES = [
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "bench/*.md",
        "clients/*/README.md",
        "corpus/**/*.md",
        "training/**/*.md",
    )
    for path in sorted(ROOT.glob(pattern))
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
MENTION = re.compile(r"docs/[\w./-]+\.md")
ADDRESS = re.compile(r"[a-z]+:")


def name_page(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read_prose(page: Path) -> str:
    """Return the page without its fenced blocks."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def list_anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of the page."""
    seen: Counter[str] = Counter()
    anchors = set()
    for heading in re.findall(r"^#+ (.*)$", read_prose(page), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        anchors.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return anchors


def find_broken_link(page: Path, link: str) -> str | None:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return f"{link}: no such file"
    if anchor and anchor not in list_anchors(target):
        return f"{link}: no such heading"
    return None


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_every_link_of_a_page_resolves(page: Path) -> None:
    links = [link for link in LINK.findall(read_prose(page)) if not ADDRESS.match(link)]
    assert [broken for link in links if (broken := find_broken_link(page, link))] == []


@pytest.mark.parametrize("folder", ["app", "clients", "migrations", "openapi", "scripts"])
def test_every_page_that_code_names_exists(folder: str) -> None:
    files = [
        path
        for suffix in ("py", "json", "ts", "js", "mako")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
        if "node_modules" not in path.parts
    ]
    named = {name for path in files for name in MENTION.findall(path.read_text("utf-8"))}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if INDEX.parent in page.parents], ids=name_page
)
def test_no_page_has_over_250_lines(page: Path) -> None:
    assert len(page.read_text("utf-8").splitlines()) <= 250


def test_the_index_has_at_most_90_lines() -> None:
    assert len(INDEX.read_text("utf-8").splitlines()) <= 90


def test_every_page_is_in_the_index() -> None:
    linked = {
        (INDEX.parent / link.partition("#")[0]).resolve()
        for link in LINK.findall(INDEX.read_text("utf-8"))
    }
    pages = {path for path in INDEX.parent.rglob("*.md") if path.parent.name != "decisions"}
    assert sorted(map(name_page, pages - linked - {INDEX})) == []
