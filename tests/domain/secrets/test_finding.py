import base64

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.secrets import SecretKind, find_secrets, redact_secrets

# Made up, or from the makers' own documentation. They are put together here so that no scanner of
# sources takes them for real ones.
RUN = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
AWS_KEY = "AKIA" + "IOSFODNN7EXAMPLE"
JWT = ".".join(["eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0", RUN])
BLOCK = (
    "-----BEGIN RSA PRIVATE "
    + "KEY-----\nMIIEowIBAAKCAQEA\nq83vEjRWeJCrze8S\n-----END RSA PRIVATE KEY-----"
)

SECRETS = [
    (SecretKind.PALIMPSEST_KEY, "pal" + "_0123456789abcdef_" + "0123456789abcdef" * 4),
    (SecretKind.AWS_KEY, AWS_KEY),
    (SecretKind.GITHUB_TOKEN, "ghp" + "_" + RUN),
    (SecretKind.GITHUB_TOKEN, "github" + "_pat_" + RUN + "_" + RUN),
    (SecretKind.GITLAB_TOKEN, "glpat" + "-" + RUN[:20]),
    (SecretKind.SLACK_TOKEN, "xoxb" + "-123456789012-" + RUN[:24]),
    (SecretKind.STRIPE_KEY, "sk" + "_live_" + RUN[:24]),
    (SecretKind.STRIPE_KEY, "rk" + "_test_" + RUN[:24]),
    (SecretKind.GOOGLE_KEY, "AIza" + RUN[:35]),
    (SecretKind.MODEL_KEY, "sk" + "-proj-" + RUN),
    (SecretKind.MODEL_KEY, "sk" + "-ant-api03-" + RUN),
    (SecretKind.SERVICE_TOKEN, "hf" + "_" + RUN),
    (SecretKind.SERVICE_TOKEN, "npm" + "_" + RUN),
    (SecretKind.JWT, JWT),
    (SecretKind.PRIVATE_KEY, BLOCK),
    (SecretKind.CARD_NUMBER, "4111 1111 1111 1111"),
    (SecretKind.CARD_NUMBER, "5500-0055-5555-5559"),
    (SecretKind.CARD_NUMBER, "378282246310005"),
    (SecretKind.IBAN, "DE89 3704 0044 0532 0130 00"),
    (SecretKind.IBAN, "GB29NWBK60161331926819"),
    (SecretKind.IBAN, "NL91 ABNA 0417 1643 00"),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize("frame", ["{}", "my key is {}, keep it safe", "({})", "a\n{}\nb"])
def test_a_secret_is_replaced_by_its_kind(kind: SecretKind, secret: str, frame: str) -> None:
    assert redact_secrets(frame.format(secret)) == (frame.format(f"[redacted: {kind}]"), 1)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("password: hunter22", SecretKind.PASSWORD, "hunter22"),
        ("my password is hunter2.", SecretKind.PASSWORD, "hunter2"),
        ("the wifi password is now sunflower42!", SecretKind.PASSWORD, "sunflower42!"),
        ("DB_PASSWORD=s3cr3t!pw", SecretKind.PASSWORD, "s3cr3t!pw"),
        ('"passwd": "correct horse"', SecretKind.PASSWORD, "correct horse"),
        (f"api_key={RUN}", SecretKind.SERVICE_TOKEN, RUN),
        (f'"client_secret": "{RUN}"', SecretKind.SERVICE_TOKEN, RUN),
        (f"AWS_SECRET_ACCESS_KEY={RUN}", SecretKind.SERVICE_TOKEN, RUN),
        (f"Authorization: Bearer {RUN}", SecretKind.BEARER_TOKEN, RUN),
        ("postgres://anna:pw12@db.local/main", SecretKind.URL_PASSWORD, "pw12"),
        ("my PIN is 4471, ok?", SecretKind.PIN, "4471"),
        ("the pin for my bank card is now 447100.", SecretKind.PIN, "447100"),
        ("I changed the gym PIN to 4471", SecretKind.PIN, "4471"),
        ("passcode: 482913", SecretKind.PIN, "482913"),
        ("CVV 123", SecretKind.PIN, "123"),
    ],
)
def test_only_the_value_is_replaced(text: str, kind: SecretKind | None, value: str) -> None:
    secrets = find_secrets(text)
    assert [(one.kind, text[one.start : one.end]) for one in secrets] == (
        [(kind, value)] if kind else []
    )


@pytest.mark.parametrize(
    "text",
    [
        "550e8400-e29b-41d4-a716-446655440000",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "ISBN 978-3-16-148410-0",
        "ISBN 9783161484100",
        "my order number is 4111111111111111",
        "tracking no. 5500005555555559",
        "invoice 2026-000123",
        "+49 170 1234567, +1 (415) 555-2671, 0044 20 7946 0958",
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
        "DE89 3704 0044 0532 0130 01",
        base64.b64encode(b"The quick brown fox jumps over the lazy dog, twice.").decode(),
        "password: str",
        "password is required",
        "my password expired yesterday",
        "The office wifi password policy changed to 14 characters",
        "password: ********",
        "password=<your password>",
        "token=os.environ['TOKEN']",
        "token = get_token(user)",
        "the token is expired",
        "tokens: 4096",
        "secret: see the vault",
        "api key: please ask Anna",
        "basic-auth is switched off",
        "https://example.org:8080/path@2x.png",
        "mail anna@example.org or http://example.org/?q=a:b@c",
        "sk-learn-based-pipelines-for-text-data",
        "I paid with 4 cards on 12/12/2026 at 14:15:16",
        "the bearer of this letter",
        "GB is cold",
        "pin the image to 2024.1",
        "we pin python to 3.11",
        "the LED is on pin 123",
        "a PIN has 4 digits",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact_secrets(text) == (text, 0)


def test_a_key_that_was_cut_off_is_replaced_to_the_end_of_its_lines() -> None:
    text, count = redact_secrets(BLOCK.rsplit("\n", 1)[0] + "\n\nand that was it")
    assert count == 1
    assert text == "[redacted: private_key]\n\nand that was it"


def test_several_secrets_are_found_in_their_order() -> None:
    text = f"{AWS_KEY} and 4111111111111111, then {JWT}"
    assert [one.kind for one in find_secrets(text)] == [
        SecretKind.AWS_KEY,
        SecretKind.CARD_NUMBER,
        SecretKind.JWT,
    ]


@given(st.text(max_size=100), st.sampled_from(SECRETS), st.text(max_size=100))
def test_spans_lie_in_the_text_and_do_not_overlap(
    before: str, secret: tuple[SecretKind, str], after: str
) -> None:
    # What a word introduces, as in "ID 4111 1111 1111 1111", may be no secret.
    assume(not before.rstrip()[-1:].isalpha())
    text = f"{before} {secret[1]} {after}"
    end = 0
    for one in find_secrets(text):
        assert end <= one.start < one.end <= len(text)
        end = one.end
    assert secret[1] not in redact_secrets(text)[0]


HOSTILE = [
    "eyJ",
    "eyJaaaaaaaa.",
    "-eyJaaaaaaaa",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAAAAAAAAAA\n",
    "password=",
    "password: " + "a" * 199,
    "secret key ",
    "1 ",
    "4111 ",
    "DE89",
    "DE89 ",
    "://:",
    "://a:b",
    "bearer ",
    "sk-",
    "ghp_",
    "pin ",
    "pin for a ",
    "a",
    "1",
    "\n",
    " ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    """Were one of the patterns quadratic, this many characters would take minutes."""
    find_secrets((unit * (200_000 // len(unit) + 1))[:200_000])
