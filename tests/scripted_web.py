"""A small web behind a scripted server: a SearXNG that finds all of it, and its pages."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

from scripted_server import Act, Seen

__all__ = ["PAGES", "web"]

PAGES = {
    "copper": "<title>Copper</title><main><p>Copper conducts electricity very well.</p>"
    "<p>Copper melts at 1085 degrees Celsius.</p></main>",
    "glass": "<title>Glass</title><main><p>Glass does not conduct electricity.</p></main>",
}


def web(seen: Seen) -> Act:
    """A SearXNG that finds every page, and what lies at their addresses."""
    path = urlsplit(seen.path)
    name = path.path.rpartition("/")[2]
    if name == "search":
        (query,) = parse_qs(path.query)["q"]
        if "broken" in query:
            return Act(b"bad gateway", status=502)
        base = f"http://{seen.headers['host']}/v1/web"
        names = [] if "nothing" in query else ["copper", "gone", "binary", "huge", "glass"]
        hits = [{"url": f"{base}/{each}", "title": each, "content": "", "engine": "bing"}
                for each in names]  # fmt: skip
        return Act(json.dumps({"results": hits}).encode())
    if name == "binary":
        return Act(b"\x7fELF\0" * 9, content_type="application/octet-stream")
    if name == "huge":
        return Act(b"x", promise=100 * 2**20, content_type="text/html")
    if name not in PAGES:
        return Act(b"no", status=404, content_type="text/html")
    return Act(f"<html lang='en'>{PAGES[name]}</html>".encode(), content_type="text/html")
