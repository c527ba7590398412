"""Names of tables and rules in the database, as a person reads them."""

import re

# On a Citus cluster, the part of a table that lies on a node has a number after its name, and so
# have its rules: memories_pkey_102016.
_SHARD = re.compile(r"_\d{6,}$")
_NAMED_IN_MESSAGE = re.compile(r'\b((?:constraint|relation|table) "\w+?)_\d{6,}"')

_RULE_IN_MESSAGE = re.compile(r'constraint "(\w+)"')


def find_rule(message: str) -> str | None:
    """Return the rule that a message of Postgres names. Citus says in words alone which it was."""
    named = _RULE_IN_MESSAGE.search(message)
    return named[1] if named else None


def remove_shard(name: str) -> str:
    """Return the name of a table or a rule without the number of a shard."""
    return _SHARD.sub("", name)


def remove_shards(message: str) -> str:
    """Return a message of Postgres with the names of tables and rules without shards."""
    return _NAMED_IN_MESSAGE.sub(r'\1"', message)
