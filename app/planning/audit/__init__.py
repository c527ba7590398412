"""What must hold of stored memories and the log. Pure."""
