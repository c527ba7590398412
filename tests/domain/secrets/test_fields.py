from app.domain.secrets import redact_named_value
from app.domain.secrets.fields import list_text_fields


def list_fields(request: object) -> set[tuple[str, str, str | None, bool]]:
    fields = list_text_fields(request)
    return {(each.path, each.text, each.label, each.is_free_text) for each in fields}


def test_texts_are_told_from_names() -> None:
    request = {"content": "I like tea", "session_id": "one", "tags": ["drinks"]}
    assert list_fields(request) == {
        ("content", "I like tea", None, True),
        ("session_id", "one", None, False),
        ("tags[0]", "drinks", None, False),
    }


def test_a_detail_has_its_name_and_a_value_its_key() -> None:
    request = {"key": "wifi password", "value": "olive", "details": {"pin": 4821, "logins": ["a"]}}
    assert list_fields(request) >= {
        ("value", "olive", "wifi password", True),
        ("details.pin", "4821", "pin", True),
        ("details.logins[0]", "a", "logins", True),
        ("details", "pin", None, False),
    }


def test_what_is_nested_too_deep_is_left_to_the_schema() -> None:
    deep: list[object] = ["bottom"]
    for _ in range(100_000):
        deep = [deep]
    assert list_fields({"details": deep}) == set()


def test_the_name_of_a_value_makes_it_a_secret() -> None:
    assert redact_named_value("password", "only letters") == ("[redacted: password]", 1)
    assert redact_named_value("colour", "only letters") == ("only letters", 0)
