"""The tools of the Model Context Protocol, over the HTTP client."""
