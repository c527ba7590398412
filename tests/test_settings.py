import re
from pathlib import Path

import pytest

from app.settings import (
    InvalidSettings,
    Settings,
    describe_unknown_variables,
    load_settings,
    settings_table,
)

DOCS = Path(__file__).parent.parent / "docs" / "operate"
KEY_OF_A_FILE = "key-of-a-file-0123456789abcdef0123"


def test_the_page_of_settings_is_the_codes() -> None:
    assert settings_table() in (DOCS / "settings.md").read_text(), "run `make settings-docs`"


@pytest.mark.parametrize("name", ["DATA_DIR", "ARCHIVE_DIR"])
def test_folders_are_the_same_for_every_working_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    for value, folder in (("~/my data", "/home/ada/my data"), ("a b", f"{tmp_path}/a b")):
        monkeypatch.setenv(f"PALIMPSEST_{name}", value)
        settings = load_settings()
        assert str(getattr(settings, name.lower())) == folder
        assert settings.archive_folder.is_absolute()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATA_DIR", ""),
        ("ARCHIVE_DIR", ""),
        ("PORT", "http"),
        ("PORT", "70000"),
        ("POOL_SIZE", "0"),
        ("FUZZY_DEDUPE", "perhaps"),
        ("DATABASE_URL", "mysql://x"),
        ("CORE_INHERITANCE", "none"),
        ("API_KEY", ""),
        ("API_KEY", "ä" * 32),
        ("API_KEY", "a"),
        ("API_KEY", " " * 40),
        ("API_KEY", "a" * 31),
        ("API_KEY", "a" * 31 + " "),
        ("TOKEN_SECRET", "a" * 31),
        ("LLM_BASE_URL", "localhost:11434/v1"),
        ("LLM_BASE_URL", ""),
        ("HALF_LIFE_DAYS_CORE", "30"),
        ("HALF_LIFE_DAYS_CORE", "{fact: 30}"),
        ("HALF_LIFE_DAYS_CORE", '{"facts": 30}'),
        ("HALF_LIFE_DAYS_CORE", '{"fact": 0}'),
        ("HALF_LIFE_DAYS_CORE", '{"fact": NaN}'),
        ("EMBEDDING_BASE_URL", "localhost:11434/v1"),
        ("EMBEDDING_API_KEY", "ä"),
        ("EMBEDDING_DIMENSIONS", "16001"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"PALIMPSEST_{name}", value)
    with pytest.raises(InvalidSettings, match=f"PALIMPSEST_{name}: ") as refused:
        load_settings()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "schema", "expected"),
    [
        ("postgresql://u:p?w@h/db", None, (None, False, "postgresql://u:p?w@h/db")),
        ("postgresql://h/db?schema=mem", None, ("mem", False, "postgresql://h/db?schema=mem")),
        ("postgresql://h/db", "My Mem", ("My Mem", False, "postgresql://h/db?schema=My%20Mem")),
        (
            "postgres://h/db?pgbouncer=true&sslmode=require",
            "mem",
            ("mem", True, "postgres://h/db?sslmode=require&pgbouncer=true&schema=mem"),
        ),
        (
            "postgresql:///db?host=/tmp",
            "a&b=c",
            ("a&b=c", False, "postgresql:///db?host=/tmp&schema=a%26b%3Dc"),
        ),
        (
            "postgresql://h/db?schema=&pgbouncer=false",
            None,
            (None, False, "postgresql://h/db?schema=&pgbouncer=false"),
        ),
    ],
)
def test_an_address_may_say_the_schema_and_the_pooler(
    url: str, schema: str | None, expected: tuple[str | None, bool, str]
) -> None:
    settings = load_settings(database_url=url, owner_url=url, database_schema=schema)
    assert (settings.database_schema, settings.database_pooler, settings.database_url) == expected
    assert settings.owner_url == settings.database_url
    again = load_settings(database_url=settings.database_url)
    assert again.database_schema == settings.database_schema


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"database_url": "postgresql://h/db?schema=a", "database_schema": "b"},
            "PALIMPSEST_DATABASE_URL: names the schema a, and another setting names b",
        ),
        (
            {
                "database_url": "postgresql://h/db?schema=a",
                "owner_url": "postgresql://h/db?schema=b",
            },
            "PALIMPSEST_OWNER_URL: names the schema b",
        ),
        ({"database_url": "postgresql://h/db?schema=pg_mem"}, "PALIMPSEST_DATABASE_SCHEMA: must"),
        (
            {"database_url": "postgresql://h/db", "database_schema": ""},
            "PALIMPSEST_DATABASE_SCHEMA",
        ),
        ({"database_url": "postgresql://h/db", "database_schema": "ä" * 32}, "63 bytes"),
    ],
)
def test_schemas_that_cannot_be_are_refused_in_one_line(values: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidSettings, match=words) as refused:
        load_settings(**values)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com"])
