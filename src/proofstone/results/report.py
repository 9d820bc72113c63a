"""What a results page shows beside the leaderboard: how each was asked, and examples to check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from proofstone import __version__
from proofstone.method import Method, find_method
from proofstone.models.check import control_prompts
from proofstone.models.config import ModelConfig
from proofstone.models.replies import read_reply
from proofstone.page.section import Section
from proofstone.records.calls import CallRecord, Message
from proofstone.records.ids import short
from proofstone.records.items import CONTEXT_SETTINGS, own_prompt_of, shown_name
from proofstone.records.models import shown_names
from proofstone.records.runs import (
    ANSWER_FORMAT,
    OUR_SETTINGS,
    STATED_CONFIDENCE,
    Run,
    Score,
    Usage,
)
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.records.tables import Audience
from proofstone.results.board import LeftOut, PlanMark
from proofstone.results.board_text import Leaderboard
from proofstone.results.cards import read_columns, read_field, read_where
from proofstone.results.measured_scores import Sheet
from proofstone.results.page_parts import (
    Asked,
    AskedAs,
    BankUsed,
    Control,
    FormShown,
    HandRecorded,
    Manifest,
    PageData,
    Provenance,
    QuestionShown,
)
from proofstone.results.plan import plan_marks
from proofstone.results.rankings import leaderboard
from proofstone.results.sections.evidence import Evidence, table_for
from proofstone.results.sentences import part_name
from proofstone.results.summary import Opening
from proofstone.results.table import (
    CURRENT,
    View,
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
from proofstone.results.trace import ShownReply, show_replies
from proofstone.results.trust import TrustLine
from proofstone.run.forms import Selection, newer_forms
from proofstone.run.run_facts import ControlReport, shares_of
from proofstone.session.terminal import minute
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import say

# Models as a report names them: none by a folder of the machine that holds it.


def names_of(table: ScoreTable, more: Iterable[str] = ()) -> Mapping[str, str]:
    """What stands for each name of a respondent, and after them for ``more`` names."""
    return shown_names([*(who.name for who in table.respondents), *more])


def table_with(table: ScoreTable, names: Mapping[str, str]) -> ScoreTable:
    """The table with its respondents by their shown names; models that served or had a hand in the
    items too."""
    served = shown_names(model for who in table.respondents for model, _n in who.served)
    roles = shown_names(held.model for held in table.roles)
    return replace(
        table,
        respondents=tuple(
            replace(
                who,
                name=names[who.name],
                served=tuple((served[model], n) for model, n in who.served),
            )
            for who in table.respondents
        ),
        roles=tuple(replace(held, model=roles[held.model]) for held in table.roles),
    )


def board_with(board: Leaderboard, names: Mapping[str, str]) -> Leaderboard:
    """The leaderboard with what is said of models beside its rows by their shown names."""
    return structs.replace(
        board,
        left_out=left_out_with(board.left_out, names),
        notes=notes_with(board.notes, names),
        plans=tuple(_plan(mark, names) for mark in board.plans),
    )


def left_out_with(left_out: Iterable[LeftOut], names: Mapping[str, str]) -> tuple[LeftOut, ...]:
    """Who a filter left out, by shown names."""
    return tuple(
        LeftOut(name=names.get(entry.name, entry.name), why=entry.why) for entry in left_out
    )


def notes_with(notes: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Sentences with the models in them by their shown names."""
    return tuple(_named(note, names) for note in notes)


def _named(text: str, names: Mapping[str, str]) -> str:
    for name, shown in names.items():
        if name != shown:
            text = text.replace(name, shown)
    return text


def _plan(mark: PlanMark, names: Mapping[str, str]) -> PlanMark:
    pairs = tuple((_named(a, names), _named(b, names)) for a, b in mark.comparisons)
    return structs.replace(mark, comparisons=pairs)


# What a workspace knows of how runs came about, read for a methods paragraph.

OWN_PROMPT = "own prompt"  # among the settings that a page shows, the name of a person's template


