"""Leaderboards and pages of runs with their evidence, and other results of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs

from proofstone import __version__
from proofstone.errors import BadUsage
from proofstone.method import Method, Verifying, every_method, find_method
from proofstone.models.check import control_prompts
from proofstone.models.config import ModelConfig
from proofstone.models.responses import read_response
from proofstone.models.tokens import load_cl100k
from proofstone.page.section import Section
from proofstone.records.ids import short
from proofstone.records.items import CONTEXT_SETTINGS, ItemSet, own_prompt_of, shown_name
from proofstone.records.models import shown_names
from proofstone.records.runs import (
    ANSWER_FORMAT,
    OUR_SETTINGS,
    STATED_CONFIDENCE,
    Run,
    Usage,
)
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.records.tables import Audience, Tabulation
from proofstone.results.audit.audit import (
    Audit,
    audit_evidence,
    benchmark_beside,
    write_flagged_items,
)
from proofstone.results.board import LeftOut, PlanMark
from proofstone.results.board_text import Leaderboard
from proofstone.results.brief import BriefAsked, make_brief
from proofstone.results.cards import read_columns, read_field, read_where
from proofstone.results.item_browser import item_browser
from proofstone.results.measured_scores import Sheet
from proofstone.results.methods_paragraph import methods_text
from proofstone.results.page_files import (
    BesideAsked,
    FiguresAsked,
    FiguresWritten,
    PageWritten,
    TablesAsked,
    check_drawn,
    write_drawn,
    write_page,
)
from proofstone.results.page_parts import (
    Asked,
    AskedAs,
    BankUsed,
    Control,
    FormShown,
    Manifest,
    PageData,
    Provenance,
    RecordedRole,
)
from proofstone.results.page_pieces import FileBeside
from proofstone.results.plan import plan_marks
from proofstone.results.rankings import leaderboard as ranked_board
from proofstone.results.request import CURRENT, BoardAsked, View
from proofstone.results.response_pages import (
    ItemText,
    ReadRun,
    item_texts,
    read_responses,
    response_files,
)
from proofstone.results.sections.catalogue import (
    analysis_kind,
    asked_options,
    make_sections,
    perform_analysis,
)
from proofstone.results.sections.evidence import Evidence, table_for
from proofstone.results.sections.items import flagged_items
from proofstone.results.sections.judges import parts_by_judge
from proofstone.results.sections.parts import (
    Analysis,
    drawn_figures,
    parts_by_form,
    parts_together,
    write_figure_data,
)
from proofstone.results.sentences import part_name
from proofstone.results.summary import make_opening
from proofstone.results.table import (
    carded,
    chosen_scorings,
    headline,
    narrowed,
    open_book,
    read_more_scores,
    read_scores,
    respondents_of,
    upkeep_of,
    with_groups,
    with_shared_part,
)
from proofstone.results.trust import data_quality_lines
from proofstone.run.forms import Selection, newer_forms, select_runs
from proofstone.run.run_facts import ControlReport, shares_of
from proofstone.session.models import family_of_model
from proofstone.session.session import Session, Target, find_target
from proofstone.session.terminal import minute
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import say

# Display names of models, without local folders.


def names_of(table: ScoreTable, more: Iterable[str] = ()) -> Mapping[str, str]:
    """Map each model's name, then ``more`` names, to its display name."""
    return shown_names([*(who.name for who in table.respondents), *more])


def table_with(table: ScoreTable, names: Mapping[str, str]) -> ScoreTable:
    """Return the table with display names for models, reported models and models of roles."""
    reported = shown_names(model for who in table.respondents for model, _n in who.reported)
    roles = shown_names(held.model for held in table.roles)
    return replace(
        table,
        respondents=tuple(
            replace(
                who,
                name=names[who.name],
                reported=tuple((reported[model], n) for model, n in who.reported),
            )
            for who in table.respondents
        ),
        roles=tuple(replace(held, model=roles[held.model]) for held in table.roles),
    )


def board_with(board: Leaderboard, names: Mapping[str, str]) -> Leaderboard:
    """Return the leaderboard with display names in texts outside its rows."""
    return structs.replace(
        board,
        left_out=left_out_with(board.left_out, names),
        notes=notes_with(board.notes, names),
        plans=tuple(_plan(mark, names) for mark in board.plans),
    )


