"""Describe which model versions answered a run, if there were several or one changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import CallFailed
from proofstone.method import find_method
from proofstone.models.ask import Asker
from proofstone.models.check import (
    CONTROL_SETTINGS,
    ControlAnswer,
    ask_control,
    summarise_control,
)
from proofstone.records.calls import CallRecord, Message, ModelRequest
from proofstone.records.ids import canonical_json, short
from proofstone.records.runs import Plan, Response, Run
from proofstone.session.terminal import minute
from proofstone.store.lookup import Found
from proofstone.store.runs import ReportedShare
from proofstone.store.store import Store


def shares_of(store: Store, key: int, run: Run) -> tuple[ReportedShare, ...]:
    """Return the share of a run's responses per model version; empty for a simulated model."""
    return () if run.simulated else store.reported.of_run(key)


def note_of_run(store: Store, found: Found) -> str:
    """Return the note on a run as a line; empty if it is not a run or has no note."""
    if found.kind != "run":
        return ""
    note = reported_note(shares_of(store, *store.runs.run(found.id)))
    return f"run:{short(found.id)} was {note}" if note else ""


def reported_models(shares: Iterable[ReportedShare]) -> dict[str, int]:
    """Return the number of responses per model version, in the order of first appearance."""
    models: dict[str, int] = {}
    for share in shares:
        models[share.model] = models.get(share.model, 0) + share.responses
    return models


def reported_note(shares: Sequence[ReportedShare]) -> str:
    """Return a note on a run whose endpoint changed model or serving during it; otherwise ""."""
    models = reported_models(shares)
    if len(models) > 1:
        parts = [f"{model} ({_spell(model, shares)})" for model in models]
        return f"answered by {len(models)} models: {', '.join(parts)}"
    prints = list(dict.fromkeys(share.fingerprint for share in shares if share.fingerprint))
    if len(prints) > 1:
        (model,) = models
        shown = ", ".join(prints[:3]) + (", ..." if len(prints) > 3 else "")
        return f"answered by {model} with {len(prints)} system fingerprints: {shown}"
    return ""


def _spell(model: str, shares: Sequence[ReportedShare]) -> str:
    """Return the number of a model's responses, and when they came."""
    own = [share for share in shares if share.model == model]
    n = sum(share.responses for share in own)
    first, last = min(s.first_at for s in own), max(s.last_at for s in own)
    noun = "response" if n == 1 else "responses"
    times = dict.fromkeys((_minute(first), _minute(last)))
    return f"{n:,} {noun}, {' to '.join(times)} UTC"


def _minute(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


# Sanity check: a few simple completions that show that a model was asked.


class ControlReport(Struct, frozen=True, kw_only=True):
    """Hold one model's answers to the sanity-check prompts, and a one-line summary."""

    model: str
    answers: tuple[ControlAnswer, ...]
    summary: str


async def perform_control(
    store: Store, asker: Asker, kept: Callable[[CallRecord], None] | None = None
) -> ControlReport:
    """Ask the bundled prompts; every call is stored, and repeating it uses the cache.

    ``kept`` receives each call once it is on disk. Raises EndpointUnusable if the model cannot be
    used, BudgetReached if a budget does not cover it.
    """
    async with store.writer(kept) as writer:

        async def ask(messages: tuple[Message, ...]) -> Response:
            prompt = canonical_json(messages)
            request = ModelRequest(
                messages=messages,
                prompt=prompt,
                prompt_hash=sha256(prompt).digest(),
                settings=dict(CONTROL_SETTINGS),
                purpose="control",
            )
            asked = await asker.ask(request, keep)
            if asked.key is None:
                await keep(asked.record)
            if asked.response is None:
                raise CallFailed(asked.record.error, asked.record.detail)
            return asked.response

        async def keep(call: CallRecord) -> None:
            await writer.write(call)

        answers = await ask_control(ask)
    if asker.stopped is not None:
        raise asker.stopped
    return ControlReport(
        model=asker.model.name, answers=answers, summary=summarise_control(answers)
    )


# The preregistration that applies to a run.


def plan_in_force(store: Store, key: int, run: Run) -> tuple[Plan, bool] | None:
    """Return the newest plan made before a run's first response, and False.

    Without one, return the newest plan and True (made afterwards). A cached response counts from
    when it was asked. None without a plan.
    """
    plans = store.plans.of_sets([run.item_set])
    if not plans:
        return None
    first = store.runs.totals(key).first_at or math.inf
    before = [plan for plan in plans if plan.at <= first]
    return (before[-1], False) if before else (plans[-1], True)


def plan_sentence(store: Store, key: int, run: Run) -> str:
    """Return ``planned 2026-03-01 14:05 UTC 3f2a91bc``; "" without a plan."""
    found = plan_in_force(store, key, run)
    if found is None:
        return ""
    plan, is_after = found
    late = ", made after the first response: exploratory" if is_after else ""
    return f"planned {minute(plan.at)} {short(plan.id)}{late}"


def n_begun(store: Store, plan: Plan) -> int:
    """Return how many runs of a plan's target had responses before it was made."""
    sets = [plan.target] if plan.kind == "form" else store.items.sets_of_bank(plan.target)
    runs = store.runs.of_sets(sets)
    return sum(0 < store.runs.totals(key).first_at < plan.at for key, _run in runs)


def plan_row(plan: Plan) -> dict[str, Any]:
    """Return a plan as a row for a file: its fields, ids in hexadecimal digits."""
    row = structs.asdict(plan)
    pairs = [list(pair) for pair in plan.comparisons]
    lists = {"comparisons": pairs, "exclusions": list(plan.exclusions)}
    return row | lists | {"id": plan.id.hex(), "target": plan.target.hex()}


def is_any_wrong(store: Store, key: int, run: Run) -> bool:
    """Return True if the run has an answer with less than the full score."""
    method, current = find_method(run.method), store.scores.current(key)
    measure = next(each.of for each in method.measures if each.name == method.headline)
    return current is not None and bool(
        store.scores.places(current.key, measure, ("answered",), False, 1)
    )
