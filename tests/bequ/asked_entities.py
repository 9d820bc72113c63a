"""What a scripted model reads of a request about an entity."""

from __future__ import annotations

from scripted_server import Seen

__all__ = ["asked_entity"]


def asked_entity(seen: Seen) -> str:
    """The name that the user message holds alone, or before what the entity is; empty where the
    request is another one, such as a judge's."""
    instruction, *rest = (message["content"] for message in seen.json["messages"])
    if not rest or not instruction.startswith("You are given the name of one entity"):
        return ""
    name: str = rest[-1].partition("\n")[0]
    return name
