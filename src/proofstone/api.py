"""Notebook interface: a workspace whose methods are the functions of the other packages.

There is no logic here. Each name below is a function whose first parameter is a session; it is
imported on first call. Every one is synchronous and works in a notebook with a running loop.
Functions that call models run a loop in a separate thread. docs/reference/api.md lists them with
their arguments.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from proofstone.session.folders import create_folder
from proofstone.session.session import Session, workspace_folder

if TYPE_CHECKING:
    from proofstone.browse import export as browse_export
    from proofstone.browse import filtered_import
    from proofstone.build import banks
    from proofstone.check import artifacts, semantic_map
    from proofstone.check import contradictions as check_contradictions
    from proofstone.correct import edit as correct_edit
    from proofstone.correct import flagged_items as correct_flagged_items
    from proofstone.correct import overrides as correct_overrides
    from proofstone.ingest import bank_files, editions, pages, taxonomy, vision
    from proofstone.keep import backup as keep_backup
    from proofstone.keep import purge as keep_purge
    from proofstone.results import compare_inputs
    from proofstone.results import plan as results_plan
    from proofstone.results import report as boards
    from proofstone.review import agreement as review_agreement
    from proofstone.review import import_reviews as review_import
    from proofstone.review import sheets as review_sheets
    from proofstone.review import state as review_state
    from proofstone.run import campaign
    from proofstone.run import dry_run as run_dry_run
    from proofstone.run import outbound as run_outbound
    from proofstone.run import score as run_score
    from proofstone.run import scorings as scoring_list
    from proofstone.search import retrieval
    from proofstone.session import models as session_models
    from proofstone.session import progress, session


P = ParamSpec("P")
R = TypeVar("R")


class Verb(Generic[P, R]):
    """Expose a function of a session as a method of a workspace; ``find`` imports it."""

    def __init__(self, find: Callable[[], Callable[Concatenate[Session, P], R]]) -> None:
        self.find = find

    @overload
    def __get__(self, session: None, owner: Any) -> Callable[Concatenate[Session, P], R]: ...

    @overload
    def __get__(self, session: Session, owner: Any) -> Callable[P, R]: ...

    def __get__(self, session: Session | None, owner: Any) -> Callable[..., R]:
        function = self.find()
        return function if session is None else wraps(function)(partial(function, session))


class _Module:
    """A module of this package, imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(f"proofstone.{self._name}"), name)


if not TYPE_CHECKING:
    browse_export = _Module("browse.export")
    banks = _Module("build.banks")
    filtered_import = _Module("browse.filtered_import")
    check_contradictions = _Module("check.contradictions")
    artifacts = _Module("check.artifacts")
    semantic_map = _Module("check.semantic_map")
    correct_edit = _Module("correct.edit")
    correct_overrides = _Module("correct.overrides")
    correct_flagged_items = _Module("correct.flagged_items")
    editions = _Module("ingest.editions")
    pages = _Module("ingest.pages")
    bank_files = _Module("ingest.bank_files")
    taxonomy = _Module("ingest.taxonomy")
    vision = _Module("ingest.vision")
    keep_backup = _Module("keep.backup")
    keep_purge = _Module("keep.purge")
    compare_inputs = _Module("results.compare_inputs")
    results_plan = _Module("results.plan")
    boards = _Module("results.report")
    review_agreement = _Module("review.agreement")
    review_import = _Module("review.import_reviews")
    review_sheets = _Module("review.sheets")
    review_state = _Module("review.state")
    campaign = _Module("run.campaign")
    run_dry_run = _Module("run.dry_run")
    run_outbound = _Module("run.outbound")
    scoring_list = _Module("run.scorings")
    run_score = _Module("run.score")
    retrieval = _Module("search.retrieval")
    session_models = _Module("session.models")
    session = _Module("session.session")
    progress = _Module("session.progress")


