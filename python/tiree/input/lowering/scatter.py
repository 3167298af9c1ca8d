"""Scatter."""

HANDLERS = {}
