"""Who says how two facts relate. Rules, the cascade of signals and model, and the model's client."""
