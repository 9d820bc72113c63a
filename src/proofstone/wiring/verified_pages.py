"""From verified runs to their page, with the experiments that they carry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofstone.engines.store import Store
from proofstone.errors import BadUsage
from proofstone.methods import find_method
from proofstone.report.triples.experiments import experiment_sections
from proofstone.stages.page_files import BesideAsked, PageWritten
from proofstone.stages.triple_experiments import experiment_of
from proofstone.stages.triple_pages import triple_page, write_triple_page
from proofstone.wiring.verified_boards import VerifiedBoard

if TYPE_CHECKING:
    from proofstone.stages.control import ControlReport

__all__ = ["OF_ITEMS", "write_verified_page"]

# Options of scores of items, by their usual values: each triple counts once, and intervals are over
# entities.
OF_ITEMS: Mapping[str, str] = {"level": "sample", "estimand": "knowledge"}


def write_verified_page(
    store: Store,
    made: VerifiedBoard,
    path: Path | None,
    beside: BesideAsked,
    *,
    now: float,
    options: Mapping[str, Any],
    control: ControlReport | None = None,
    command: str = "",
) -> PageWritten:
    """Writes the page of a leaderboard of verified triples, and what was asked for beside it.
    Raises BadUsage for options that go with scores of items, and what ``write_triple_page`` does.
    """
    other = [f"--{name}" for name, usual in OF_ITEMS.items() if options.get(name, usual) != usual]
    if other:
        raise BadUsage(
            f"{', '.join(other)}: not of verified triples",
            hint="with --unverified the page ranks by how much models say",
        )
    method = find_method(made.selection.method)
    found = experiment_of(store, method, made.selection, made.verified, made.board)
    page = triple_page(
        store,
        made.selection,
        found.board,
        now=now,
        studies=experiment_sections(found),
        control=control,
        command=command,
        card_columns=options.get("card_columns", ()),
        audience=options.get("audience", "internal"),
    )
    return write_triple_page(page, made.verified, path, beside)
