"""The pages of the console: each reads the API, and gives a template what it shows."""
