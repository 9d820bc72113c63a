"""Wiring: the one place where engines are constructed. ``open_workspace`` is the way in."""

from proofstone.wiring.workspace import Workspace, create_workspace, open_workspace

__all__ = ["Workspace", "create_workspace", "open_workspace"]
