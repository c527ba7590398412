"""A client of servers that speak the OpenAI API. Every outcome of a call is a value."""
