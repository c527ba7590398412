"""Who says how two facts relate. Today the rules tier; signals and a model join the same seam."""
