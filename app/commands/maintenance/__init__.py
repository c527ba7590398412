"""Commands that open the database themselves."""
