"""A bank from a file whose rows go through the method's filters first, and what they dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from proofstone.errors import BadInput, BadUsage
from proofstone.files.tables import TellUnread
from proofstone.files.write import check_target, write_rows
from proofstone.ingest.bank_files import read_bank
from proofstone.method import USUAL_METHOD, find_method
from proofstone.records.knowledge import Bank, BuiltFact, Role
from proofstone.records.tables import Funnel, Row, SiftedRow, SiftedRows
from proofstone.session.session import Session


class SiftedBank(Struct, frozen=True):
    """A bank, and what filters made of the rows of its file."""

    bank: Bank
    rows: SiftedRows


def read_sifted(
    session: Session,
    path: Path | str,
    *,
    name: str | None = None,
    method: str = USUAL_METHOD,
    roles: Sequence[Role] = (),
    dropped: Path | str | None = None,
    tell_unread: TellUnread | None = None,
    encoding: str = "",
) -> SiftedBank:
    """As ``read_bank``, of the rows that the method's filters leave, as they leave them; keeps
    the counts with the bank, and writes every row dropped or cleaned to ``dropped``.

    Raises BadUsage where the method has no filters, and BadInput where they leave nothing.
    """
    chosen, path = find_method(method), Path(path)
    sift = chosen.sift
    if sift is None:
        raise BadUsage(f"{chosen.name} has no filters", hint="import the file without --filter")
    if dropped is not None:
        check_target(Path(dropped))  # refused before anything is stored
    sifted: list[SiftedRows] = []

    def read(rows: Iterable[Row]) -> Sequence[BuiltFact]:
        sifted.append(sift(rows))
        if not sifted[-1].kept and sifted[-1].touched:
            raise _nothing_left(path, sifted[-1].funnel)
        return chosen.read_facts(sifted[-1].kept)

    bank = read_bank(
        session, path,
        name=name, method=method, roles=roles, read=read, tell_unread=tell_unread,
        encoding=encoding,
    )  # fmt: skip
    session.store.funnels.add(bank.id, sifted[-1].funnel, session.clock.now())
    if dropped is not None:
        write_rows(Path(dropped), list(_written(sifted[-1].touched)))
    return SiftedBank(bank, sifted[-1])


def _nothing_left(path: Path, funnel: Funnel) -> BadInput:
    reasons = [f"{sum(step.dropped)} {step.reason}" for step in funnel.steps if sum(step.dropped)]
    return BadInput(
        f"the filters leave no row of {path.name}: {', '.join(reasons)}",
        hint="import it without --filter, and look at its rows",
    )


def _written(touched: Iterable[SiftedRow]) -> Iterator[dict[str, Any]]:
    """Yield each dropped or cleaned row, with columns that state the change."""
    for one in touched:
        yield {
            "filter_place": one.row.place,
            "filter_reason": one.reason or "cleaned",
            "filter_found": one.found,
            "filter_before": one.before,
            **one.row.values,
        }


def funnel_lines(funnel: Funnel) -> list[tuple[str | int, ...]]:
    """The funnel as a table: a head, what entered, each reason with its rows, and what is left."""

    def line(name: str, counts: Sequence[int]) -> tuple[str | int, ...]:
        return (name, *counts, sum(counts))

    return [
        ("", *funnel.groups, "all"),
        line("entered", funnel.entered),
        *(line(step.reason, [-n for n in step.dropped]) for step in funnel.steps),
        line("left", funnel.left),
        line("of these cleaned", funnel.changed),
    ]


def funnel_sentences(funnel: Funnel) -> list[str]:
    """The funnel in a few lines of text, groups apart where rows of several entered."""
    used = [place for place, n in enumerate(funnel.entered) if n]

    def told(counts: Sequence[int]) -> str:
        if len(used) < 2:
            return f"{sum(counts):,}"
        parts = (f"{counts[place]:,} {funnel.groups[place]}" for place in used)
        return f"{sum(counts):,} ({', '.join(parts)})"

    return [
        f"{told(funnel.entered)} entered, by {funnel.filters}",
        *(f"{told(step.dropped)} dropped: {step.reason}" for step in funnel.steps),
        f"{told(funnel.left)} left, {sum(funnel.changed):,} of them cleaned",
    ]
