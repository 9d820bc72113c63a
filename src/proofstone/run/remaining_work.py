"""What is left of runs to ask, before anything is asked: of which the cache has the replies, how
long prompts are, how long replies may be. Nothing is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from proofstone.errors import CallFailed
from proofstone.method import Method, find_method
from proofstone.models.ask import Asked, Asker
from proofstone.models.tokens import counted_tokens
from proofstone.records.calls import Message, ModelRequest
from proofstone.records.ids import Draws, canonical_json
from proofstone.records.items import Oracle
from proofstone.records.runs import Reply, Usage
from proofstone.run.evidence import ask_item, asked_page
from proofstone.run.model_request import request_of, sent_to_model
from proofstone.run.plan import PlannedRun
from proofstone.store.items import StoredItem
from proofstone.store.store import Store

_PAGE = 128


Cell = tuple[int, int]  # the place of an item in its set, and the sample


class Survey(Struct, frozen=True, kw_only=True):
    """What is left of one run.

    ``left`` are the (item, sample) without a reply; of the ``cached`` ones among them the cache has
    all replies. Of the first requests of all others: ``characters``, ``prompt_tokens`` (about),
    ``reply_tokens`` (at most; None where nothing limits them), and ``most``, the bounds of the
    dearest one. ``is_one_request`` says that no question takes a second one.
    """

    planned: PlannedRun
    left: tuple[Cell, ...]
    cached: frozenset[Cell] = frozenset()
    characters: int = 0
    prompt_tokens: int = 0
    reply_tokens: int | None = 0
    most: Usage = Usage(0, 0)
    is_one_request: bool = True

    @property
    def to_ask(self) -> int:
        """How many (item, sample) have to be asked."""
        return len(self.left) - len(self.cached)


class Group(Struct, frozen=True, kw_only=True):
    """The runs of one model that is asked in one way with the same settings, over all item sets:
    one population, of which a pilot is a sample."""

    surveys: tuple[Survey, ...]

    @property
    def planned(self) -> PlannedRun:
        """The first of its runs; they differ in their item sets alone."""
        return self.surveys[0].planned

    @property
    def to_ask(self) -> int:
        """How many (item, sample) have to be asked, in all runs."""
        return sum(survey.to_ask for survey in self.surveys)

    @property
    def n_cached(self) -> int:
        """How many the cache answers."""
        return sum(len(survey.cached) for survey in self.surveys)

    def sample(self, n: int) -> list[tuple[int, Cell]]:
        """Up to ``n`` of what is left, each with the place of its run, drawn without replacement:
        the same ones until one of them is asked by the run itself. Replies that the cache has are
        drawn too: they cost nothing, and say as much of what the others will take. So a pilot that
        is done again asks nothing. None where nothing is to be asked, or made up."""
        run = self.planned.run
        if not self.to_ask or run.simulated:
            return []
        cells = [(place, cell) for place, each in enumerate(self.surveys) for cell in each.left]
        draws = Draws(0, 0, f"pilot|{run.respondent}|{run.way}")
        return draws.sample(cells, min(n, len(cells)))


def group_surveys(surveys: Sequence[Survey]) -> list[Group]:
    """Groups in the order of their first runs."""
    groups: dict[bytes, list[Survey]] = {}
    for survey in surveys:
        run = survey.planned.run
        key = canonical_json([run.respondent, run.way, run.settings, run.replicate])
        groups.setdefault(key, []).append(survey)
    return [Group(surveys=tuple(group)) for group in groups.values()]


async def survey_run(store: Store, planned: PlannedRun, asker: Asker) -> Survey:
    """What is left of a run. Of made-up replies nothing more is said than how many there are."""
    counted, method = _Count(planned), find_method(planned.run.method)
    for page in _pages(store, planned):
        cells = [(stored, (stored.position, n)) for stored, samples in page for n in samples]
        counted.left += [cell for _stored, cell in cells]
        if not planned.run.simulated:  # together, so that the cache is searched for all at once
            await asyncio.gather(*(counted.look(method, asker, *each) for each in cells))
    return counted.survey()


async def first_request(planned: PlannedRun, stored: StoredItem) -> tuple[str, ModelRequest] | None:
    """The step and request that asking an item begins with; None where it begins with none."""
    method = find_method(planned.run.method)
    return await _look(method, planned, stored, 0, sent_to_model(planned.run.settings), None)


class _Count:
    """A survey as it grows."""

    def __init__(self, planned: PlannedRun) -> None:
        self.left: list[Cell] = []
        self._planned = planned
        self._settings = sent_to_model(planned.run.settings)
        self._cached: set[Cell] = set()
        self._characters = self._prompt_tokens = 0
        self._reply_tokens: int | None = 0
        self._most = Usage(0, 0)
        self._is_one_request = True

    async def look(self, method: Method, asker: Asker, stored: StoredItem, cell: Cell) -> None:
        """Counts one (item, sample)."""
        missing = await _look(
            method, self._planned, stored, cell[1], self._settings, asker.find_cached
        )
        if missing is None:
            self._cached.add(cell)
            return
        step, request = missing
        self._is_one_request &= step == self._planned.run.last_step
        self._characters += sum(len(message.text) for message in request.messages)
        self._prompt_tokens += counted_tokens(request.messages)
        most = asker.most_tokens(request)
        if most.completion is None or self._reply_tokens is None:
            self._reply_tokens = None
        else:
            self._reply_tokens += most.completion
        self._most = Usage(
            max(self._most.prompt or 0, most.prompt or 0),
            max(self._most.completion or 0, most.completion or 0),
        )

    def survey(self) -> Survey:
        """What came of it."""
        return Survey(
            planned=self._planned,
            left=tuple(self.left),
            cached=frozenset(self._cached),
            characters=self._characters,
            prompt_tokens=self._prompt_tokens,
            reply_tokens=self._reply_tokens,
            most=self._most,
            is_one_request=self._is_one_request,
        )


def _pages(store: Store, planned: PlannedRun) -> Iterator[list[tuple[StoredItem, list[int]]]]:
    """The items of a run, each with the samples that have no reply yet."""
    key = _key_of(store, planned)
    last, samples = planned.run.last_step, range(planned.samples)
    for after in range(-1, planned.n_items - 1, _PAGE):
        size = min(_PAGE, planned.n_items - 1 - after)
        items = asked_page(store, planned.way, planned.item_set.id, after, size)
        done: dict[tuple[int, int], set[str]] = {}
        if key is not None:
            done = store.runs.steps_among(key, planned.item_set.id, after, size)
        yield [
            (item, [sample for sample in samples if last not in done.get((item.key, sample), ())])
            for item in items
        ]


def _key_of(store: Store, planned: PlannedRun) -> int | None:
    """The run's key, where it was ever begun."""
    try:
        return store.runs.run(planned.run.id)[0]
    except KeyError:
        return None


async def _look(
    method: Method,
    planned: PlannedRun,
    stored: StoredItem,
    sample: int,
    settings: Mapping[str, Any],
    find: Callable[[ModelRequest], Awaitable[Asked | None]] | None,
) -> tuple[str, ModelRequest] | None:
    """The first request of an item to which ``find`` has no reply; None where it has them all."""
    missing: list[tuple[str, ModelRequest]] = []

    async def look(
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        request = request_of(
            planned.run, settings, stored.loaded, sample, step, messages,
            oracle=oracle, schema=schema,
        )  # fmt: skip
        found = None if find is None else await find(request)
        if found is None or found.reply is None:
            missing.append((step, request))
            raise CallFailed("not_asked", "only what would be asked is wanted")
        return found.reply

    try:
        await ask_item(method, stored.loaded, planned.way, look)
    except CallFailed:
        return missing[0]
    return missing[0] if missing else None
