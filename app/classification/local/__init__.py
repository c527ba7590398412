"""The local judge: a small network that reads a stored and an incoming text together."""
