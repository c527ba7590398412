"""Asking servers that speak the OpenAI API: one client with bounded tries. Whatever the server does, the result is a value."""
