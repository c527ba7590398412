"""OAuth for clients of MCP that take no key: a person grants them access with a key of theirs."""
