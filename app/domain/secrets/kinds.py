"""The kinds of secrets."""

from dataclasses import dataclass
from enum import StrEnum


class SecretKind(StrEnum):
    """What a secret opens or names."""

    PALIMPSEST_KEY = "palimpsest_key"
    AWS_KEY = "aws_key"
    GITHUB_TOKEN = "github_token"  # noqa: S105 - the name of a kind
    GITLAB_TOKEN = "gitlab_token"  # noqa: S105 - the name of a kind
    SLACK_TOKEN = "slack_token"  # noqa: S105 - the name of a kind
    STRIPE_KEY = "stripe_key"
    GOOGLE_KEY = "google_key"
    MODEL_KEY = "model_key"
    SERVICE_TOKEN = "service_token"  # noqa: S105 - the name of a kind
    JWT = "jwt"
    BEARER_TOKEN = "bearer_token"  # noqa: S105 - the name of a kind
    COOKIE = "cookie"
    PRIVATE_KEY = "private_key"
    SEED_PHRASE = "seed_phrase"
    URL_PASSWORD = "url_password"  # noqa: S105 - the name of a kind
    PASSWORD = "password"  # noqa: S105 - the name of a kind
    PIN = "pin"
    CARD_NUMBER = "card_number"
    IBAN = "iban"
    IDENTITY_NUMBER = "identity_number"


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret's kind and place in the text, in characters, half-open."""

    kind: SecretKind
    start: int
    end: int
