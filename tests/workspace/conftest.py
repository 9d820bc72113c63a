"""Workspaces as the tests of the command line have them."""

from __future__ import annotations

from cli.conftest import empty, empty_once, made, made_once

__all__ = ["empty", "empty_once", "made", "made_once"]
