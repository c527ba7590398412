"""Plans: what a write will do, as a value. Pure."""
