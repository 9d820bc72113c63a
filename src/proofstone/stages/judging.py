"""Models as judges: each asked through its asker, every call kept, with the purpose "judge"."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from proofstone.engines.models import Asker
from proofstone.errors import CallFailed
from proofstone.identity import canonical_json, digest
from proofstone.ports import CallRecord, ModelRequest
from proofstone.records import Message, Reply

__all__ = ["JUDGE_SETTINGS", "AskedJudge"]

# Room for a reason and a label; a judge that thinks aloud is given more by its entry.
JUDGE_SETTINGS: Mapping[str, Any] = MappingProxyType({"temperature": 0.0, "max_tokens": 512})


class AskedJudge:
    """A ``JudgeModel`` over an asker. ``keep`` is awaited with each call that is not from the
    cache; ``settings`` go with every question."""

    def __init__(
        self,
        asker: Asker,
        keep: Callable[[CallRecord], Awaitable[None]],
        settings: Mapping[str, Any] = JUDGE_SETTINGS,
    ) -> None:
        self.name = asker.model.name
        _sent, dropped = asker.model.sent_settings({"schema": {"type": "object"}})
        self.takes_schema = "schema" not in dropped
        self._asker = asker
        self._keep = keep
        self._settings = dict(settings)

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        reask: int,
        vote: int,
    ) -> Reply:
        """The reply; CallFailed where none came, the call kept all the same."""
        prompt = canonical_json(messages)
        request = ModelRequest(
            messages=tuple(messages),
            prompt=prompt,
            prompt_hash=digest(prompt),
            settings=self._settings if schema is None else {**self._settings, "schema": schema},
            sample=vote,
            reask=reask,
            purpose="judge",
        )
        asked = await self._asker.ask(request, self._keep)
        if asked.key is None:
            await self._keep(asked.record)
        if asked.reply is None:
            raise CallFailed(asked.record.error, asked.record.detail)
        return asked.reply
