import time

import pytest

from app.domain.secrets.vendor_rules import find_vendor_tokens, load_vendor_rules

RULES = load_vendor_rules()


def test_every_rule_compiles() -> None:
    patterns = {rule.pattern for rules in RULES.values() for rule in rules}
    assert len(patterns) > 150


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("my Datadog key is {}.", "0123456789abcdef" * 2 + "fedcba98"),
        ("adafruit_key = '{}'", "0123456789abcdef" * 2),
        ("({})", "dp." + "pt." + "a1B2" * 10 + "c3D"),
        ("_{}_", "lin_" + "api_" + "a1B2c3D4" * 5),
    ],
)
def test_a_token_in_a_sentence_is_recognised(text: str, token: str) -> None:
    whole = text.format(token)
    [found_token] = {whole[one.start : one.end] for one in find_vendor_tokens(whole)}
    assert found_token == token


@pytest.mark.parametrize(
    "text", ["Dropbox, congratulations", "LinkedIn: administration", "asana: 1234567890123456"]
)
def test_an_ordinary_word_behind_a_name_is_no_token(text: str) -> None:
    assert list(find_vendor_tokens(text)) == []


@pytest.mark.parametrize("tail", ["", " ", "=", "-a", "1.", "'''", "-" + "a1b2" * 10])
def test_rules_take_linear_time(tail: str) -> None:
    """Were a rule quadratic, this many characters would take minutes."""
    for keyword in RULES:
        unit = keyword + tail
        started = time.process_time()
        list(find_vendor_tokens(unit * (20_000 // len(unit))))
        assert time.process_time() - started < 2, keyword
