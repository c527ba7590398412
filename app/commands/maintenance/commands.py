"""Commands that maintain a database. What they work with is imported when they run."""

import sys
from typing import Annotated

import click

from app.commands.client.calling import AsJson, Failure
from app.commands.maintenance.opening import (
    explain_errors,
    get_owner_url,
    get_url,
    load_settings_of_command,
    open_checked_database,
    open_database,
)
from app.commands.parameters import Argument, Option
from app.commands.program import find_foreign_command


def migrate() -> None:
    """Bring the database to the schema of this version."""
    from app.store import schema

    with explain_errors(), open_database(load_settings_of_command()) as settings:
        schema.migrate_database(get_owner_url(settings), get_url(settings))
    print("The database is at the schema of this version.")


def distribute(
    workers: Annotated[
        list[str] | None,
        Option("--worker", help="A node, as host:port; may be repeated."),
    ] = None,
    coordinator: Annotated[
        str | None,
        Option(
            help="This database's server, as host:port, as the workers reach it. Default: the "
            "address in the settings.",
        ),
    ] = None,
    shards: Annotated[
        int, Option(min=1, max=1_000, help="Parts of each table; later it cannot change.")
    ] = 32,
) -> None:
    """Spread the tables over the nodes of a Citus cluster.

    docs/operate/citus.md says how. Writes wait until it is done. What is spread already stays as
    it is.
    """
    from app.commands.maintenance.distribute import distribute_database

    with explain_errors():
        settings = load_settings_of_command()
        if settings.database_url is None:
            raise Failure("An embedded Postgres has no cluster: set PALIMPSEST_DATABASE_URL.")
        distribute_database(get_owner_url(settings), coordinator, workers or [], shards)


def reembed() -> None:
    """Make every vector anew with the embedding model of the settings.

    Running services keep the old one until the end.
    """
    import asyncio

    from app.commands.maintenance.reembed import reembed_database

    with open_checked_database() as settings:
        # It changes the tables themselves.
        owned = settings.model_copy(update={"database_url": get_owner_url(settings)})
        asyncio.run(reembed_database(owned))


def vacuum() -> None:
    """Rewrite the files of the database without erased bytes.

    Tables are locked one by one meanwhile: run it in a quiet hour, with room for the largest one.
    """
    from app.store.vacuum import rewrite_files

    with open_checked_database() as settings:
        is_log_rewritten = rewrite_files(get_owner_url(settings))
    print("Every table was rewritten.")
    if is_log_rewritten:
        print("The write-ahead log was rewritten.")
    else:
        print(
            "The write-ahead log holds erased bytes until Postgres has reused its files: this "
            "login may not rewrite them. A superuser may."
        )


def doctor(
    agent: Annotated[str | None, Option(help="Examine this agent alone.")] = None,
    repair: Annotated[
        bool,
        Option("--repair", help="Put right what can be computed from what else is stored."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check everything that must hold of the database.

    The exit status is 1 if something does not hold.
    """
    import asyncio

    from app.commands.maintenance.doctor import doctor_database

    with open_checked_database() as settings:
        healthy = asyncio.run(
            doctor_database(settings, agent=agent, repair=repair, as_json=as_json)
        )
    if (foreign := find_foreign_command()) is not None:
        print(
            f"palimpsest: the command on this path, {foreign}, is another program. Hooks and hosts "
            "of MCP need the absolute path of this one.",
            file=sys.stderr,
        )
    if not healthy:
        raise click.exceptions.Exit(1)


def retain(
    agent: Annotated[str | None, Option(help="This agent alone.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only say what would be done.")] = False,
    forget: Annotated[
        str | None,
        Option(help="Give up this archive of the agent, lost or damaged."),
    ] = None,
) -> None:
    """Cool what ended long ago, and archive old operations.

    The settings say how long ago. Services may run meanwhile.
    """
    import asyncio

    from app.commands.maintenance.retention import retain_database

    if forget and agent is None:
        raise Failure("--forget needs --agent.")
    with open_checked_database() as settings:
        sound = asyncio.run(
            retain_database(settings, agent=agent, dry_run=dry_run, forget=forget or None)
        )
    if not sound:
        raise click.exceptions.Exit(1)


ScopeNames = Annotated[
    list[str],
    Option("--scope", help="read, write, review, erase or admin; may be repeated."),
]
AgentNames = Annotated[
    list[str],
    Option("--agent", help="An agent's id, `acme/*` or `*`; may be repeated."),
]
Trust = Annotated[int, Option(help="The highest trust that it may give, 0 to 100.")]
Days = Annotated[float | None, Option(help="Days until it ends. Default: never.")]
Overlap = Annotated[int, Option(help="Seconds for which the old key still works.")]
KeyName = Annotated[str, Argument(help="For people: who uses it, and what for.")]
KeyIdArgument = Annotated[str, Argument(metavar="ID", help="The key's id: see the list.")]


def create_key(
    name: KeyName,
    scopes: ScopeNames,
    agents: AgentNames,
    trust: Trust = 100,
    days: Days = None,
    as_json: AsJson = False,
) -> None:
    """Issue a key and print it, this once."""
    from app.commands.maintenance import keys as commands

    request = commands.parse_key_request(name, scopes, agents, trust, days)
    with open_checked_database() as settings:
        commands.create_key(settings, request, as_json=as_json)


def list_keys(as_json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    from app.commands.maintenance import keys as commands

    with open_checked_database() as settings:
        commands.list_keys(settings, as_json=as_json)


def revoke_key(key_id: KeyIdArgument) -> None:
    """End a key now."""
    from app.commands.maintenance import keys as commands

    with open_checked_database() as settings:
        commands.revoke_key(settings, key_id)


def rotate_key(key_id: KeyIdArgument, overlap: Overlap = 3600, as_json: AsJson = False) -> None:
    """Replace a key by a new one with the same rights, and print it once."""
    from app.commands.maintenance import keys as commands

    with open_checked_database() as settings:
        commands.rotate_key(settings, key_id, overlap=overlap, as_json=as_json)


def check_model() -> None:
    """Ask the model about ten pairs whose answers are known.

    The exit status is 1 if it is of no use, or if it ends what holds (docs/operate/models.md).
    """
    from app.commands.maintenance.model import check_model as check

    if not check(load_settings_of_command()):
        raise click.exceptions.Exit(1)
