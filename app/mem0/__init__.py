"""The HTTP dialects of mem0, over the HTTP client."""
