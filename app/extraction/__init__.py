"""Reading facts from talk, by rules or by a model."""
