"""Opening the database of the settings for a command, and errors as lines of advice."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.commands.client.calling import Failure

if TYPE_CHECKING:
    from app.settings import Settings


def load_settings_of_command() -> "Settings":
    """Return the settings of a command that listens nowhere, so that it needs no key."""
    return load_settings(host="127.0.0.1")


def load_settings(**chosen: Any) -> "Settings":
    """Return the settings. Raises Failure for invalid ones, with a line for each."""
    from app import settings

    try:
        return settings.load_settings(**chosen)
    except settings.InvalidSettings as problem:
        raise Failure(str(problem)) from None


@contextmanager
def open_checked_database() -> Iterator["Settings"]:
    """Open the database of the settings, and check that it has the schema of this version.

    Raises Failure as `explain_errors` does.
    """
    from app.store import schema

    with explain_errors(), open_database(load_settings_of_command()) as settings:
        schema.check_schema(get_owner_url(settings))
        yield settings


@contextmanager
def open_database(settings: "Settings") -> Iterator["Settings"]:
    """Run the embedded Postgres if the settings name no database.

    Yield the settings with the addresses of the database.
    """
    if settings.database_url is not None:
        yield settings
        return
    from app.database_urls import set_schema
    from app.store.embedded import embedded_postgres
    from app.store.roles import build_service_url

    with embedded_postgres(settings.data_dir) as plain_url:
        schema = settings.database_schema
        url = set_schema(plain_url, schema) if schema else plain_url
        addresses = {"database_url": build_service_url(url), "owner_url": url}
        yield settings.model_copy(update=addresses)


def get_url(settings: "Settings") -> str:
    """Return the address for the login of the service."""
    assert settings.database_url is not None, "open_database gives these settings an address"
    return settings.database_url


def get_owner_url(settings: "Settings") -> str:
    """Return the address for the login that owns the tables."""
    return settings.owner_url or get_url(settings)


@contextmanager
def explain_errors() -> Iterator[None]:
    """Turn errors into a failure that says what the person at the terminal can do."""
    from app.advice import advise_operator
    from app.domain.errors import PalimpsestError
    from app.listening import PortTaken
    from app.network_files import DamagedNetwork
    from app.settings import InvalidSettings
    from app.store.unfit import UnfitDatabase

    try:
        yield
    except (PortTaken, DamagedNetwork, InvalidSettings) as problem:
        raise Failure(str(problem)) from None
    except (UnfitDatabase, PalimpsestError) as problem:
        raise Failure(advise_operator(problem)) from None
