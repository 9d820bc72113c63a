"""The control: a few simple completions asked of a model, so that a reader sees it was asked."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from msgspec import Struct

from proofstone.engines.models import Asker
from proofstone.engines.models.control import (
    CONTROL_SETTINGS,
    ControlAnswer,
    ask_control,
    summarise_control,
)
from proofstone.engines.store import Store
from proofstone.errors import CallFailed
from proofstone.identity import canonical_json
from proofstone.ports import CallRecord, ModelRequest
from proofstone.records import Message, Reply

__all__ = ["ControlReport", "perform_control"]


class ControlReport(Struct, frozen=True, kw_only=True):
    """The answers of one model to the control's prompts, and their summary in a line."""

    model: str
    answers: tuple[ControlAnswer, ...]
    summary: str


async def perform_control(
    store: Store, asker: Asker, kept: Callable[[CallRecord], None] | None = None
) -> ControlReport:
    """Asks the packaged prompts; every call is kept, and a second time comes from the cache.

    ``kept`` is told of each call once it is on disk. Raises EndpointUnusable where the model cannot
    be used at all, BudgetReached where a budget does not cover it.
    """
    async with store.writer(kept) as writer:

        async def ask(messages: tuple[Message, ...]) -> Reply:
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
            if asked.reply is None:
                raise CallFailed(asked.record.error, asked.record.detail)
            return asked.reply

        async def keep(call: CallRecord) -> None:
            await writer.write(call)

        answers = await ask_control(ask)
    if asker.stopped is not None:
        raise asker.stopped
    return ControlReport(
        model=asker.model.name, answers=answers, summary=summarise_control(answers)
    )
