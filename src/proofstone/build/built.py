"""Builds as they are listed and shown: how far they are, and every row that was dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec import Struct

from proofstone.build.build import funnel_of
from proofstone.build.funnel import Ended, ended_rows
from proofstone.build.funnels import funnel_section, funnel_sentence
from proofstone.build.verdicts import read_accounts, row_values
from proofstone.check.semantic_map import stored_map_section
from proofstone.errors import BadUsage
from proofstone.page.section import Section
from proofstone.records.builds import Build, BuildFunnel
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.tables import Audience
from proofstone.review.agreement import check_judges
from proofstone.review.section import checked_judges_section, review_funnel, review_section
from proofstone.session.description import Description
from proofstone.store.builds import StoreJournal
from proofstone.store.lookup import Found
from proofstone.store.store import Store


class BuildState(Struct, frozen=True, kw_only=True):
    """A build in a listing; ``bank`` is the newest that came of it."""

    id: bytes
    kind: str
    name: str
    n_inputs: int
    funnel: BuildFunnel | None
    bank: bytes | None


class EndedRow(Struct, frozen=True, kw_only=True):
    """A row that a step dropped, for the ``reason`` that ``found`` gave, or that is held up before
    it (``error``); with its content, None where that was purged."""

    step: str
    reason: str = ""
    found: str = ""
    error: str = ""
    row: str
    values: dict[str, Any] | None


def build_states(store: Store) -> list[BuildState]:
    """All builds, newest first; the funnel is of those that are whole."""
    states = []
    for key, build in store.builds.every():
        banks = store.builds.banks(key)
        states.append(
            BuildState(
                id=build.id,
                kind=build.kind,
                name=build.name,
                n_inputs=build.n_inputs,
                funnel=store.builds.funnel(key),
                bank=banks[-1] if banks else None,
            )
        )
    return states


def describe_build(store: Store, found: Found) -> tuple[Description, BuildFunnel]:
    """A build as ``show`` prints it, and its funnel as far as it came."""
    key, build = store.builds.build(found.id)
    funnel = store.builds.funnel(key) or funnel_of(store, key, build)
    lines = [
        ("build", build.id.hex()),
        ("kind", f"{build.kind} ({build.method})"),
        ("rows", funnel_sentence(funnel)),
        *((f"model, {role}", model) for role, model in build.models.items()),
        *((name, str(value)) for name, value in build.params.items()),
        ("seed", str(build.seed)),
        *(("bank", f"bank:{short(bank)}") for bank in store.builds.banks(key)),
    ]
    return Description(title=f"build:{short(build.id)}", lines=tuple(lines)), funnel


def funnel_sections(
    store: Store, item_sets: Iterable[ItemSet], audience: Audience = "internal"
) -> tuple[Section, ...]:
    """How the banks of these item sets were built and reviewed, and where they and the sets lie in
    meaning, for a page: each build that was whole, each bank that people reviewed, each map that
    was kept, once."""
    item_sets = list(item_sets)
    banks = dict.fromkeys(item_set.bank for item_set in item_sets if item_set.bank is not None)
    builds = {build.id: (key, build) for bank in banks for key, build in store.builds.of_bank(bank)}
    found = ((key, build, store.builds.funnel(key)) for key, build in builds.values())
    built = (
        funnel_section(build, funnel, read_accounts(store, key, build))
        for key, build, funnel in found
        if funnel is not None
    )
    found_banks = [store.lookup.find(f"bank:{bank.hex()}") for bank in banks]
    forms = [store.lookup.find(f"form:{item_set.id.hex()}") for item_set in item_sets]
    maps = (stored_map_section(store, found, audience) for found in (*found_banks, *forms))
    checked = (check_judges(store, bank) for bank in found_banks)
    reviewed = (review_funnel(store, bank) for bank in found_banks)
    return (
        *built,
        *(checked_judges_section(questions) for questions in checked if questions),
        *(review_section(funnel) for funnel in reviewed if funnel is not None),
        *(section for section in maps if section is not None),
    )


def list_ended(
    store: Store,
    found: Found,
    *,
    pending: bool = False,
    step: str | None = None,
    reason: str | None = None,
    limit: int | None = None,
) -> list[EndedRow]:
    """The rows that steps dropped (``pending``: those that are held up), of one step or reason
    where it is named, in the order of those that entered.

    Raises BadUsage for a step or a reason that this build does not have.
    """
    key, build = store.builds.build(found.id)
    _check(build, step, reason)
    ended = (
        each
        for each in _ended(store, key, build)
        if each.is_dropped != pending
        and step in (None, each.step)
        and reason in (None, each.reason)
    )
    return [_shown(each) for each in islice(ended, limit)]


def ended_fields(store: Store, found: Found) -> Iterator[dict[str, Any]]:
    """Every row that was dropped or is held up, for a file: why in columns of their own, then the
    row's own values."""
    key, build = store.builds.build(found.id)
    for each in map(_shown, _ended(store, key, build)):
        yield {
            "build_step": each.step,
            "build_reason": each.reason,
            "build_found": each.found,
            "build_error": each.error,
            **(each.values or {}),
        }


def _ended(store: Store, key: int, build: Build) -> Iterator[Ended]:
    reached = store.builds.stages(key)
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys(reached))
    return ended_rows(build.steps, reached, lambda: store.builds.pages(key), journal, journal)


def _check(build: Build, step: str | None, reason: str | None) -> None:
    names = [each.name for each in build.steps]
    if step is not None and step not in names:
        raise BadUsage(f"this build has no step {step!r}", hint=f"it has: {', '.join(names)}")
    of_step = [each for each in build.steps if step in (None, each.name)]
    reasons = [known for each in of_step for known in each.reasons]
    if reason is not None and reason not in reasons:
        raise BadUsage(
            f"no step drops a row as {reason!r}", hint=f"reasons are: {', '.join(reasons)}"
        )


def _shown(ended: Ended) -> EndedRow:
    return EndedRow(
        step=ended.step,
        reason=ended.reason,
        found=ended.found,
        error=ended.error,
        row=short(ended.row.id),
        values=row_values(ended.row.payload),
    )
