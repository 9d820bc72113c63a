"""The calls that steps of a build are handed: a role's model, asked for one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.engines.models import Asker
from proofstone.engines.store import BuildPlace, Writer
from proofstone.errors import CallFailed, NotAsked
from proofstone.identity import canonical_json, digest
from proofstone.ports import CallRecord, ModelRequest, ModelRole
from proofstone.records import Message, Oracle, Reply, Usage
from proofstone.stages.progress import RunProgress

__all__ = ["AskedRole", "RoleCall", "request_for_row"]


class AskedRole:
    """A role with the model behind it and the settings that it is asked with; ``largest`` is the
    most that one of its requests may take, where ``bounds`` are watched."""

    def __init__(
        self, role: ModelRole, asker: Asker, settings: Mapping[str, Any], *, bounds: bool = False
    ) -> None:
        self.role = role
        self.asker = asker
        self.settings = settings
        self.bounds = bounds
        self.largest = Usage(0, 0)

    def watch(self, request: ModelRequest) -> None:
        """Takes in how much a request may take."""
        most = self.asker.most_tokens(request)
        self.largest = Usage(
            max(self.largest.prompt or 0, most.prompt or 0),
            max(self.largest.completion or 0, most.completion or 0),
        )


def request_for_row(
    asked: AskedRole,
    row: bytes,
    name: str,
    messages: Sequence[Message],
    schema: Mapping[str, Any] | None,
    reask: int,
    sample: int,
    oracle: Oracle | None,
) -> ModelRequest:
    """What a step asks of a role for one row: the same when it is only shown."""
    settings, prompt = asked.settings, canonical_json(messages)
    return ModelRequest(
        messages=tuple(messages),
        prompt=prompt,
        prompt_hash=digest(prompt),
        settings=settings if schema is None else {**settings, "schema": schema},
        sample=sample,
        reask=reask,
        purpose=asked.role.purpose,
        oracle=oracle,
        draw_key=f"{row.hex()}:{name}" if oracle is not None else "",
    )


class RoleCall:
    """``StepCall`` of one role for one row; each attempt is written with its place."""

    __slots__ = ("_asked", "_place", "_progress", "_writer")

    def __init__(
        self, asked: AskedRole, writer: Writer, place: BuildPlace, progress: RunProgress
    ) -> None:
        self._asked = asked
        self._writer = writer
        self._place = place
        self._progress = progress

    async def __call__(
        self,
        name: str,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        reask: int = 0,
        sample: int = 0,
        oracle: Oracle | None = None,
    ) -> Reply:
        """The reply to one request; see ``StepCall``."""
        request = request_for_row(
            self._asked, self._place.row, name, messages, schema, reask, sample, oracle
        )
        if self._asked.bounds:
            self._asked.watch(request)
        asked = await self._asked.asker.ask(request, self._keep)
        if asked.key is None:
            await self._keep(asked.record)
        else:
            self._progress.cached += 1
            await self._writer.write(asked.key, self._place)
        if asked.reply is None:
            # The last failure of a model that cannot be asked any more says nothing of this row.
            kind = CallFailed if self._asked.asker.stopped is None else NotAsked
            raise kind(asked.record.error, asked.record.detail)
        return asked.reply

    async def _keep(self, call: CallRecord) -> None:
        self._progress.count(call)
        await self._writer.write(call, self._place)
