"""Export: what of a workspace goes into a file, by the kind of row that is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from proofstone.browse.export import export_bank, export_items, export_responses
from proofstone.browse.origins_shown import plan_row
from proofstone.build.built import ended_fields
from proofstone.errors import BadUsage
from proofstone.files.write import write_rows
from proofstone.method import find_method
from proofstone.results.reading import Reading
from proofstone.session.targets import Target, find_target
from proofstone.store.lookup import Found

if TYPE_CHECKING:
    from proofstone.records.scores import ScoreTable


What = Literal["facts", "items", "responses", "scores", "leaderboard", "verdicts", "triples"]


EXPORTED: tuple[What, ...] = get_args(What)


_USUAL: dict[str, What] = {"bank": "facts", "form": "items", "run": "responses"}


class Exporting(Reading):
    """A workspace's rows as files and as score tables."""

    def export(
        self, target: Target, path: Path | str, what: What | None = None, **options: Any
    ) -> int:
        """Writes rows to a file by its suffix (JSONL, CSV, TSV, Parquet, Excel); returns how many.

        Of a bank its facts, of a form its items, of a run its responses, of a plan the plan, of
        a build the rows that it dropped or that are held up, each with why, or with ``what``
        "verdicts" every ballot of its judges; with ``what`` also the
        "scores" or the "leaderboard" of a bank, form or run, for which ``options`` are those of
        ``leaderboard``, and of a run that elicits them its "triples" (with
        ``fold_near``, a cosine, those in other words folded) and, once verified, "verdicts": a row
        each with its evidence and columns that people fill. Facts and items can be
        imported again. Raises BadUsage for what a row has none of.
        """
        found = find_target(self.store, target, ("bank", "form", "run", "plan", "build"))
        n_rows = self._export(found, Path(path), what, options)
        if what not in ("scores", "leaderboard") and found.kind != "plan":
            self.store.written.add(Path(path), found.kind, [found.id], self.clock.now())
        return n_rows

    def _export(self, found: Found, path: Path, what: What | None, options: dict[str, Any]) -> int:
        if found.kind == "build":
            return self._export_build(found, Path(path), what)
        if found.kind == "plan":
            return write_rows(Path(path), [plan_row(self.store.plans.one(found.key))])
        what = what or _USUAL[found.kind]
        file = Path(path)
        if what in ("scores", "leaderboard"):
            return self._export_results(found, file, what, options)
        if what == "triples" and found.kind == "run":
            return self._export_triples(found, file, options.get("fold_near"))
        if what == "verdicts":
            return self._export_verdicts(found, file, options)
        if what != _USUAL[found.kind]:
            raise BadUsage(
                f"a {found.kind} has no {what}",
                hint=f"it has: {_USUAL[found.kind]}, scores, leaderboard",
            )
        writers: dict[str, Callable[[Found, Path], int]] = {
            "bank": self._export_bank,
            "form": self._export_form,
            "run": self._export_run,
        }
        return writers[found.kind](found, file)

    def score_table(self, *targets: Target, **options: Any) -> ScoreTable:
        """The scores of runs, forms or a bank as columns; ``to_arrow()``, ``to_pandas()`` and
        ``to_polars()`` of it are tables of these libraries. ``view`` as in ``leaderboard``."""
        from proofstone.results.table import read_scores  # noqa: PLC0415 - numpy

        selection = self._selection(targets)
        method = find_method(selection.method)
        return read_scores(self.store, method, selection, family=self.family_of, **options)

    def _export_results(self, found: Found, file: Path, what: What, options: dict[str, Any]) -> int:
        if what == "leaderboard":
            from proofstone.results.board import board_rows  # noqa: PLC0415 - numpy

            return write_rows(file, board_rows(self.leaderboard(found, **options)))
        from proofstone.browse.export import score_rows  # noqa: PLC0415 - numpy

        return write_rows(file, score_rows(self.score_table(found, **options)))

    def _export_build(self, found: Found, file: Path, what: What | None) -> int:
        from proofstone.build.verdicts import verdict_fields  # noqa: PLC0415

        if what not in (None, "verdicts"):
            raise BadUsage(f"a build has no {what}", hint="it has: its dropped rows, verdicts")
        fields = ended_fields if what is None else verdict_fields
        return write_rows(file, fields(self.store, found))

    def _export_bank(self, found: Found, file: Path) -> int:
        method = find_method(self.store.knowledge.bank(found.id).method)
        return export_bank(self.store, method, found.id, file)

    def _export_form(self, found: Found, file: Path) -> int:
        method = find_method(self.store.items.item_set(found.id).method)
        return export_items(self.store, method, found.id, file)

    def _export_triples(self, found: Found, file: Path, near: float | None) -> int:
        from proofstone.methods.bequ.verification.elicited import triple_rows  # noqa: PLC0415
        from proofstone.methods.bequ.verification.said_alike import (  # noqa: PLC0415
            check_bar,
            fold_alike,
        )

        key, run = self.store.runs.run(found.id)
        method = find_method(run.method)
        if near is None:
            return write_rows(file, triple_rows(self.store, method, key, run))
        from proofstone.search.dense import SentenceEncoder  # noqa: PLC0415

        check_bar(near)
        encoder = SentenceEncoder()
        rows = triple_rows(
            self.store, method, key, run, lambda said: fold_alike(said, encoder, near)
        )
        return write_rows(file, rows)

    def _export_verdicts(self, found: Found, file: Path, options: dict[str, Any]) -> int:
        from proofstone.methods.bequ.verification.rows import verdict_rows  # noqa: PLC0415
        from proofstone.methods.bequ.verification.stored_verdicts import (  # noqa: PLC0415
            read_verified,
        )

        selection = self._selection([found])
        method = find_method(selection.method)
        view = {"view": options["view"]} if "view" in options else {}
        return write_rows(file, verdict_rows(read_verified(self.store, method, selection, **view)))

    def _export_run(self, found: Found, file: Path) -> int:
        _key, run = self.store.runs.run(found.id)
        return export_responses(self.store, find_method(run.method), found.id, file)