class Workspace(Session):
    """An open workspace. Use as a context manager, or call ``close``."""

    # building
    import_bank = Verb(lambda: bank_files.read_bank)
    import_sifted = Verb(lambda: filtered_import.read_sifted)
    import_form = Verb(lambda: bank_files.read_form)
    build_bank = Verb(lambda: banks.make_bank)
    build_form = Verb(lambda: banks.compose_forms)
    build_in_steps = Verb(lambda: banks.build_in_steps)
    forecast_build = Verb(lambda: banks.forecast_build)
    prompts_of_build = Verb(lambda: banks.prompts_of_build)
    note_documents = Verb(lambda: pages.remember_documents)
    document_of = Verb(lambda: pages.document_of)
    draw = Verb(lambda: pages.draw)
    page_scanner = Verb(lambda: vision.page_scanner)

    # searching passages
    index = Verb(lambda: retrieval.source_index)
    index_for = Verb(lambda: retrieval.index_for)
    search = Verb(lambda: retrieval.search_passages)
    search_web = Verb(lambda: retrieval.search_web)
    web_finder = Verb(lambda: retrieval.web_finder)
    searcher = Verb(lambda: retrieval.searcher)
    embedding_model = Verb(lambda: retrieval.open_embedding_model)
    retriever = Verb(lambda: run_outbound.make_retriever)

    # running and scoring
    run = Verb(lambda: campaign.run)
    resume = Verb(lambda: campaign.resume)
    run_specs = Verb(lambda: campaign.run_specs)
    perform = Verb(lambda: campaign.perform)
    control = Verb(lambda: campaign.report_control)
    try_judge = Verb(lambda: campaign.try_judge)
    dry_run = Verb(lambda: run_dry_run.dry_run)
    forecast_specs = Verb(lambda: run_dry_run.forecast_specs)
    rendered = Verb(lambda: run_dry_run.rendered_prompts)
    score = Verb(lambda: run_score.score)
    score_forecast = Verb(lambda: run_score.score_forecast)
    forecast_judging = Verb(lambda: run_dry_run.forecast_judging)
    verify_runs = Verb(lambda: run_score.verify_runs)
    verify_forecast = Verb(lambda: run_score.verify_forecast)
    judge_units = Verb(lambda: run_score.judge_units)
    with_judges = Verb(lambda: run_score.with_judges)
    spending = Verb(lambda: progress.start_spending)
    newly_lost = Verb(lambda: progress.newly_lost)

    # reading
    leaderboard = Verb(lambda: boards.leaderboard)
    verified_board = Verb(lambda: boards.verified_board)
    report = Verb(lambda: boards.write_report)
    audit = Verb(lambda: boards.audit_runs)
    analysis = Verb(lambda: boards.make_analysis)
    write_analysis_figures = Verb(lambda: boards.write_analysis_figures)
    write_figure_data = Verb(lambda: boards.write_analysis_data)
    flagged_items = Verb(lambda: boards.write_item_flagged_items)
    statistics = Verb(lambda: boards.describe)
    coverage = Verb(lambda: taxonomy.coverage_of)
    scorings = Verb(lambda: scoring_list.list_scorings)
    score_table = Verb(lambda: browse_export.score_table)
    export = Verb(lambda: browse_export.write_export)
    compare = Verb(lambda: compare_inputs.compare_targets)
    compare_editions = Verb(lambda: editions.compare_editions)
    write_editions = Verb(lambda: editions.write_editions)
    gate = Verb(lambda: compare_inputs.gate_run)
    plan = Verb(lambda: results_plan.make_plan)

    # checking
    check = Verb(lambda: artifacts.check_target)
    write_told = Verb(lambda: artifacts.write_told)
    semantic_map = Verb(lambda: semantic_map.make_semantic_map)
    write_map = Verb(lambda: semantic_map.write_map)
    near_statements = Verb(lambda: check_contradictions.find_near_statements)
    contradictions = Verb(lambda: check_contradictions.find_contradictions)
    write_contradictions = Verb(lambda: check_contradictions.write_contradictions)

    # reviewing and correcting
    give_out_sheets = Verb(lambda: review_sheets.give_out)
    withdraw_sheet = Verb(lambda: review_sheets.withdraw_sheet)
    import_reviews = Verb(lambda: review_import.import_reviews)
    export_reviews = Verb(lambda: review_import.export_reviews)
    review_standing = Verb(lambda: review_state.review_standing)
    review_policy = Verb(lambda: review_state.review_policy)
    review_agreement = Verb(lambda: review_agreement.review_agreement)
    review_decisions = Verb(lambda: review_state.review_decisions)
    keep_decision = Verb(lambda: review_state.keep_decision)
    last_decision = Verb(lambda: review_state.last_decision)
    edited_statements = Verb(lambda: review_agreement.edited_statements)
    judges_checked = Verb(lambda: review_agreement.judges_checked)
    override = Verb(lambda: correct_overrides.override)
    edit = Verb(lambda: correct_edit.edit)
    place = Verb(lambda: correct_edit.place)
    exclude = Verb(lambda: correct_overrides.exclude)
    include = Verb(lambda: correct_overrides.include)
    fields_of = Verb(lambda: correct_edit.editable_fields)
    follow_taxonomy_labels = Verb(lambda: correct_edit.follow_taxonomy_labels)
    apply_flagged_items = Verb(lambda: correct_flagged_items.apply_flagged_items)
    run_forms = Verb(lambda: correct_flagged_items.run_forms)
    run_again = Verb(lambda: correct_flagged_items.run_again)
    person = Verb(lambda: session.acting)
    erase_person = Verb(lambda: session.erase_person)

    # models and maintenance
    models = Verb(lambda: session_models.known_models)
    models_here = Verb(lambda: session_models.models_here)
    check_models = Verb(lambda: session_models.check_models)
    prices = Verb(lambda: session_models.model_prices)
    family_of = Verb(lambda: session_models.family_of_model)
    backup = Verb(lambda: keep_backup.backup)
    merge = Verb(lambda: keep_backup.merge_workspace)
    purge = Verb(lambda: keep_purge.purge)
    lift = Verb(lambda: keep_purge.lift_purge)
    repair = Verb(lambda: keep_purge.repair_form)
    method_of = Verb(lambda: session.method_of)


def open_workspace(folder: Path | str | None = None) -> Workspace:
    """Return the workspace in ``folder``, or the nearest one at or above the current folder.

    Raises WorkspaceUnusable if there is none, SchemaTooNew if a newer version wrote it.
    """
    return Workspace(workspace_folder(folder))


def create_workspace(folder: Path | str = ".") -> Workspace:
    """Create a workspace in ``folder`` (an existing one is kept) and open it."""
    create_folder(Path(folder))
    return Workspace(Path(folder), is_new=True)
