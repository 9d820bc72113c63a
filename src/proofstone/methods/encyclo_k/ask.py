"""Asking: one call an item, directly or step by step, with worked examples where wanted.

Worked examples are earlier turns of the same conversation, each put as the item itself is.
"""

from __future__ import annotations

from typing import Any

from proofstone.errors import BadUsage
from proofstone.identity import content_id
from proofstone.methods.encyclo_k.answers import oracle_of, worked_answer
from proofstone.methods.encyclo_k.defaults import default_settings
from proofstone.methods.encyclo_k.judging import judging
from proofstone.methods.encyclo_k.own_prompts import own_prompt_text, own_turns
from proofstone.methods.encyclo_k.phrasing import phrasing
from proofstone.methods.encyclo_k.prompting import ask_prompt, template_texts
from proofstone.methods.encyclo_k.rendering import RENDERING
from proofstone.methods.encyclo_k.shots import choose_shots, compose_shots
from proofstone.methods.encyclo_k.tasks import STEP, WAYS, Task, last_step, task_of, task_of_set
from proofstone.methods.encyclo_k.text_prompts import text_form, text_prompt
from proofstone.ports import BankReader, Call
from proofstone.records import ItemSet, LoadedItem, Message, Way

__all__ = ["STEP", "WAYS", "ask", "messages", "prepare", "settings"]


def settings(way: str) -> dict[str, Any]:
    """Default ``max_tokens`` and ``temperature`` of a way. Raises BadUsage for an unknown one."""
    if way not in WAYS:
        raise BadUsage(f"no way of asking is named {way!r}; there is {', '.join(WAYS)}")
    return default_settings(way)


def prepare(way: str, shots: int, item_set: ItemSet, bank: BankReader | None) -> Way:
    """A way of asking with its pool of worked examples.

    Raises BadUsage for a way that is unknown or does not fit the set, and for shots that cannot be
    made: fewer than none, of a set without a bank, or of too small a bank.
    """
    task = task_of_set(item_set, way)
    if shots < 0:
        raise BadUsage(f"the number of worked examples is 0 or more, not {shots}")
    if shots and bank is None:
        raise BadUsage(
            f"{item_set.name} has no bank to make worked examples from",
            hint="ask without shots, or compose a form from a bank of statements",
        )
    pool = compose_shots(item_set, bank, shots) if shots and bank is not None else ()
    shaped_by = [way, RENDERING, template_texts(task, way), *_phrases(task), shots]
    prompt_hash = content_id("encyclo_k.prompt", [*shaped_by, [shot.item.id for shot in pool]])
    return Way(
        name=way,
        last_step=last_step(way),
        prompt_hash=prompt_hash,
        shots=pool,
        n_shots=shots,
        text=text_form(way),
    )


def _phrases(task: Task) -> list[Any]:
    """The phrases that shape the prompts of a task."""
    read = phrasing if task == "choice" else judging
    return [read("en"), read("zh")]


async def ask(item: LoadedItem, way: Way, call: Call) -> None:
    """Asks one item with one call, step "answer", or "verdicts" where each statement is judged."""
    oracle = oracle_of(item, task_of(item.item, way.name))
    await call(way.last_step, messages(item, way), oracle=oracle)


def messages(item: LoadedItem, way: Way) -> list[Message]:
    """The conversation that an item is asked with: worked examples, then the item."""
    chosen = choose_shots(item, way.shots, way.n_shots, way.unfit) if way.n_shots else ()
    if way.as_text:
        return [Message("user", text_prompt(item, chosen, way))]
    turns = [] if way.own_prompt is None else own_turns(way.own_prompt, item, way.name)
    for shot in chosen:
        turns.append(Message("user", _asked(shot, way)))
        turns.append(Message("assistant", worked_answer(shot, way.name)))
    return [*turns, Message("user", _asked(item, way))]


def _asked(item: LoadedItem, way: Way) -> str:
    if way.own_prompt is None:
        return ask_prompt(item, way.name)
    return own_prompt_text(way.own_prompt, item, way.name)