def test_beyond_loopback_a_key_is_needed(host: str) -> None:
    with pytest.raises(InvalidSettings, match="PALIMPSEST_API_KEY"):
        load_settings(host=host)
    assert load_settings(host=host, api_key="k" * 32).host == host
    assert load_settings(host=host, allow_unauthenticated=True).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_needs_no_key(host: str) -> None:
    assert not load_settings(host=host).listens_beyond_loopback


def test_an_embedding_endpoint_needs_the_size_of_its_vectors() -> None:
    with pytest.raises(InvalidSettings, match="PALIMPSEST_EMBEDDING_DIMENSIONS: needed"):
        load_settings(embedding_base_url="http://127.0.0.1:1/v1")


def test_classifying_by_a_model_needs_one() -> None:
    with pytest.raises(InvalidSettings, match=r"PALIMPSEST_CLASSIFY: .*PALIMPSEST_LLM_BASE_URL"):
        load_settings(classify="model")
    url = "http://127.0.0.1:1/v1"
    assert load_settings(classify="model", llm_base_url=url).has_model_judge
    with pytest.raises(InvalidSettings, match="PALIMPSEST_CLASSIFY: "):
        load_settings(classify="model", llm_base_url=url, semantic_contradiction_enabled=False)


def list_vendor_blocks() -> list[str]:
    page = (DOCS / "models.md").read_text()
    return re.findall(r"```sh\n(.*?)```", page, re.DOTALL)


def test_each_vendor_has_a_block() -> None:
    assert len(list_vendor_blocks()) == 7


@pytest.mark.parametrize("block", list_vendor_blocks())
def test_the_settings_of_each_vendor_can_be_pasted(
    monkeypatch: pytest.MonkeyPatch, block: str
) -> None:
    variables = dict(re.findall(r"export (\w+)=(\S+)", block))
    assert len(variables) == len(block.splitlines())
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert describe_unknown_variables() == []
    assert settings.llm_model == variables["PALIMPSEST_LLM_MODEL"]
    assert settings.has_model_judge


def test_every_setting_says_what_it_means() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_half_lives_left_out_keep_their_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_HALF_LIFE_DAYS_SEMANTIC", '{"fact": 30}')
    settings = load_settings()
    assert settings.half_life_days_semantic == {
        "fact": 30,
        "preference": 365,
        "decision": 365,
        "constraint": 3650,
    }
    assert settings.half_life_days_core["fact"] == 365


def test_a_secret_may_be_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "palimpsest_api_key").write_text(f"{KEY_OF_A_FILE}\n")
    (tmp_path / "palimpsest_database_url").write_text("postgresql://user:p%40ss@host/name")
    monkeypatch.delenv("PALIMPSEST_DATABASE_URL", raising=False)
    monkeypatch.setenv("PALIMPSEST_SECRETS_DIR", str(tmp_path))
    settings = load_settings(host="0.0.0.0")
    assert settings.api_key == KEY_OF_A_FILE
    assert settings.database_url == "postgresql://user:p%40ss@host/name"
    monkeypatch.setenv("PALIMPSEST_API_KEY", "key-of-the-environment-0123456789abcdef")
    assert load_settings().api_key == "key-of-the-environment-0123456789abcdef"


def test_a_secret_that_cannot_be_had_stops_the_start_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for unusable in ("missing", "x" * 300):  # the system refuses to look the second one up
        monkeypatch.setenv("PALIMPSEST_SECRETS_DIR", str(tmp_path / unusable))
        with pytest.raises(InvalidSettings, match="PALIMPSEST_SECRETS_DIR: there is no folder"):
            load_settings()
    (tmp_path / "palimpsest_api_key").write_text("ä")
    monkeypatch.setenv("PALIMPSEST_SECRETS_DIR", str(tmp_path))
    with pytest.raises(InvalidSettings, match="PALIMPSEST_API_KEY: ") as refused:
        load_settings()
    assert "ä" not in str(refused.value)


def test_a_secret_that_cannot_be_read_is_one_line_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "palimpsest_api_key").write_bytes(b"\xff")
    monkeypatch.setenv("PALIMPSEST_SECRETS_DIR", str(tmp_path))
    with pytest.raises(InvalidSettings, match="PALIMPSEST_SECRETS_DIR: ") as refused:
        load_settings()
    assert "\n" not in str(refused.value)


def test_many_languages_need_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.settings.find_spec", lambda name: None)
    with pytest.raises(InvalidSettings, match=r"PALIMPSEST_LANGUAGES: .*`make languages`"):
        load_settings(languages="many")
    assert load_settings(languages="english").languages == "english"
