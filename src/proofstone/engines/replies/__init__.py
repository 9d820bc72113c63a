"""Replies that are to be one JSON object: read as a struct, asked again where they are none."""

from proofstone.engines.replies.objects import ask_for, object_of

__all__ = ["ask_for", "object_of"]