def read_manifest(
    store: Store,
    method: Method,
    selection: Selection,
    table: ScoreTable | None,
    asked: Iterable[tuple[Respondent, Run, Asked]],
    view: View,
) -> Manifest:
    """The manifest of a selection; ``asked`` holds of each respondent one of its runs and what is
    known of its calls."""
    chosen = chosen_scorings(store, selection.runs, view).values()
    return Manifest(
        method=method.title,
        banks=tuple(_banks(store, selection)),
        asked=tuple(_asked_as(*each) for each in asked),
        scorers=tuple(sorted({scoring.scorer_version for scoring in chosen})),
        judges=tuple(sorted({scoring.judge for scoring in chosen if scoring.judge})),
        hands=() if table is None else tuple(_hands(table)),
    )


def _banks(store: Store, selection: Selection) -> Iterator[BankUsed]:
    for identity in dict.fromkeys(each.bank for each in selection.item_sets if each.bank):
        bank = store.knowledge.bank(identity)
        yield BankUsed(bank.name, bank.n_facts())


def _asked_as(who: Respondent, run: Run, asked: Asked) -> AskedAs:
    return AskedAs(
        name=who.name,
        way=run.way,
        shots=int(run.settings.get("shots") or 0),
        samples=int(run.settings.get("samples") or 1),
        own_prompt=own_prompt_of(run.settings),
        settings=tuple(pair for pair in asked.settings if pair[0] != OWN_PROMPT),
        dropped=asked.dropped,
        served=asked.served_models,
        first=asked.first_call,
        last=asked.last_call,
        simulated=who.simulated,
    )


def _hands(table: ScoreTable) -> Iterator[HandRecorded]:
    """The roles that models had, those with the most items first."""
    shown = shown_names(held.model for held in table.roles)
    for held in sorted(table.roles, key=lambda held: (-len(held.units), held.role, held.model)):
        if len(held.units):
            yield HandRecorded(held.role, shown[held.model], len(held.units))


_PER_OUTCOME = 2  # examples of right answers, of wrong ones, and of replies without an answer


def page_data(
    store: Store,
    selection: Selection,
    board: Leaderboard,
    *,
    now: float,
    opening: Opening,
    trust: tuple[TrustLine, ...],
    control: ControlReport | None = None,
    command: str = "",
    card_columns: Sequence[str] = (),
    sections: tuple[Section, ...] = (),
    audience: Audience = "internal",
    seed: int | None = None,
    method: Method | None = None,
    table: ScoreTable | None = None,
    view: View = CURRENT,
) -> PageData:
    """Everything a page of these runs shows its ``audience``, read from the store; with ``method``
    also the manifest, ``table`` being the scores that ``view`` wants."""
    respondents = _with_runs(selection)
    asked = [_asked(store, who, mine) for who, mine in respondents]
    told = zip(respondents, asked, strict=True)
    runs_asked = [(who, mine[0][1], each) for (who, mine), each in told]
    manifest = (
        None if method is None else read_manifest(store, method, selection, table, runs_asked, view)
    )
    names = ", ".join(sorted({item_set.name for item_set in selection.item_sets}))
    return PageData(
        title=names,
        audience=audience,
        board=board,
        opening=opening,
        trust=trust,
        sections=sections,
        seed=seed,
        card_columns=tuple(card_columns),
        provenance=Provenance(
            version=__version__,
            made_at=minute(now),
            runs=tuple(f"run:{short(run.id)}" for _key, run in selection.runs),
            command=command,
        ),
        forms=forms_shown(selection),
        asked=tuple(asked),
        manifest=manifest,
        controls=controls_shown(control),
        questions=()
        if audience == "public"
        else tuple(
            question
            for who, mine in respondents
            for question in _with_documents(_questions(store, who, mine), table)
        ),
    )


def forms_shown(selection: Selection) -> tuple[FormShown, ...]:
    """The item sets that were asked."""
    return tuple(
        FormShown(
            name=shown_name(item_set),
            id=item_set.id.hex(),
            n_items=item_set.n_items,
            seed=item_set.seed,
            recipe=tuple((name, _shown(value)) for name, value in item_set.recipe.items()),
        )
        for item_set in selection.item_sets
    )


def asked_shown(store: Store, selection: Selection) -> tuple[Asked, ...]:
    """How each respondent of a selection was asked, under the name that pages show."""
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
    """Control completions, where any were made."""
    return () if control is None else tuple(_controls(control))


