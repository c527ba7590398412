"""One recipe per use case, with its step order and its transaction borders."""
