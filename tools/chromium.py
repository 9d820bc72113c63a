"""Find Chromium, and its flags for isolated use."""

from __future__ import annotations

import os
import shutil

__all__ = ["find_chromium", "quiet_flags"]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium() -> str | None:
    """Return the program named by CHROMIUM, otherwise the first of the usual names on the path."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, _NAMES)), None)


def quiet_flags() -> list[str]:
    """Return flags of a headless browser without any network access."""
    flags = [
        "--headless",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-extensions",
        "--disable-sync",
        "--hide-scrollbars",
        "--no-default-browser-check",
        "--no-first-run",
        "--lang=en",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # its sandbox does not start for root
    return flags
