"""Tiree's version; the same as in `Cargo.toml` (a test compares them)."""

VERSION = "0.1.0"
COMPATIBLE_WITH = "IREE 3.13"
