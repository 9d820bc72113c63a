"""Thinking that stands in the reply itself, split from what the model said to the reader."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Thinking", "split_thinking"]

# Opening and closing marks, as the chat templates of open models write them.
_MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
)
_FIRST = frozenset(opening[0] for opening, _ in _MARKS)


class Thinking(NamedTuple):
    """``text`` without the thinking, the thinking itself, and whether it never ended."""

    text: str
    inside: str
    unclosed: bool


def split_thinking(content: str) -> Thinking:
    """Parts leading blocks of thinking from the text after them.

    A block that never ends leaves no text: what stands in it is no answer. A closing ``</think>``
    without an opening one ends thinking too: some chat templates give the opening mark with the
    prompt. Marks later in the text are the model's own words and stay.
    """
    rest, thoughts = content, []
    while True:
        start = rest.lstrip()
        if start[:1] not in _FIRST:
            break
        marks = next((pair for pair in _MARKS if start.startswith(pair[0])), None)
        if marks is None:
            break
        inside, closing, rest = start[len(marks[0]) :].partition(marks[1])
        thoughts.append(inside.strip())
        if not closing:
            return Thinking("", _joined(thoughts), unclosed=True)
    if thoughts:
        return Thinking(rest.lstrip(), _joined(thoughts), unclosed=False)
    if "</think>" in content and _opens_before(content):
        before, _, after = content.partition("</think>")
        return Thinking(after.lstrip(), before.strip(), unclosed=False)
    return Thinking(content, "", unclosed=False)


def _opens_before(content: str) -> bool:
    """Whether the first ``</think>`` has no ``<think>`` before it, so that the prompt opened it."""
    return "<think>" not in content[: content.index("</think>")]


def _joined(thoughts: list[str]) -> str:
    return "\n".join(thought for thought in thoughts if thought)
