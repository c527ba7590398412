"""The story of a memory: the reasons for its state, in sentences. Pure."""
