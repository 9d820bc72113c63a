"""Conversations as one text, for models that only go on with a text.

A method writes the whole text itself where it can (``Way.as_text``); then there is one user message
and it is sent as it is. What else is asked (a system message, earlier turns) is put as blocks of
question and answer, and the model goes on behind the last answer's head.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.records import Message

__all__ = ["TEXT_WIRES", "prompt_text"]

# Another form of the blocks would send another text under an old hash: it needs new names here.
TEXT_WIRES = frozenset({"openai-completions", "local-completions"})
_HEADS = {"user": "Question: ", "assistant": "Answer: ", "system": ""}


def prompt_text(messages: Sequence[Message]) -> str:
    """The text that is sent: a sole user message as it is; else system texts as they are, turns
    under their heads, and the head of the answer wanted."""
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].text
    blocks = [_HEADS[message.role] + message.text for message in messages]
    return "\n\n".join([*blocks, _HEADS["assistant"].rstrip()])
