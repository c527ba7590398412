"""The console at `/ui`: pages for people, made of calls of the HTTP API with the viewer's key."""
