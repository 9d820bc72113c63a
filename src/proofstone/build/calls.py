"""The calls that steps of a build are handed: a role's model, asked for one row or only shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from proofstone.build.flow import Workshop, perform_pipeline
from proofstone.build.journal import MemoryJournal, StepProgress
from proofstone.build.plan import PlannedBuild, entering_rows
from proofstone.errors import CallFailed, NotAsked
from proofstone.models.ask import Asker
from proofstone.records.builds import role_of_seat
from proofstone.records.calls import CallRecord, Message, ModelRequest
from proofstone.records.ids import canonical_json, digest
from proofstone.records.items import Oracle
from proofstone.records.runs import Reply, Usage
from proofstone.records.steps import BatchStep, ModelRole, PipelineRow, Step, StepContext
from proofstone.run.dry_run import SentAs
from proofstone.session.progress import RunProgress
from proofstone.store.store import Store
from proofstone.store.writer import BuildPlace, Writer


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


_LOOKED_AT = 100  # rows for each that is to be shown: the first ones may all be dropped unasked


class StepPrompt(Struct, frozen=True, kw_only=True):
    """A request of a step for one row; those that depend on its reply are shown where that is in
    the cache."""

    step: str
    row: bytes
    name: str
    messages: tuple[Message, ...]
    to: SentAs


async def show_prompts(
    store: Store, planned: PlannedBuild, askers: Mapping[str, Asker], n: int
) -> list[StepPrompt]:
    """The prompts of the first ``n`` rows of which any is asked, step by step. Plain steps are
    worked on, batch steps left out; nothing is sent and nothing kept."""
    build = planned.build
    builder = planned.builder
    roles = {
        seat: AskedRole(builder.roles[role_of_seat(seat)], askers[seat], settings)
        for seat, settings in planned.settings.items()
    }
    shown: list[StepPrompt] = []
    rows = entering_rows(store, builder, planned.spec, build.params)
    asked = 0
    for entering in islice(rows, n * _LOOKED_AT):
        prompts = await _of_row(planned, roles, entering.row)
        shown += prompts
        asked += bool(prompts)
        if asked == n:
            break
    order = {step.name: place for place, step in enumerate(planned.pipeline.steps)}
    return sorted(shown, key=lambda each: order[each.step])


async def _of_row(
    planned: PlannedBuild, roles: Mapping[str, AskedRole], row: PipelineRow
) -> list[StepPrompt]:
    shown: list[StepPrompt] = []

    def open_context(step: Step | BatchStep, _key: bytes, identity: bytes) -> StepContext:
        calls = {role: _ShownCall(step.name, identity, roles[role], shown) for role in step.asks}
        reads = planned.reads
        return StepContext(
            row=identity, calls=calls, seed=planned.build.seed,
            search=reads.search(step.reads), banks=reads.banks_of(step.reads),
        )  # fmt: skip

    steps = planned.pipeline.steps
    places = [place for place, step in enumerate(steps) if not isinstance(step, BatchStep)]
    await perform_pipeline(
        [steps[place] for place in places],
        [planned.keys[place] for place in places],
        lambda: [[row]],
        Workshop(MemoryJournal(), open_context),
        progress=[StepProgress(steps[place].name) for place in places],
        reached=lambda *_reached: None,
    )
    return shown


class _ShownCall:
    """``StepCall`` that keeps the prompt, answers from the cache, and sends nothing."""

    def __init__(self, step: str, row: bytes, asked: AskedRole, shown: list[StepPrompt]) -> None:
        self._step, self._row, self._asked, self._shown = step, row, asked, shown

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
        """The stored reply. Raises CallFailed where there is none."""
        request = request_for_row(
            self._asked, self._row, name, messages, schema, reask, sample, oracle
        )
        asker = self._asked.asker
        settings, dropped = asker.model.sent_settings(request.settings)
        to = SentAs(model=asker.model.name, settings=settings, dropped=dropped)
        self._shown.append(
            StepPrompt(step=self._step, row=self._row, name=name, messages=request.messages, to=to)
        )
        cached = await asker.find_cached(request)
        if cached is None or cached.reply is None:
            raise CallFailed("not_sent", f"{name} is only shown")
        return cached.reply
