"""The model behind a role of a build step as a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.errors import CallFailed
from proofstone.records.building import StepCall
from proofstone.records.calls import Message
from proofstone.records.runs import Reply


class RowJudge:
    """A ``JudgeModel`` over a step's call for one row; its votes are samples."""

    takes_schema = True  # the client leaves a schema out where the endpoint takes none

    def __init__(self, call: StepCall, question: str, *, name: str) -> None:
        self.name = name
        self.failure: CallFailed | None = None
        self._call = call
        self._question = question

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        reask: int,
        vote: int,
    ) -> Reply:
        """See ``StepCall``. The failure is kept: to the panel it is one ballot less, to a build a
        row that has to be judged again."""
        try:
            return await self._call(
                self._question, messages, schema=schema, reask=reask, sample=vote
            )
        except CallFailed as failure:
            self.failure = failure
            raise
