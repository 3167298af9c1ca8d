"""Sort."""

HANDLERS = {}
