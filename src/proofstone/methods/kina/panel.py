"""A panel of models that answers questions step by step, in builds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from proofstone.judging.difficulty import DifficultyRule, PanelDecision, PanelFilter, panel_step
from proofstone.methods.kina.ask import STEP, messages, oracle_of, prepare
from proofstone.methods.kina.candidates import Candidate
from proofstone.methods.kina.payloads import Asked
from proofstone.methods.kina.score import SCORER_VERSION, score
from proofstone.records.builds import Step, StepContext, slots_of
from proofstone.records.calls import Message
from proofstone.records.items import Item, ItemSet, LoadedItem, Oracle, Unit, identified_item
from proofstone.records.runs import Response, Score

_PANEL = prepare("cot", 0, ItemSet(name="", kind="form", method="kina"), None)

CONFIG = {"prompt": _PANEL.prompt_hash.hex(), "scorer": SCORER_VERSION}


def difficulty_step(
    models: Mapping[str, str],
    least_wrong: int,
    *,
    name: str = "difficulty",
    kept: Callable[[Candidate, PanelDecision], Struct] | None = None,
) -> Step:
    """Return the step that drops what fewer than ``least_wrong`` of the panel answer incorrectly.

    ``kept`` writes the answers into a kept row; such a step needs another ``name``. Raises
    BadUsage for an impossible number.
    """
    slots = slots_of("panel", models)
    panel = PanelFilter(
        slots=slots,
        rule=DifficultyRule(len(slots), least_wrong),
        messages=lambda row, _context: asked_of(row)[0],
        rate=rate,
        oracle=lambda row: asked_of(row)[1],
        kept=kept,
    )
    return panel_step(name, panel, version=1, takes=Candidate, config=CONFIG)


def asked_of(row: Candidate) -> tuple[Sequence[Message], Oracle]:
    """Return a member's prompt for a candidate, and the data of simulated members."""
    item = _item(row)
    return messages(item, _PANEL), oracle_of(item)


def _item(row: Candidate) -> LoadedItem:
    fact = row.fact()
    item = Item(
        kind="kina.asked",
        payload=Asked(order=tuple(range(len(row.question.options)))),
        facts=(fact.id,),
        language=row.language,
        stratum=row.stratum,
    )
    return LoadedItem(identified_item(item), (fact,))


async def rate(row: Candidate, response: Response, _context: StepContext) -> Score | None:
    """Return the score of a panel member's response."""
    (found,) = await score([Unit(item=_item(row), responses={STEP: response})], None)
    return found