def _controls(control: ControlReport) -> Iterator[Control]:
    accepted = {prompt.text: prompt.accepted for prompt in control_prompts()}
    for answer in control.answers:
        yield Control(
            label=control.model,
            prompt=answer.prompt,
            reply=answer.reply or answer.error,
            expected=" / ".join(accepted.get(answer.prompt, ())),
            is_as_expected=answer.is_right,
        )


def _label(who: Respondent) -> str:
    return " ".join(part for part in (who.name, who.way, who.settings) if part)


def _asked(store: Store, who: Respondent, runs: Sequence[tuple[int, Run]]) -> Asked:
    calls = [call for key, _run in runs for call in store.runs.some_calls(key) if call.raw]
    shares = [share for key, run in runs for share in shares_of(store, key, run)]
    totals = [store.runs.totals(key) for key, _run in runs]
    logprobs = [value for call in calls if (value := _logprob(call)) is not None]
    n_calls = sum(total.calls for total in totals)
    keys = [key for key, _run in runs]
    spent, pace = store.spent.of_runs(keys), store.paces.of_runs(keys)
    return Asked(
        label=_label(who),
        settings=tuple(_settings(runs[0][1])),
        dropped=calls[0].settings_dropped if calls else (),
        served_models=_distinct(shown_names(share.model for share in shares).values()),
        fingerprints=_distinct(share.fingerprint for share in shares),
        calls=n_calls,
        usage=Usage(
            prompt=sum(total.prompt_tokens for total in totals),
            completion=sum(total.completion_tokens for total in totals),
            reasoning=sum(total.reasoning_tokens for total in totals) or None,
        ),
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


def _questions(
    store: Store, who: Respondent, runs: Sequence[tuple[int, Run]]
) -> list[QuestionShown]:
    """A few questions of each kind of outcome, from the first run that has them."""
    found: list[QuestionShown] = []
    for outcome in ("right", "wrong", "unparsed", "truncated", "refused"):
        for key, run in runs:
            target = Found("run", key, run.id, "")
            shown = show_replies(store, target, outcome=outcome, limit=_PER_OUTCOME)
            shown = [entry for entry in shown if entry.calls[-1].raw]  # the others were purged
            if shown:
                found += [_question(who, entry, entry.scores[0]) for entry in shown]
                break
    return found


def _with_documents(
    questions: Sequence[QuestionShown], table: ScoreTable | None
) -> Iterator[QuestionShown]:
    """The questions, each with the documents that it rests on."""
    known = None if table is None else table.documents
    if table is None or known is None:
        yield from questions
        return
    wanted = {question.item for question in questions}
    names = ((unit, f"item:{short(item)}") for unit, item in enumerate(table.items))
    found = {name: known.of_unit(unit) for unit, name in names if name in wanted}
    for question in questions:
        yield structs.replace(question, documents=found.get(question.item, ()))


def _question(who: Respondent, entry: ShownReply, score: Score) -> QuestionShown:
    call = entry.calls[-1]
    reply = read_reply(call.wire, call.raw)
    return QuestionShown(
        label=_label(who),
        item=f"item:{entry.item}",
        messages=tuple(msgspec.json.decode(call.prompt, type=list[Message])),
        reply=reply.text,
        reasoning=reply.reasoning,
        outcome=score.outcome,
        answer=score.answer,
        basis=score.basis,
        gold=entry.gold,
        value=score.value,
        flags=score.flags,
    )


def _logprob(call: CallRecord) -> float | None:
    return read_reply(call.wire, call.raw).mean_logprob


def _distinct(values: Any) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"{value[0]}-{value[1]}" if value[0] != value[1] else str(value[0])
    return str(value)


# From runs to their leaderboard, with the cards of their models.


class BoardMade(NamedTuple):
    """A leaderboard, the runs on it, and what the sections of its report are made from."""

    board: Leaderboard
    selection: Selection
    evidence: Evidence


def make_board(
    store: Store,
    config: Callable[[], ModelConfig],
    selection: Selection,
    *,
    family: Callable[[str], str],
    group_by: str = "",
    where: str | Sequence[str] = (),
    card_columns: Sequence[str] = (),
    view: View = CURRENT,
    seed: int = 0,
    audience: Audience = "internal",
    **options: Any,
) -> BoardMade:
    """The leaderboard of a selection, the runs that stand on it, and what its report is made from.

    Where cards are asked for (to group, filter or show), a model of which none was kept has the
    one of ``config``, and notes say what is behind the cards. Raises BadUsage for a field that is
    none, NotFound where the filter leaves nobody. For ``audience`` see
    ``page.audience.table_for``.
    """
    texts = [where] if isinstance(where, str) else list(where)
    conditions = read_where(texts)
    read_columns(card_columns)
    asked = bool(conditions or card_columns or (group_by and read_field(group_by)))
    book = open_book(store, selection, config() if asked else None)
    chosen, left_out = narrowed(selection, book, conditions)
    method = find_method(chosen.method)
    read = with_shared_part(read_scores(store, method, chosen, family=family, view=view))
    names = names_of(read, (run.respondent for _key, run in selection.runs))
    read = with_groups(store, method, chosen.item_sets, carded(read, book))
    table = _boards_shown(read, names, method, audience)
    notes = (
        *newer_forms(store, chosen.item_sets),
        *_shared_part(table),
        *book.retired,
        *(book.notes if asked else ()),
    )
    more = read_more_scores(store, method, chosen, table, view)
    table = with_confidence(table, more)
    board = leaderboard(
        table,
        method.measures,
        method.headline,
        more=more,
        group_by=group_by,
        where=",".join(text for text in texts if text),
        left_out=left_out,
        notes=notes,
        **options,
    )
    plans = plan_marks(store, chosen.runs)
    board = structs.replace(board, as_scored=view.as_scored, plans=plans)
    board = board_with(board, names)
    measure = headline(method)
    evidence = Evidence(
        board=board,
        sheet=Sheet.of(table, measure),
        statements=_statements(method, more),
        estimand=options.get("estimand", "knowledge"),
        seed=seed,
        upkeep=upkeep_of(store, chosen, table, view),
    )
    return BoardMade(board, chosen, evidence)


def _shared_part(table: ScoreTable) -> tuple[str, ...]:
    """That all were asked one part of the form, where they were."""
    parts = {who.part for who in table.respondents}
    part = next(iter(parts)) if len(parts) == 1 else None
    if part is None or part.unasked:
        return ()
    return (say("All models were asked only {part}. The same command without that option asks "
                "the rest.",
                part=part_name(part)),)  # fmt: skip


def _statements(method: Method, more: Mapping[str, ScoreTable]) -> Sheet | None:
    """The scores of what items are made of, where models were asked for these: by the first other
    measure of a unit of its own."""
    unit = headline(method).unit
    for measure in method.measures:
        if measure.unit != unit and measure.of in more:
            return Sheet.of(more[measure.of], measure)
    return None


def _boards_shown(
    table: ScoreTable, names: Mapping[str, str], method: Method, audience: Audience
) -> ScoreTable:
    """The scores by shown names, for their audience; labels that the method's measures ask for
    stay, since scores are counted by them."""
    labels = {label for measure in method.measures for label in (*measure.golds, measure.says)}
    return table_for(table_with(table, names), audience, keep=labels)


def with_confidence(table: ScoreTable, more: Mapping[str, ScoreTable]) -> ScoreTable:
    """``table`` with what was stated with each of its answers, where its method scores that too
    (``more``, by the name of the scores); NaN where a reply states none."""
    import numpy as np  # noqa: PLC0415 - numpy is not needed to print a help text

    stated = more.get(STATED_CONFIDENCE)
    if stated is None or not len(stated.value):
        return table
    said = dict(zip(_places(stated), stated.value.tolist(), strict=True))
    found = np.array([said.get(place, np.nan) for place in _places(table)], dtype=np.float64)
    return table if np.isnan(found).all() else replace(table, confidence=found)


def _places(table: ScoreTable) -> list[tuple[int, int, int]]:
    """The respondent, unit and sample of each row; both tables count units alike."""
    columns = (table.respondent.tolist(), table.unit.tolist(), table.sample.tolist())
    return list(zip(*columns, strict=True))
