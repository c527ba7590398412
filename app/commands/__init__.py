"""Commands that talk to a running service over HTTP; `cli` registers them."""
