"""Export and import of an agent."""
