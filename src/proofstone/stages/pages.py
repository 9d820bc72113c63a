"""What a results page shows beside the leaderboard: how each was asked, and examples to check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import structs

from proofstone import __version__
from proofstone.engines.models import read_reply
from proofstone.engines.models.control import control_prompts
from proofstone.engines.store import Found, Store
from proofstone.identity import short
from proofstone.ports import CallRecord, Method
from proofstone.records import (
    ANSWER_FORMAT,
    CONTEXT_SETTINGS,
    OUR_SETTINGS,
    Message,
    Respondent,
    Run,
    Score,
    ScoreTable,
    Usage,
    own_prompt_of,
)
from proofstone.records.audience import Audience
from proofstone.records.model_names import shown_names
from proofstone.report import (
    Asked,
    Control,
    FormShown,
    Leaderboard,
    PageData,
    Provenance,
    QuestionShown,
)
from proofstone.report.opening import Opening
from proofstone.report.sections import Section
from proofstone.report.trust import TrustLine
from proofstone.stages.control import ControlReport
from proofstone.stages.corrected import CURRENT, View
from proofstone.stages.dates import minute
from proofstone.stages.inspection import ShownReply, show_replies
from proofstone.stages.manifests import OWN_PROMPT, read_manifest
from proofstone.stages.served import shares_of
from proofstone.stages.summarise import Selection, respondents_of, shown_name

__all__ = ["asked_shown", "controls_shown", "forms_shown", "page_data"]

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
