"""Changes in the text of JSON files of people, which leave every other byte as it was."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.commands.connect.json_text import Unreadable, read_json, remove_from_json, set_in_json

PATH = ("mcpServers", "palimpsest")
ENTRY = {"command": "/opt/p", "args": ["mcp", "--agent", "ada"]}
TEXTS = {
    "empty": "",
    "blank": " \n",
    "no servers": "{}",
    "no servers, in lines": "{\n}\n",
    "a comment alone": "{\n  // nothing yet\n}\n",
    "another setting": '{\n  "theme": "dark"\n}\n',
    "one line": '{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}',
    "another server": '{\n    "mcpServers": {\n        "other": {\n            "command": "x"\n        }\n    },\n    "theme": "dark"\n}\n',
    "tabs": '{\n\t"mcpServers": {\n\t\t"other": {"url": "x"}\n\t}\n}\n',
    "lines of Windows": '{\r\n  "mcpServers": {\r\n    "other": {}\r\n  }\r\n}\r\n',
    "a comma at the end": '{\n  "mcpServers": {\n    "other": {"a": [1, 2,],},\n  },\n}\n',
    "comments": '// mine\n{\n  /* a { brace */ "a": "// no comment", // one, two\n  "mcpServers": {\n    "other": {} // the other, too\n    // the end\n  } // servers\n}\n',
    "a comment after a comma": '{\n  "a": 1, // one\n}\n',
    "a mark of the byte order": '\ufeff{\n  "a": "é"\n}\n',
    "bare names and single quotes": "{\n  a: 'it\\'s \"so\"',\n  mcpServers: {other: {b: +1, c: .5, d: Infinity}},\n}\n",
    "ours, first": '{\n  "mcpServers": {\n    "palimpsest": {"url": "old"}, // ours\n    "other": {}\n  }\n}\n',
    "ours, alone": '{"mcpServers": {"palimpsest": {"url": "old"}}}',
}


def read_independently(text: str) -> Any:
    """A reader of its own: comments and last commas are cut out, and the rest is for `json`."""
    string = r'"(?:[^"\\]|\\.)*"'
    text = re.sub(rf"({string})|//[^\n]*|/\*.*?\*/", lambda m: m[1] or "", text, flags=re.DOTALL)
    text = re.sub(rf"({string})|,(?=\s*[}}\]])", lambda m: m[1] or "", text, flags=re.DOTALL)
    return json.loads(text.removeprefix("\ufeff") or "{}") if text.strip() else {}


def is_json_with_comments(name: str) -> bool:
    return name != "bare names and single quotes"


@pytest.mark.parametrize("name", TEXTS)
def test_a_server_is_put_in_and_everything_else_stays(name: str) -> None:
    before = TEXTS[name]
    after = set_in_json(before, PATH, ENTRY)
    assert read_json(after)["mcpServers"]["palimpsest"] == ENTRY
    if is_json_with_comments(name):
        others = read_independently(before)
        others.setdefault("mcpServers", {})["palimpsest"] = ENTRY
        assert read_independently(after) == others
    for part in re.findall(r"//.*|/\*.*?\*/|\"[^\"\n]*\"", before):
        assert part in after or "old" in part or "url" in part
    assert ("\r\n" in after) == ("\r\n" in before)
    assert "\n" not in after.replace("\r\n", "") or "\r\n" not in before


@pytest.mark.parametrize("name", TEXTS)
def test_the_server_is_taken_out_and_the_text_is_what_it_was(name: str) -> None:
    before = TEXTS[name]
    after = remove_from_json(set_in_json(before, PATH, ENTRY), PATH)
    if name.startswith("ours"):
        assert "palimpsest" not in after
        assert read_independently(after).get("mcpServers", {}) in ({}, {"other": {}})
    elif name not in ("empty", "blank", "no servers, in lines"):
        assert after == before
    else:
        assert read_json(after) == {}


def test_comments_stay_with_the_lines_that_they_are_about() -> None:
    after = set_in_json(TEXTS["comments"], PATH, ENTRY)
    assert '"other": {}, // the other, too\n    "palimpsest": {' in after


def test_lists_are_changed_by_number() -> None:
    text = '{"hooks": {"Stop": [{"a": 1}]}}'
    longer = set_in_json(text, ("hooks", "Stop", 1), {"b": 2})
    assert read_json(longer)["hooks"]["Stop"] == [{"a": 1}, {"b": 2}]
    assert remove_from_json(longer, ("hooks", "Stop", 1)) == text
    assert read_json(set_in_json("", ("hooks", "Stop", 0), 1)) == {"hooks": {"Stop": [1]}}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: a comma or } is missing"),
        ('{"a": }', "line 1, column 7: a value is missing"),
        ('{\n  "a": "open\n}', "line 2, column 8: this cannot be read"),
        ('{"a": 1', "line 1, column 8: a comma or } is missing"),
        ('{"a": 1} {', "line 1, column 10: nothing more"),
        ('{"a" 1}', "colon"),
        ("[1, 2", "a comma or ]"),
        ("{,}", "a name is missing"),
        ("[" * 500, "nested too deeply"),
        ('{"mcpServers": []}', "line 1, column 16: this is no object"),
        ('{"mcpServers": "none"}', "line 1, column 16: this is no object"),
        ("[]", "line 1, column 1: this is no object"),
    ],
)
def test_a_broken_text_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(Unreadable) as refused:
        set_in_json(text, PATH, ENTRY)
    assert place in str(refused.value)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    st.none() | st.integers(1, 4) | st.just("\t"),
    st.booleans(),
)
def test_any_object_keeps_its_other_values(
    others: dict[str, Any], indent: int | str | None, has_servers: bool
) -> None:
    if has_servers:
        others["mcpServers"] = {"other": {"x": 1}}
    else:
        others.pop("mcpServers", None)
    before = json.dumps(others, indent=indent)
    after = set_in_json(before, PATH, ENTRY)
    expected = json.loads(before)
    expected.setdefault("mcpServers", {})["palimpsest"] = ENTRY
    assert json.loads(after) == expected
    assert json.loads(remove_from_json(after, PATH)) == others
