"""Contradictions of a bank: the part of a workspace that finds near statements and asks judges."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.wiring.asking import Asking
from proofstone.wiring.background import Background
from proofstone.wiring.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.engines.models import Budget
    from proofstone.ports import Embedder
    from proofstone.stages.contradicting import Contradictions, StatementPair
    from proofstone.stages.semantic_maps import SemanticMap

__all__ = ["Contradicting"]

_PAIRS = 500


class Contradicting(Asking):
    """The part of a workspace that looks for statements that contradict each other."""

    def semantic_map(
        self, target: Target, *, seed: int = 0, embedder: Embedder | None = None
    ) -> SemanticMap:
        """Where a bank's true statements, or a form's questions, lie in meaning, and how far their
        groups stand apart. It is kept, without its texts, for cards and pages."""
        from proofstone.stages.semantic_maps import map_texts  # noqa: PLC0415
        from proofstone.stages.stored_maps import keep_map  # noqa: PLC0415

        found = find_target(self.store, target, ("bank", "form"))
        owner = self.store.items.item_set if found.kind == "form" else self.store.knowledge.bank
        method = find_method(owner(found.id).method)
        drawn = map_texts(self.store, method, found, embedder or self.embedder(), seed=seed)
        keep_map(self.store, found, drawn, self.clock.now())
        return drawn

    def write_map(self, drawn: SemanticMap, path: Path) -> None:
        """Writes the figure of a map as its suffix says: .svg, .png, .html or .json."""
        from proofstone.report.figures.files import FIGURE_KINDS, figure_files  # noqa: PLC0415
        from proofstone.stages.stored_maps import drawn_figure  # noqa: PLC0415

        kind = path.suffix.lower().lstrip(".")
        kinds = [each for each in FIGURE_KINDS if each == kind]
        files = figure_files(drawn_figure(drawn), kinds)
        path.write_bytes(files.get(kind, files["vl.json"]))

    def near_statements(
        self, bank: Target, *, limit: int | None = _PAIRS, embedder: Embedder | None = None
    ) -> tuple[int, list[StatementPair]]:
        """How many true statements a bank has, and its nearest pairs; asks nobody."""
        from proofstone.stages.contradicting import near_statements  # noqa: PLC0415

        found = find_target(self.store, bank, ("bank",))
        method = find_method(self.store.knowledge.bank(found.id).method)
        return near_statements(self.store, method, found, embedder or self.embedder(), limit=limit)

    def contradictions(
        self,
        bank: Target,
        *,
        judges: Sequence[str],
        limit: int | None = _PAIRS,
        budget: Budget | str | None = None,
        embedder: Embedder | None = None,
    ) -> Contradictions:
        """Which true statements of a bank contradict each other, of its ``limit`` nearest pairs, by
        these judges. Calls are kept and cached; ``budget`` is as of ``run``."""
        from proofstone.stages.budgeting import on_record  # noqa: PLC0415
        from proofstone.stages.contradicting import judge_statements  # noqa: PLC0415

        found = find_target(self.store, bank, ("bank",))
        encoder = embedder or self.embedder()
        n, pairs = self.near_statements(found, limit=limit, embedder=encoder)
        self._clear_pairs(pairs, judges)
        spending = self.spending(budget)
        named = f"{found.name}-{short(found.id, 4)}"

        async def work(stop: asyncio.Event) -> Contradictions:
            async with self._askers(judges, None, stop, spending=spending) as askers:
                asked = [askers[name] for name in judges]
                async with on_record(self.store, asked, self.clock) as kept:
                    return await judge_statements(
                        self.store, named, n, pairs, asked, embedder=encoder.name, kept=kept
                    )

        return Background(work).wait()

    def write_contradictions(self, found: Contradictions, path: Path) -> int:
        """Writes a work list of statements that contradict each other, which ``retire --from`` and
        ``edit --from`` carry out once somebody has decided; returns how many rows."""
        from proofstone.stages.contradicting import (  # noqa: PLC0415
            ContradictionRow,
            contradiction_rows,
        )
        from proofstone.stages.work_files import write_work_file  # noqa: PLC0415

        rows = [structs.asdict(row) for row in contradiction_rows(found)]
        return write_work_file(path, rows, columns=ContradictionRow.__struct_fields__)

    def _clear_pairs(self, pairs: Sequence[StatementPair], judges: Sequence[str]) -> None:
        """Lets out the statements that remote judges would see, once that is allowed."""
        from proofstone.engines.models import leaves_to  # noqa: PLC0415
        from proofstone.stages.contradicting import pairs_would_leave  # noqa: PLC0415
        from proofstone.wiring.egress import Load, Loads  # noqa: PLC0415

        loads: Loads = {}
        for judge in judges:
            to = leaves_to(judge, self.config)
            if to is not None and not to.is_local and pairs:
                outgoing = pairs_would_leave(self.store, pairs)
                loads[to] = loads.get(to, Load()).with_run(judge, b"pairs", outgoing)
        if loads:
            self._clear(loads)
