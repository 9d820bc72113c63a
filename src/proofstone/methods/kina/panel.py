"""A panel of models that answers questions step by step, in builds."""

from __future__ import annotations

from collections.abc import Mapping

from proofstone.judging.difficulty import DifficultyRule, PanelFilter, panel_step
from proofstone.methods.kina.ask import STEP, messages, oracle_of, prepare
from proofstone.methods.kina.candidates import Candidate
from proofstone.methods.kina.payloads import Asked
from proofstone.methods.kina.score import SCORER_VERSION, score
from proofstone.records.builds import Step, StepContext, slots_of
from proofstone.records.items import Item, ItemSet, LoadedItem, Unit, identified_item
from proofstone.records.runs import Response, Score

PANEL = prepare("cot", 0, ItemSet(name="", kind="form", method="kina"), None)


def difficulty_step(models: Mapping[str, str], least_wrong: int) -> Step:
    """Return the step that drops what fewer than ``least_wrong`` of the panel answer incorrectly.

    Raises BadUsage for an impossible number.
    """
    slots = slots_of("panel", models)
    panel = PanelFilter(
        slots=slots,
        rule=DifficultyRule(len(slots), least_wrong),
        messages=lambda row, _context: messages(item_of(row), PANEL),
        rate=rate,
        oracle=lambda row: oracle_of(item_of(row)),
    )
    config = {"prompt": PANEL.prompt_hash.hex(), "scorer": SCORER_VERSION}
    return panel_step("difficulty", panel, version=1, takes=Candidate, config=config)


def item_of(row: Candidate) -> LoadedItem:
    """Return a candidate as the item that a panel is asked, its options in order."""
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
    (found,) = await score([Unit(item=item_of(row), responses={STEP: response})], None)
    return found
