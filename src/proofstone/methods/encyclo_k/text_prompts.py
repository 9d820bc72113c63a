"""Questions as one text, for base models: blocks of question and answer, the last answer open.

A base model follows no instruction; worked examples show it what an answer looks like. What it
writes ends at the head of the next question, asked directly also at the first empty line.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.methods.encyclo_k.answers import answer_line, worked_answer
from proofstone.methods.encyclo_k.judging import judging
from proofstone.methods.encyclo_k.own_prompts import own_prompt_text, own_turns
from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.methods.encyclo_k.rendering import render
from proofstone.methods.encyclo_k.tasks import is_stepwise, task_of
from proofstone.records import LoadedItem, TextForm, Way

__all__ = ["text_form", "text_prompt"]

_VERSION = 1  # raised by every change of these texts
_NEXT_QUESTION = ("\nQuestion:", "\n问题：")


def text_form(way: str) -> TextForm:
    """Where an answer ends, in either language."""
    stop = _NEXT_QUESTION if is_stepwise(way) else ("\n\n", *_NEXT_QUESTION)
    return TextForm(stop=stop, version=_VERSION)


def text_prompt(item: LoadedItem, shots: Sequence[LoadedItem], way: Way) -> str:
    """Each example with its answer, then the item up to where its answer begins. A person's own
    template stands in place of the question, before the answer's head."""
    name = way.name
    worked = [
        f"{_asked(shot, way)}\n{_head(shot, name)}{worked_answer(shot, name)}" for shot in shots
    ]
    opening = _head(item, name) or _answer_begun(item, name)
    own = [] if way.own_prompt is None else own_turns(way.own_prompt, item, way.name)
    return "\n\n".join(
        [*(turn.text for turn in own), *worked, f"{_asked(item, way)}\n{opening.rstrip()}"]
    )


def _asked(item: LoadedItem, way: Way) -> str:
    if way.own_prompt is not None:
        return own_prompt_text(way.own_prompt, item, way.name)
    head = "问题：" if is_chinese(item.item.language) else "Question: "
    return head + render(item, task_of(item.item, way.name))


def _head(item: LoadedItem, way: str) -> str:
    """What stands before the reasoning, or before several verdicts; empty for a single answer."""
    chinese = is_chinese(item.item.language)
    if is_stepwise(way):
        return "分析：" if chinese else "Reasoning: "
    if task_of(item.item, way) == "verdicts":
        return "判断：\n" if chinese else "Verdicts:\n"
    return ""


def _answer_begun(item: LoadedItem, way: str) -> str:
    language = item.item.language
    if task_of(item.item, way) == "statement":
        return judging(language).answer.replace("{verdict}", "")
    return answer_line(language, "")