def left_out_with(left_out: Iterable[LeftOut], names: Mapping[str, str]) -> tuple[LeftOut, ...]:
    """Return the filtered models by display names."""
    return tuple(
        LeftOut(name=names.get(entry.name, entry.name), why=entry.why) for entry in left_out
    )


def notes_with(notes: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return sentences with display names of models."""
    return tuple(_named(note, names) for note in notes)


def _named(text: str, names: Mapping[str, str]) -> str:
    for name, shown in names.items():
        if name != shown:
            text = text.replace(name, shown)
    return text


def _plan(mark: PlanMark, names: Mapping[str, str]) -> PlanMark:
    pairs = tuple((_named(a, names), _named(b, names)) for a, b in mark.comparisons)
    return structs.replace(mark, comparisons=pairs)


# Records of how runs were made, for the methods text.

OWN_PROMPT = "own prompt"  # setting on a page that names a custom template


def _manifest(
    store: Store, made: BoardMade, view: View, asked: Iterable[tuple[Respondent, Run, Asked]]
) -> Manifest:
    """Return the manifest of a board's runs; ``asked`` has one run and its calls per model."""
    selection, sheet = made.selection, made.evidence.sheet
    chosen = chosen_scorings(store, selection.runs, view).values()
    banks = dict.fromkeys(each.bank for each in selection.item_sets if each.bank)
    roles = () if sheet is None else sheet.table.roles
    shown = shown_names(held.model for held in roles)
    return Manifest(
        method=find_method(selection.method).title,
        banks=tuple(
            BankUsed(bank.name, bank.n_facts()) for bank in map(store.knowledge.bank, banks)
        ),
        asked=tuple(
            AskedAs(
                name=who.name,
                prompt_method=run.prompt_method,
                shots=int(run.settings.get("shots") or 0),
                samples=int(run.settings.get("samples") or 1),
                own_prompt=own_prompt_of(run.settings),
                settings=tuple(pair for pair in known.settings if pair[0] != OWN_PROMPT),
                dropped=known.dropped,
                reported=known.reported_models,
                first=known.first_call,
                last=known.last_call,
                simulated=who.simulated,
            )
            for who, run, known in asked
        ),
        scorers=tuple(sorted({scoring.scorer_version for scoring in chosen})),
        judges=tuple(sorted({scoring.judge for scoring in chosen if scoring.judge})),
        roles_held=tuple(  # those with the most items first
            RecordedRole(held.role, shown[held.model], len(held.units))
            for held in sorted(roles, key=lambda one: (-len(one.units), one.role, one.model))
            if len(held.units)
        ),
    )


def page_data(
    session: Session,
    made: BoardMade,
    asked: BoardAsked,
    sections: tuple[Section, ...],
    *,
    control: ControlReport | None = None,
    command: str = "",
    texts: Mapping[bytes, ItemText] | None = None,
) -> PageData:
    """Return the contents of a leaderboard's page for its audience.

    ``texts`` maps item ids to questions if responses are written next to the page.
    """
    store, selection = session.store, made.selection
    respondents = _with_runs(selection)
    known = [_asked(store, who, mine) for who, mine in respondents]
    told = [(who, runs[0][1], each) for (who, runs), each in zip(respondents, known, strict=True)]
    title = ", ".join(sorted({item_set.name for item_set in selection.item_sets}))
    return PageData(
        title=title,
        audience=asked.audience,
        board=made.board,
        opening=make_opening(made.evidence),
        trust=data_quality_lines(made.evidence),
        sections=sections,
        brief=make_brief(made.evidence, title),
        seed=made.evidence.seed,
        card_columns=tuple(asked.card_columns),
        provenance=Provenance(
            version=__version__,
            made_at=minute(session.clock.now()),
            runs=tuple(f"run:{short(run.id)}" for _key, run in selection.runs),
            command=command,
        ),
        forms=forms_shown(selection),
        asked=tuple(known),
        manifest=_manifest(store, made, asked.view, told),
        controls=controls_shown(control),
        items=item_browser(
            made.evidence,
            texts={item: text.question for item, text in (texts or {}).items()},
            has_responses=texts is not None,
            audience=asked.audience,
        ),
    )


def forms_shown(selection: Selection) -> tuple[FormShown, ...]:
    """Return the item sets of a selection."""
    return tuple(
        FormShown(
            name=shown_name(item_set),
            id=item_set.id.hex(),
            n_items=item_set.n_items,
            seed=item_set.seed,
            recipe=tuple(
                (name, _shown(value))
                for name, value in item_set.recipe.items()
                if value is not None
            ),
        )
        for item_set in selection.item_sets
    )


def asked_shown(store: Store, selection: Selection) -> tuple[Asked, ...]:
    """Return the request settings of each model of a selection, under display names."""
    return tuple(_asked(store, who, runs) for who, runs in _with_runs(selection))


def _with_runs(selection: Selection) -> list[tuple[Respondent, list[tuple[int, Run]]]]:
    runs = {run.id: (key, run) for key, run in selection.runs}
    found = respondents_of(selection)
    shown = shown_names(who.name for who in found)
    return [
        (replace(who, name=shown[who.name]), [runs[identity] for identity in who.runs])
        for who in found
    ]


def controls_shown(control: ControlReport | None) -> tuple[Control, ...]:
    """Return the sanity checks, if any were made."""
    if control is None:
        return ()
    accepted = {prompt.text: prompt.accepted for prompt in control_prompts()}
    return tuple(
        Control(
            label=control.model,
            prompt=answer.prompt,
            response=answer.response or answer.error,
            expected=" / ".join(accepted.get(answer.prompt, ())),
            is_as_expected=answer.is_right,
        )
        for answer in control.answers
    )


def _label(who: Respondent) -> str:
    return " ".join(part for part in (who.name, who.prompt_method, who.settings) if part)


def _asked(store: Store, who: Respondent, runs: Sequence[tuple[int, Run]]) -> Asked:
    keys = [key for key, _run in runs]
    calls = [call for key in keys for call in store.runs.some_calls(key) if call.raw]
    shares = [share for key, run in runs for share in shares_of(store, key, run)]
    totals = [store.runs.totals(key) for key in keys]
    means = (read_response(call.wire, call.raw).mean_logprob for call in calls)
    logprobs = [value for value in means if value is not None]
    n_calls = sum(total.calls for total in totals)
    spent, pace = store.spent.of_runs(keys), store.paces.of_runs(keys)
    return Asked(
        label=_label(who),
        settings=tuple(_settings(runs[0][1])),
        dropped=calls[0].settings_dropped if calls else (),
        reported_models=_distinct(shown_names(share.model for share in shares).values()),
        fingerprints=_distinct(share.fingerprint for share in shares),
        calls=n_calls,
        usage=Usage(
            prompt=sum(total.prompt_tokens for total in totals),
            completion=sum(total.completion_tokens for total in totals),
            reasoning=sum(total.reasoning_tokens for total in totals) or None,
        ),
        cached_share=spent.cached_share,
        cost_usd=None if spent.unpriced else spent.cost_usd,
        estimated_usd=spent.estimated_usd,
        mean_logprob=sum(logprobs) / len(logprobs) if logprobs else None,
        median_latency_s=pace.median_latency_s,
        first_call=minute(min(total.first_at for total in totals)) if n_calls else "",
        last_call=minute(max(total.last_at for total in totals)) if n_calls else "",
    )


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    own = own_prompt_of(run.settings)
    if own:
        yield OWN_PROMPT, own
    for name, value in run.settings.items():
        if name not in OUR_SETTINGS or name in (*CONTEXT_SETTINGS, ANSWER_FORMAT):
            yield name, _shown(value)


def _distinct(values: Any) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"{value[0]}-{value[1]}" if value[0] != value[1] else str(value[0])
    return str(value)


# From runs to their leaderboard, with model cards.


class BoardMade(NamedTuple):
    """A leaderboard, its runs, and the evidence for the sections of its report."""

    board: Leaderboard
    selection: Selection
    evidence: Evidence


def make_board(
    store: Store,
    config: Callable[[], ModelConfig],
    selection: Selection,
    asked: BoardAsked,
    *,
    family: Callable[[str], str],
) -> BoardMade:
    """Return the leaderboard of a selection, its runs, and the evidence for its report.

    If cards are used (to group, filter or show), a model without a stored card gets that of
    ``config``, and notes state the source of cards. Raises BadUsage for an unknown field, NotFound
    if the filter leaves no model. For the ``audience`` see ``page.audience.table_for``.
    """
    view = asked.view
    conditions = read_where(asked.conditions)
    read_columns(asked.card_columns)
    by_cards = bool(
        conditions or asked.card_columns or (asked.group_by and read_field(asked.group_by))
    )
    book = open_book(store, selection, config() if by_cards else None)
    chosen, left_out = narrowed(selection, book, conditions)
    method = find_method(chosen.method)
    read = with_shared_part(read_scores(store, method, chosen, family=family, view=view))
    names = names_of(read, (run.respondent for _key, run in selection.runs))
    read = with_groups(store, method, chosen.item_sets, carded(read, book))
    table = _boards_shown(read, names, method, asked.audience)
    more = read_more_scores(store, method, chosen, table, view)
    notes = (
        *newer_forms(store, chosen.item_sets),
        *_shared_part(table),
        *book.excluded,
        *(book.notes if by_cards else ()),
    )
    table = with_confidence(table, more)
    board = ranked_board(
        table,
        method.measures,
        method.headline,
        population=asked.population,
        level=asked.level,
        confidence=asked.confidence,
        more=more,
        group_by=asked.group_by,
        where=",".join(asked.conditions),
        left_out=left_out,
        notes=notes,
        by_document=asked.by_document,
    )
    board = structs.replace(
        board, ignore_corrections=view.ignore_corrections, plans=plan_marks(store, chosen.runs)
    )
    board = board_with(board, names)
    evidence = Evidence(
        board=board,
        sheet=Sheet.of(table, headline(method)),
        statements=_statements(method, more),
        population=asked.population,
        seed=asked.seed,
        upkeep=upkeep_of(store, chosen, table, view),
    )
    return BoardMade(board, chosen, evidence)


def _shared_part(table: ScoreTable) -> tuple[str, ...]:
    """Return a note if all models were asked the same part of the form."""
    parts = {who.part for who in table.respondents}
    part = next(iter(parts)) if len(parts) == 1 else None
    if part is None or part.unasked:
        return ()
    return (say("All models were asked only {part}. The same command without that option asks "
                "the rest.",
                part=part_name(part)),)  # fmt: skip


def _statements(method: Method, more: Mapping[str, ScoreTable]) -> Sheet | None:
    """Return the scores of the parts of items, if models were asked these.

    They belong to the first other measure with a different unit.
    """
    unit = headline(method).unit
    for measure in method.measures:
        if measure.unit != unit and measure.of in more:
            return Sheet.of(more[measure.of], measure)
    return None


def _boards_shown(
    table: ScoreTable, names: Mapping[str, str], method: Method, audience: Audience
) -> ScoreTable:
    """Return the scores with display names for an audience.

    Labels that the method's measures need are kept, because scores are counted by them.
    """
    labels = {
        label for measure in method.measures for label in (*measure.answer_keys, measure.says)
    }
    return table_for(table_with(table, names), audience, keep=labels)


def with_confidence(table: ScoreTable, more: Mapping[str, ScoreTable]) -> ScoreTable:
    """Return ``table`` with the confidence that models stated with each answer.

    ``more`` maps names of scores to tables. NaN if a response states no confidence.
    """
    stated = more.get(STATED_CONFIDENCE)
    if stated is None or not len(stated.value):
        return table
    said = dict(zip(_places(stated), stated.value.tolist(), strict=True))
    found = np.array([said.get(place, np.nan) for place in _places(table)], dtype=np.float64)
    return table if np.isnan(found).all() else replace(table, confidence=found)


def _places(table: ScoreTable) -> list[tuple[int, int, int]]:
    """Return model, unit and sample of each row; both tables number units alike."""
    columns = (table.respondent.tolist(), table.unit.tolist(), table.sample.tolist())
    return list(zip(*columns, strict=True))


# Results of scored runs: leaderboard, report, audit and analyses.


def leaderboard(session: Session, /, *targets: Target, **options: Any) -> Leaderboard:
    """Return the leaderboard of runs, forms or a bank; ``str()`` gives the terminal table.

    ``options`` are fields of ``results.request.BoardAsked``. ``group_by`` and ``where``
    ("kind=reasoning,openness=open") use model cards. ``view`` selects the scores. With
    ``by_document`` its standings have ``documents``.
    """
    return board_of(session, selection_of(session, targets), BoardAsked(**options)).board


def verifying_of_runs(session: Session, *targets: Target) -> Verifying | None:
    """Return how triples of these runs are verified; None if they have none."""
    return find_method(selection_of(session, targets).method).verifying


def verified_board(session: Session, /, *targets: Target, **options: Any) -> Any:
    """Return the leaderboard of verified triples; None if nothing is verified or verifiable.

    ``group_by``, ``where``, ``card_columns`` and ``view`` are as in ``leaderboard``. ``by`` names
    the breakdowns; ``people`` is a file of human verdicts.
    """
    selection = selection_of(session, targets)
    verifying = find_method(selection.method).verifying
    return None if verifying is None else verifying.board(session, selection, **options)


def describe(session: Session, target: Target) -> Sequence[Tabulation]:
    """Return the tables with which its method describes a bank or a form; tokens are counted
    offline."""
    store, found = session.store, find_target(session.store, target, ())
    if found.kind == "bank":
        method = find_method(store.knowledge.bank(found.id).method)
        pages = store.knowledge.pages_of_bank(found.key)
        return method.fact_statistics((fact for page in pages for fact in page), load_cl100k())
    if found.kind == "form":
        method = find_method(store.items.item_set(found.id).method)
        items = (stored.loaded for page in store.items.pages(found.id) for stored in page)
        of_items = method.item_statistics(items, load_cl100k())
        if method.verifying is None:
            return of_items
        return (
            *of_items,
            *method.verifying.statistics(store, method, store.runs.of_sets([found.id])),
        )
    if found.kind == "run":
        key, run = store.runs.run(found.id)
        method = find_method(run.method)
        if method.verifying is not None:
            return method.verifying.statistics(store, method, [(key, run)])
    raise BadUsage(
        f"statistics are of a bank or a form; {found.kind}:{short(found.id)} is neither",
        hint="proofstone list bank, or proofstone list form, names them",
    )


def write_report(
    session: Session,
    /,
    *targets: Target,
    path: Path | str | None = None,
    tables: TablesAsked | None = None,
    figures: FiguresAsked | None = None,
    brief: BriefAsked | None = None,
    control: ControlReport | None = None,
    command: str = "",
    unverified: bool = False,
    **options: Any,
) -> PageWritten:
    """Write the leaderboard of the targets with its evidence as one HTML page.

    Also writes tables, figures and brief on request. For the ``audience`` "public" the page has no
    texts of items and responses. If one of these files cannot be written, the page is not written
    either. ``options`` are as in ``leaderboard``. For verified triples their page is written,
    unless ``unverified`` is set.
    """
    selection = selection_of(session, targets)
    place = None if path is None else Path(path)
    beside = BesideAsked(tables, figures, brief=brief)
    method = find_method(selection.method)
    if not unverified and method.verifying is not None:
        verified: PageWritten | None = method.verifying.write_page(
            session, selection, place, beside, options=options, control=control, command=command
        )
        if verified is not None:
            return verified
    asked = BoardAsked(**{**options, "by_document": True})
    made = board_of(session, selection, asked)
    own = (make(made.evidence) for make in method.sections)
    banks = bank_sections(session.store, selection.item_sets, asked.audience)
    sections = (*make_sections(made.evidence), *filter(None, own), *banks)
    texts = None
    if asked.audience == "internal" and place is not None:
        texts = item_texts(session.store, method, made.selection.item_sets)
    data = page_data(session, made, asked, sections, control=control, command=command, texts=texts)
    written = write_page(
        data, place, beside, responses=partial(_responses, session.store, made, data, texts or {})
    )
    if place is not None:
        forms = [item_set.id for item_set in selection.item_sets]
        session.store.written.add(place, "form", forms, session.clock.now())
    return written


def _responses(
    store: Store, made: BoardMade, data: PageData, texts: Mapping[bytes, ItemText], page: Path
) -> Iterator[FileBeside]:
    """Yield the files of all responses on a board, in the order of its items."""
    sheet, browser = made.evidence.sheet, data.items
    if sheet is None or browser is None:
        return iter(())
    places = {row.full_label: place for place, row in enumerate(made.evidence.board.rows)}
    asked = [
        ReadRun(key, run, places[_label(who)])
        for who, runs in _with_runs(made.selection)
        for key, run in runs
        if _label(who) in places
    ]
    method = find_method(made.selection.method)
    items = dict.fromkeys(sheet.table.items)
    return response_files(
        data.title, page, browser, read_responses(store, method, items, asked, texts)
    )


def audit_runs(session: Session, /, *targets: Target, **options: Any) -> Audit:
    """Return the leaderboard of runs, forms or a bank with the sections of an audit.

    ``options`` are as in ``leaderboard``.
    """
    asked = BoardAsked(**{**options, "by_document": True})
    made = board_of(session, selection_of(session, targets), asked)
    audit = audit_evidence(made.evidence, made.selection, asked.audience)
    data = page_data(session, made, structs.replace(asked, audience="public"), audit.sections)
    return structs.replace(audit, methods=methods_text(data))


def write_item_flagged_items(
    session: Session, /, *targets: Target, path: Path | str, **options: Any
) -> int:
    """Write all flagged items and statements, one row each; return their number.

    The suffix of ``path`` sets the format. ``options`` are as in ``leaderboard``.
    """
    made = board_of(session, selection_of(session, targets), BoardAsked(**options))
    return write_flagged_items(flagged_items(made.evidence), Path(path))


def make_analysis(session: Session, /, name: str, *targets: Target, **options: Any) -> Analysis:
    """Return an analysis of runs, forms or banks.

    ``options`` are ``population``, ``confidence`` and options of the analysis. ``beside`` names the
    other benchmark for an analysis of rankings. Raises BadUsage for an unknown name or unsuitable
    targets.
    """
    found = _found(session, targets)
    view, n_items = options.pop("view", CURRENT), options.pop("beside_items", 0)
    for method in every_method():
        if name in method.analyses and method.make_analysis is not None:
            asked = asked_options(name, (), **options)
            selection = selection_of(session, targets)
            made: Analysis = method.make_analysis(session, name, selection, view, **asked)
            return made
    kind = analysis_kind(name)
    if view.scorings:
        raise BadUsage(f"the study {name} reads the current scorings, not those named",
                       hint="--scoring goes with studies of verified triples")  # fmt: skip
    if kind.parts == "by judge" and verifying_of_runs(session, *targets) is not None:
        raise BadUsage("verdicts on triples are not graded responses",
                       hint="leaderboard --scoring ID shows them under one judge")  # fmt: skip
    if kind.parts == "by judge":
        parts = parts_by_judge(session.store, find_method, found)
    else:
        read = parts_by_form if kind.parts == "by form" else parts_together
        needs = {
            "lengths": kind.lengths,
            "origins": kind.origins,
            "found": kind.found,
            "paths": kind.paths,
            "searched": kind.searched,
        }
        parts = read(session.store, find_method, found, **needs)
    if named := options.pop("beside", ""):
        options["beside"] = benchmark_beside(
            session.store, find_method, lambda text: _found(session, [text])[0], named, n_items
        )
    return perform_analysis(name, parts, **options)


def write_analysis_figures(
    session: Session, analysis: Analysis, asked: FiguresAsked
) -> FiguresWritten:
    """Write an analysis's figures to a folder. Raises BadUsage if it has no data points."""
    figures = drawn_figures(analysis)
    if not figures:
        raise BadUsage(f"the study {analysis.name} found nothing that could be drawn")
    check_drawn(figures, asked)
    return write_drawn(
        figures, list(dict.fromkeys(mark.row for mark in analysis.data.marks)), asked
    )


def write_analysis_data(session: Session, analysis: Analysis, path: Path | str) -> None:
    """Write the data of an analysis's figure, one row per mark; the suffix of ``path`` sets the
    format."""
    write_figure_data(analysis, Path(path))


def selection_of(session: Session, targets: Sequence[Target]) -> Selection:
    """Return the runs of these targets."""
    return select_runs(session.store, _found(session, targets))


def _found(session: Session, targets: Sequence[Target]) -> list[Found]:
    return [find_target(session.store, target, ("bank", "form", "run")) for target in targets]


def board_of(session: Session, selection: Selection, asked: BoardAsked) -> BoardMade:
    """Return the leaderboard, its runs, and the evidence for its report."""
    return make_board(
        session.store,
        lambda: session.config,
        selection,
        asked,
        family=partial(family_of_model, session),
    )


# The folders above that build, review and check banks each have ``bank_sections(store, item_sets,
# audience)``; a page shows them in this order.
_OF_BANKS = ("build.funnel", "review.section", "check.semantic_map")


def bank_sections(
    store: Store, item_sets: Iterable[ItemSet], audience: Audience = "internal"
) -> tuple[Section, ...]:
    """Return the sections on construction, review and semantic map of these item sets' banks."""
    sets = list(item_sets)
    makers = (import_module(f"proofstone.{name}").bank_sections for name in _OF_BANKS)
    return tuple(section for make in makers for section in make(store, sets, audience))
