"""The report as one page for browsers: the files of `page/` and the data, put into one file.

The page loads nothing and sends nothing: its policy lets only the one script run whose digest it names, so that nothing
in a program can become one. Data is JSON in which no character means anything to HTML; the script writes it as text.
"""

from __future__ import annotations

import html
import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

SCRIPTS = ("common.js", "tables.js", "graph.js", "memory.js", "stages.js", "main.js")
"""In order; they are one script in the page."""


def page(data: dict[str, Any]) -> str:
    """The page."""
    folder = files("tiree.report").joinpath("page")
    script = "\n".join(folder.joinpath(name).read_text("utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}}})();\n'
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    parts = {
        "POLICY": policy,
        "TITLE": html.escape(data["source"] or "program"),
        "STYLE": folder.joinpath("page.css").read_text("utf-8"),
        "DATA": inert_json(data),
        "SCRIPT": script,
    }
    pieces = folder.joinpath("page.html").read_text("utf-8").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


def inert_json(data: Any) -> str:
    """JSON without a character that HTML or a script element reads as anything but text."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
