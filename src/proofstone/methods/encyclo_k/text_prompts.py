"""Questions as one text, for base models: blocks of question and answer, the last answer open.

A base model follows no instruction; worked examples show it what an answer looks like. What it
writes ends at the head of the next question, asked directly also at the first empty line.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.methods.encyclo_k.prompting import answer_line, worked_answer
from proofstone.methods.encyclo_k.rendering import render
from proofstone.records import LoadedItem, TextForm

__all__ = ["text_form", "text_prompt"]

_VERSION = 1  # raised by every change of these texts
_NEXT_QUESTION = ("\nQuestion:", "\n问题：")


def text_form(way: str) -> TextForm:
    """Where an answer ends, in either language."""
    stop = _NEXT_QUESTION if way == "cot" else ("\n\n", *_NEXT_QUESTION)
    return TextForm(stop=stop, version=_VERSION)


def text_prompt(item: LoadedItem, shots: Sequence[LoadedItem], way: str) -> str:
    """Each example with its answer, then the item up to where its answer begins."""
    worked = [f"{_asked(shot)}\n{_reasoned(shot, way)}{worked_answer(shot, way)}" for shot in shots]
    language = item.item.language
    opening = _reasoned(item, way) if way == "cot" else answer_line(language, "")
    return "\n\n".join([*worked, f"{_asked(item)}\n{opening.rstrip()}"])


def _asked(item: LoadedItem) -> str:
    head = "问题：" if is_chinese(item.item.language) else "Question: "
    return head + render(item)


def _reasoned(item: LoadedItem, way: str) -> str:
    """The head of the reasoning, where there is one."""
    if way != "cot":
        return ""
    return "分析：" if is_chinese(item.item.language) else "Reasoning: "
