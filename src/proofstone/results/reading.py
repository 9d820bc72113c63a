"""Reading results: the part of a workspace that asks nobody and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.method import find_method
from proofstone.records.ids import short
from proofstone.results.table import Selection, ranked_settings, select_runs
from proofstone.session.models import Catalogue
from proofstone.session.targets import Target, find_target
from proofstone.store.lookup import Found

if TYPE_CHECKING:
    from proofstone.build.taxonomy import Coverage
    from proofstone.check.giveaway import Checked
    from proofstone.keep.status import ScoringShown
    from proofstone.methods.bequ.experiments.evidence import Experiment
    from proofstone.methods.bequ.report.board import TripleBoard
    from proofstone.methods.bequ.report.verified_boards import VerifiedBoard
    from proofstone.page.section import Section
    from proofstone.records.calls import Embedder
    from proofstone.records.tables import Tabulation
    from proofstone.records.taxonomy import Taxonomy
    from proofstone.results.board import Leaderboard
    from proofstone.results.board_tables import FiguresAsked, FiguresWritten
    from proofstone.results.drawing_process import PageWritten
    from proofstone.results.items_made import Audit
    from proofstone.results.page_parts import PageData
    from proofstone.results.report import BoardMade
    from proofstone.results.sections.parts import Study
    from proofstone.results.table import View
    from proofstone.results.table_files import MoreTables, TablesAsked
    from proofstone.run.run_facts import ControlReport


class Reading(Catalogue):
    """Leaderboards and pages of what a workspace's ``store`` holds."""

    def leaderboard(self, *targets: Target, **options: Any) -> Leaderboard:
        """The leaderboard of runs, forms or a bank; ``str()`` of it is the terminal's table.

        ``group_by`` and ``where`` ("kind=reasoning,openness=open") go by the models' cards;
        ``view`` says which scores are read (``stages.corrected.View``). With ``by_document`` its
        standings have ``documents``.
        """
        return self._board(self._selection(targets), options).board

    def holds_triples(self, *targets: Target) -> bool:
        """Whether these are runs whose replies hold triples, which can be verified."""
        return find_method(self._selection(targets).method).verifying is not None

    def how_to_verify(self, *targets: Target) -> str:
        """The command that verifies these runs."""
        from proofstone.methods.bequ.verification.stored_verdicts import (  # noqa: PLC0415
            how_to_verify,
        )

        return how_to_verify(self._selection(targets).runs)

    def verified_board(self, *targets: Target, **options: Any) -> TripleBoard | None:
        """The leaderboard of what was verified of runs, forms or a bank; None where nothing is, or
        where their replies hold nothing to verify.

        ``group_by``, ``where``, ``card_columns`` and ``view`` are as in ``leaderboard``; ``by``
        names the breakdowns that are wanted, ``people`` a file of verdicts that people filled in.
        """
        made = self._verified(self._selection(targets), options)
        return None if made is None else made.board

    def statistics(self, target: Target) -> Sequence[Tabulation]:
        """The tables by which its method describes a bank or a form, tokens counted offline."""
        from proofstone.browse.show import tabulate  # noqa: PLC0415

        return tabulate(self.store, find_target(self.store, target, ()))

    def check(
        self,
        target: Target,
        *,
        drop_to: float | None = None,
        embedder: Embedder | None = None,
    ) -> Checked:
        """Whether a bank's false statements, or a form's right options, can be told without knowing
        anything, by an ``embedder``'s vectors too; with ``drop_to`` (an area, 0.5 to 1) which facts
        would have to go."""
        from proofstone.check.giveaway import check_give_aways  # noqa: PLC0415

        found = find_target(self.store, target, ("bank", "form"))
        named = self.store.knowledge.bank(found.id) if found.kind == "bank" else None
        method = named.method if named else self.store.items.item_set(found.id).method
        return check_give_aways(
            self.store,
            find_method(method),
            found,
            drop_to=drop_to,
            embedder=embedder,
        )

    def coverage(self, bank: Target, taxonomy: Taxonomy) -> Coverage:
        """How many statements and sources of a bank stand under each node of a taxonomy."""
        from proofstone.build.taxonomy import bank_coverage  # noqa: PLC0415

        found = find_target(self.store, bank, ("bank",))
        named = f"{found.name}-{short(found.id, 4)}"
        facts = self.store.knowledge.facts_of_bank(found.key)
        return bank_coverage(taxonomy, named, facts)

    def write_told(self, checked: Checked, path: Path) -> int:
        """Writes the facts that are to go as a work list, which ``retire --from`` carries out;
        returns how many."""
        from proofstone.check.giveaway import told_rows  # noqa: PLC0415
        from proofstone.session.written_files import write_work_file  # noqa: PLC0415

        return write_work_file(path, [structs.asdict(row) for row in told_rows(checked)])

    def report(
        self,
        *targets: Target,
        path: Path | str | None = None,
        tables: TablesAsked | None = None,
        figures: FiguresAsked | None = None,
        control: ControlReport | None = None,
        command: str = "",
        unverified: bool = False,
        **options: Any,
    ) -> PageWritten:
        """Writes the leaderboard of the targets with its evidence as one HTML page, and its tables
        and figures where they are asked for; for the ``audience`` "public" without any text of
        items and replies. Where the file of one may not be written, neither is the page.

        Of triples that were verified it is their page, unless ``unverified`` is asked for."""
        from proofstone.results.drawing_process import BesideAsked, write_page  # noqa: PLC0415

        selection = self._selection(targets)
        place = None if path is None else Path(path)
        verified = None if unverified else self._verified(selection, _of_verified(options))
        if verified is not None:
            from proofstone.methods.bequ.report.page import write_verified_page  # noqa: PLC0415

            others = self._verified_tables(verified, options)
            return write_verified_page(
                self.store, verified, place, BesideAsked(tables, figures, others),
                now=self.clock.now(), options=options, control=control, command=command,
            )  # fmt: skip
        made = self._board(selection, {**options, "by_document": True})
        data = self._page(made, options, control=control, command=command)
        written = write_page(data, place, BesideAsked(tables, figures))
        if place is not None:
            forms = [item_set.id for item_set in selection.item_sets]
            self.store.written.add(place, "form", forms, self.clock.now())
        return written

    def audit(self, *targets: Target, **options: Any) -> Audit:
        """What runs, forms or a bank show: the leaderboard and the sections that follow from it."""
        from proofstone.results.audit.audit import (  # noqa: PLC0415 - numpy is loaded there
            audit_evidence,
        )
        from proofstone.results.methods_paragraph import methods_text  # noqa: PLC0415

        made = self._board(self._selection(targets), {**options, "by_document": True})
        audit = audit_evidence(made.evidence, made.selection, options.get("audience", "internal"))
        data = self._page(made, {**options, "audience": "public"}, sections=audit.sections)
        return structs.replace(audit, methods=methods_text(data))

    def _page(
        self,
        made: BoardMade,
        options: Mapping[str, Any],
        *,
        control: ControlReport | None = None,
        command: str = "",
        sections: tuple[Section, ...] | None = None,
    ) -> PageData:
        """All that the page of a leaderboard shows; ``sections`` are made where there are none."""
        from proofstone.build.built import funnel_sections  # noqa: PLC0415
        from proofstone.results.items_made import trust_lines  # noqa: PLC0415
        from proofstone.results.report import page_data  # noqa: PLC0415
        from proofstone.results.sections.catalogue import make_sections  # noqa: PLC0415
        from proofstone.results.summary import make_opening  # noqa: PLC0415
        from proofstone.results.table import CURRENT  # noqa: PLC0415

        sheet = made.evidence.sheet
        if sections is None:
            audience = options.get("audience", "internal")
            built = funnel_sections(self.store, made.selection.item_sets, audience)
            sections = (*make_sections(made.evidence), *built)
        return page_data(
            self.store,
            made.selection,
            made.board,
            opening=make_opening(made.evidence),
            trust=trust_lines(made.evidence),
            sections=sections,
            now=self.clock.now(),
            control=control,
            command=command,
            card_columns=options.get("card_columns", ()),
            audience=options.get("audience", "internal"),
            seed=made.evidence.seed,
            method=find_method(made.selection.method),
            table=None if sheet is None else sheet.table,
            view=options.get("view", CURRENT),
        )

    def work_list(self, *targets: Target, path: Path | str, **options: Any) -> int:
        """Writes all items and statements to look at, one row each, by the suffix of ``path``; how
        many there are."""
        from proofstone.results.audit.audit import write_work_list  # noqa: PLC0415
        from proofstone.results.sections.item_model import work_list  # noqa: PLC0415 - numpy

        made = self._board(self._selection(targets), options)
        return write_work_list(work_list(made.evidence), Path(path))

    def study(self, name: str, *targets: Target, **options: Any) -> Study:
        """A study of runs, forms or banks: ``estimand``, ``confidence`` and what the study takes as
        options; ``beside`` names the other benchmark of a study of rankings.

        Raises BadUsage for a name that is none, or targets that it cannot stand on.
        """
        from proofstone.results.audit.audit import benchmark_beside  # noqa: PLC0415
        from proofstone.results.sections.catalogue import (  # noqa: PLC0415 - numpy
            STUDIES,
            perform_study,
        )
        from proofstone.results.sections.judges import parts_by_judge  # noqa: PLC0415
        from proofstone.results.sections.parts import parts_by_form, parts_together  # noqa: PLC0415
        from proofstone.results.table import CURRENT  # noqa: PLC0415

        kind = STUDIES.get(name)
        if kind is None:
            raise BadUsage(f"there is no study {name!r}", hint=f"studies: {', '.join(STUDIES)}")
        found = self._found(targets)
        view = options.pop("view", CURRENT)
        if kind.parts == "of triples":
            parts: Any = [self._experiment(targets, view)]
        elif view.scorings:
            raise BadUsage(f"the study {name} reads the current scorings, not those named",
                           hint="--scoring goes with studies of verified triples")  # fmt: skip
        elif kind.parts == "by judge" and self.holds_triples(*targets):
            raise BadUsage("verdicts on triples are not graded replies",
                           hint="leaderboard --scoring ID shows them under one judge")  # fmt: skip
        elif kind.parts == "by judge":
            parts = parts_by_judge(self.store, find_method, found)
        else:
            read = parts_by_form if kind.parts == "by form" else parts_together
            parts = read(self.store, find_method, found, lengths=kind.lengths, origins=kind.origins)
        n_items = options.pop("beside_items", 0)
        if named := options.pop("beside", ""):
            options["beside"] = benchmark_beside(
                self.store, find_method, lambda text: self._found([text])[0], named, n_items
            )
        return perform_study(name, parts, **options)

    def _experiment(self, targets: Sequence[Target], view: View) -> Experiment:
        """Verified runs as experiments read them. Raises NotFound where none is verified."""
        from proofstone.methods.bequ.experiments.evidence import experiment_of  # noqa: PLC0415
        from proofstone.methods.bequ.report.board import triple_board  # noqa: PLC0415
        from proofstone.methods.bequ.verification.stored_verdicts import (  # noqa: PLC0415
            read_verified,
        )

        selection = self._selection(targets)
        method = find_method(selection.method)
        verified = read_verified(self.store, method, selection, view)
        by_id = {run.id: run for _key, run in selection.runs}
        first = [by_id[runs[0]] for runs in verified.runs]
        board = triple_board(verified, by=(), ranked=ranked_settings(method, first))
        return experiment_of(self.store, method, selection, verified, board)

    def write_study_figures(self, study: Study, asked: FiguresAsked) -> FiguresWritten:
        """Draws a study's figures into a folder. Raises BadUsage for a study without a point."""
        from proofstone.results.board_tables import check_drawn, write_drawn  # noqa: PLC0415
        from proofstone.results.sections.parts import study_figures  # noqa: PLC0415

        figures = study_figures(study)
        if not figures:
            raise BadUsage(f"the study {study.name} found nothing that could be drawn")
        check_drawn(figures, asked)
        return write_drawn(figures, list(dict.fromkeys(p.series for p in study.points)), asked)

    def write_figure_data(self, study: Study, path: Path | str) -> None:
        """Writes the data of a study's figure, one row a mark, by the suffix of ``path``."""
        from proofstone.results.sections.parts import write_figure_data  # noqa: PLC0415

        write_figure_data(study, Path(path))

    def scorings(self, run: Target) -> list[ScoringShown]:
        """The whole scorings of a run, oldest first."""
        from proofstone.keep.status import scorings_of  # noqa: PLC0415

        return scorings_of(self.store, find_target(self.store, run, ("run",)).key)

    def _selection(self, targets: Sequence[Target]) -> Selection:
        return select_runs(self.store, self._found(targets))

    def _found(self, targets: Sequence[Target]) -> list[Found]:
        return [find_target(self.store, target, ("bank", "form", "run")) for target in targets]

    def _board(self, selection: Selection, options: dict[str, Any]) -> BoardMade:
        """The leaderboard, the runs that stand on it, and what its report is made from."""
        from proofstone.results.report import make_board  # noqa: PLC0415 - numpy is loaded there

        return make_board(
            self.store, lambda: self.config, selection, family=self.family_of, **options
        )

    def _verified(self, selection: Selection, options: dict[str, Any]) -> VerifiedBoard | None:
        """The leaderboard of verified triples, and what it was made from."""
        if find_method(selection.method).verifying is None:
            return None
        from proofstone.methods.bequ.report.verified_boards import (  # noqa: PLC0415 - numpy
            make_verified_board,
        )

        return make_verified_board(self.store, lambda: self.config, selection, **options)

    def _verified_tables(
        self, made: VerifiedBoard, options: Mapping[str, Any]
    ) -> MoreTables | None:
        """What writes the tables of verified runs; None for the public: they hold the texts of
        passages."""
        if options.get("audience", "internal") == "public":
            return None
        from proofstone.methods.bequ.verification.verified_tables import tables_of  # noqa: PLC0415

        return tables_of(made.verified, made.board)


def _of_verified(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that leaderboards of verified triples take, too."""
    taken = ("group_by", "where", "card_columns", "view", "seed")
    return {name: options[name] for name in taken if name in options}
