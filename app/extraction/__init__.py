"""Reading facts from talk, by a network or by a model."""
