"""``show ID``: any row whole, with the rows that it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from proofstone.browse.show_item import describe
from proofstone.browse.show_source import describe_page
from proofstone.build.funnel import describe_build
from proofstone.errors import TextPurged
from proofstone.ingest.pages import find_page
from proofstone.method import find_method
from proofstone.records.calls import CallRecord, Message
from proofstone.records.ids import short
from proofstone.records.items import PROMPT, PROMPT_NAME, own_prompt_of
from proofstone.records.runs import Run, replies_wanted, run_label
from proofstone.results.plan import describe_plan
from proofstone.results.trace import PURGED, Ancestry, call_line, replies_of
from proofstone.run.judges import judges_of_reply, verdict_lines
from proofstone.run.run_facts import note_of_run, plan_sentence
from proofstone.session.dates import minute
from proofstone.session.description import Ancestor, Description
from proofstone.session.targets import (
    call_id,
    find_call,
    find_response,
    find_score,
    response_id,
    score_id,
)
from proofstone.store.lookup import Found
from proofstone.store.provenance import CallTrace, held_by
from proofstone.store.purge import derived_rows
from proofstone.store.runs import Failure
from proofstone.store.store import Store

# Statistics of a bank or a form: its method counts, rows are read page by page.


_SERVED = 8  # responses of one call that are listed


def look(store: Store, text: str, *, limit: int = 3) -> Description:
    """The row that ``text`` names (``kind:digits``, a name, digits) with its ancestors.

    Raises NotFound and BadUsage as ``Lookup.find`` does; a row whose text was purged is shown
    without it.
    """
    kind, _colon, rest = text.partition(":")
    special: dict[str, Callable[[Store, str], Description]] = {
        "page": _page,
        "response": _response,
        "call": _call,
        "score": _score,
    }
    if kind in special:
        return special[kind](store, rest)
    return look_at(store, store.lookup.find(text), limit=limit)


def look_at(store: Store, found: Found, *, limit: int = 3) -> Description:
    """The same for a row with a hash that was found already."""
    if found.kind == "build":
        return describe_build(store, found)[0]
    if found.kind == "plan":
        return describe_plan(store, found)
    if found.kind == "run":
        described = _run(store, found)
    elif found.kind == "scoring":
        described = _scoring(store, found)
    else:
        try:
            described = describe(store, found, limit=limit)
        except TextPurged:
            described = _purged(store, found)
    if found.kind == "source":
        described = structs.replace(described, lines=(*described.lines, *_tombstones(store, found)))
    return _with(described, Ancestry(store).of_row(found))


def _with(described: Description, ancestors: Iterable[Ancestor]) -> Description:
    return structs.replace(described, ancestors=tuple(ancestors))


# ---------------------------------------------------------------- rows without a hash


def _response(store: Store, rest: str) -> Description:
    response = find_response(store, rest)
    item = store.lookup.find(f"item:{response.item.hex()}")
    run_key, run = store.runs.run(response.run)
    record = store.calls.call(response.call)
    described = Description(
        title=response_id(response),
        lines=(
            ("model", run_label(run)),
            ("sample", str(response.sample)),
            ("step", response.step),
            *_scores_of(store, run_key, run, item, response.sample),
        ),
        texts=(
            _question(store, item),
            *_bodies(record),
            *(_read_of(store, run_key, run, item, response.sample) if record.raw else ()),
            *judges_of_reply(store, run_key, item.key, response.sample),
            *_verified_of(store, run_key, run, item, response.sample),
        ),
    )
    return _with(described, Ancestry(store).of_response(response, item))


def _read_of(store: Store, key: int, run: Run, item: Found, sample: int) -> tuple[str, ...]:
    """What a method that elicits tells of the replies to an item; nothing of another's."""
    method = find_method(run.method)
    if method.verifying is None:
        return ()
    replies = replies_of(store, key, item.key, sample)
    if run.last_step not in replies:
        return ()
    told = method.verifying.show_reply(store.items.one(item.key), replies)
    return (f"--- what was read of it\n{told}",)


def _verified_of(store: Store, key: int, run: Run, item: Found, sample: int) -> Iterator[str]:
    """What was verified of a reply; nothing of a method that verifies nothing."""
    verifying = find_method(run.method).verifying
    if verifying is not None:
        yield from verifying.verdicts_shown(store, key, item.key, sample)


def _scores_of(store: Store, key: int, run: Run, item: Found, sample: int) -> list[tuple[str, str]]:
    current = store.scores.current(key)
    if current is None:
        return []
    scores = store.traces.scores(current.key, item.key)
    if find_method(run.method).verifying is not None:  # what was read of it tells the others
        scores = [score for score in scores if score.unit == "item"]
    return [
        ("score", f"{score_id(score)}  {score.outcome}{_value(score.value)}")
        for score in scores
        if score.sample == sample
    ]


def _score(store: Store, rest: str) -> Description:
    scoring, score, item = find_score(store, rest)
    run_key, run = store.runs.run(scoring.run)
    lines = [
        ("measure", score.measure),
        ("outcome", f"{score.outcome}{_value(score.value)}"),
        ("extracted", f"{score.answer!r} by {score.basis}" if score.answer else "nothing"),
        ("right", f"{score.gold}, of {score.n_choices}" if score.n_choices else score.gold),
        ("flags", score.flags),
        ("model", run_label(run)),
    ]
    replies = [
        text
        for response in store.traces.responses(run_key, item.key)
        if response.sample == score.sample
        for text in _bodies(store.calls.call(response.call))[-1:]
    ]
    judged = ["\n".join(verdict_lines(score.verdict))] if score.verdict is not None else []
    described = Description(
        title=score_id(score),
        lines=tuple((name, value) for name, value in lines if value),
        texts=(_question(store, item), *replies, *judged),
    )
    return _with(described, Ancestry(store).of_score(score, scoring, item))


def _page(store: Store, rest: str) -> Description:
    page = find_page(store, rest)
    source = store.lookup.find(f"source:{page.source.hex()}")
    return _with(describe_page(store, page), Ancestry(store).of_row(source))


def _call(store: Store, rest: str) -> Description:
    call = find_call(store, rest)
    record = store.calls.call(call.key)
    described = Description(
        title=call_id(call), lines=tuple(_call_lines(call, record)), texts=tuple(_bodies(record))
    )
    ancestry = Ancestry(store)
    served = store.traces.served_by(call.key, _SERVED)
    rows = [
        Ancestor(depth=0, kind="response", id=response_id(each), text="asked for this")
        for each in served
    ]
    if served:  # the same request has the same question behind it
        item = store.lookup.find(f"item:{served[0].item.hex()}")
        rows += [each for each in ancestry.of_response(served[0], item) if each.kind != "call"]
    return _with(described, rows)


def _call_lines(call: CallTrace, record: CallRecord) -> list[tuple[str, str]]:
    cost = "" if record.cost_usd is None else f"{record.cost_usd:.6f} USD"
    usage = [f"{name} {n}" for name, n in structs.asdict(record.usage).items() if n is not None]
    lines = [
        ("request", call.request.hex()),
        ("state", f"{record.state}  {call_line(record)}"),
        ("purpose", record.purpose),
        ("model", f"{record.model} at {record.endpoint}"),
        ("settings", _settings(record.settings_sent)),
        ("dropped", ", ".join(record.settings_dropped)),
        ("tokens", ", ".join(usage)),
        ("cost", cost),
        ("attempts", str(record.attempts)),
        ("status", str(record.status or "")),
        ("error", f"{record.error} {record.detail}".strip()),
        ("prompt", record.prompt_hash.hex()),
    ]
    return [(name, value) for name, value in lines if value]


def _bodies(record: CallRecord) -> list[str]:
    """What was sent and what came, as texts."""
    texts: list[str] = []
    sent = msgspec.json.decode(record.prompt, type=list[Message]) if record.prompt else []
    texts += [f"--- sent, {message.role}\n{message.text}" for message in sent]
    if not record.prompt:
        texts.append(f"--- sent\n{PURGED}")
    raw = record.raw.decode("utf-8", "replace")
    return [*texts, f"--- raw reply\n{raw or (PURGED if record.state == 'complete' else 'none')}"]


def _question(store: Store, item: Found) -> str:
    head = "--- question, as people read it\n"
    try:
        loaded = store.items.one(item.key)
    except TextPurged:
        return head + PURGED
    return head + find_method(loaded.item.kind.partition(".")[0]).show(loaded)


# ---------------------------------------------------------------- rows with a hash


def _run(store: Store, found: Found) -> Description:
    key, run = store.runs.run(found.id)
    totals = store.runs.totals(key)
    cost = "no price known" if totals.unpriced else f"{totals.cost_usd:.4f} USD"
    lines = [
        ("run", run.id.hex()),
        ("model", run.respondent),
        ("way", run.way),
        ("own prompt", own_prompt_of(run.settings)),
        ("settings", _settings(_others(run.settings))),
        ("replicate", run.replicate),
        ("plan", plan_sentence(store, key, run)),
        ("prompts", run.prompt_hash.hex()),
        ("replies", f"{store.runs.count_done(key, run.last_step)} of {_total(store, run)}"),
        ("cost", f"{totals.calls} calls, {cost}"),
        *_failed(store, key, run),
    ]
    for scoring in store.scores.begun(key):
        whole = "" if scoring.completed_at else ", not whole"
        text = f"scorer {scoring.scorer_version}, {minute(scoring.created_at)}{whole}"
        verifying = find_method(scoring.method).verifying if scoring.settings else None
        if verifying is not None:
            counts = verifying.counts_shown(store, scoring.key) or "nothing verified yet"
            against = verifying.settings_shown(scoring.settings)
            text += f"; by {against['judges']}, against {against['reference']}: {counts}"
        lines.append(("scoring", f"scoring:{short(scoring.id)}  {text}"))
    texts = (_own_prompt(store, run), note_of_run(store, found))
    return Description(
        title=f"run:{short(found.id)}",
        lines=tuple((name, value) for name, value in lines if value),
        texts=tuple(text for text in texts if text),
    )


def _own_prompt(store: Store, run: Run) -> str:
    """The template that a run was asked by, empty where it was the method's own."""
    own = own_prompt_of(run.settings)
    if not own:
        return ""
    text = store.own_prompts.text(bytes.fromhex(run.settings[PROMPT]))
    return f"--- own prompt, {own}\n{PURGED if text is None else text}"


def _others(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without what says which template asked."""
    return {name: settings[name] for name in settings if name not in (PROMPT, PROMPT_NAME)}


def _failed(store: Store, key: int, run: Run) -> Iterator[tuple[str, str]]:
    """Why replies are missing: each kind of error with its count, and one of its calls."""
    by_kind: dict[str, list[Failure]] = {}
    for failure in store.runs.failures(key, run.last_step):
        by_kind.setdefault(failure.error, []).append(failure)
    for kind, failures in sorted(by_kind.items()):
        newest = store.traces.call(store.traces.failed_calls(key, failures[-1].item)[-1])
        detail = f" {failures[-1].detail}".rstrip()
        yield "failed", f"{len(failures)} by {kind}{detail}   look: {call_id(newest)}"


def _total(store: Store, run: Run) -> int:
    return replies_wanted(run, store.items.item_set(run.item_set).n_items)


def _scoring(store: Store, found: Found) -> Description:
    scoring = store.scores.one(found.id)
    run_key, _record = store.runs.run(scoring.run)
    current = store.scores.current(run_key)
    state = "current" if current is not None and current.key == scoring.key else "an older one"
    lines = [
        ("scoring", scoring.id.hex()),
        ("state", state if scoring.completed_at else "not whole"),
        ("method", f"{scoring.method}, scorer {scoring.scorer_version}"),
        ("judge", scoring.judge),
        ("made", minute(scoring.created_at)),
    ]
    verifying = find_method(scoring.method).verifying if scoring.settings else None
    if verifying is not None:
        drawn = verifying.settings_shown(scoring.settings)["drawn"]
        counts = verifying.counts_shown(store, scoring.key)
        lines += [("drawn", drawn), (f"{verifying.called}s", counts)]
    return Description(
        title=f"scoring:{short(found.id)}",
        lines=tuple((name, value) for name, value in lines if value),
    )


def _purged(store: Store, found: Found) -> Description:
    """What is left of a row: its id, and where more is known."""
    lines = [(found.kind, found.id.hex()), ("text", PURGED)]
    if found.kind == "form":
        lines.insert(1, ("questions", str(store.items.item_set(found.id).n_items)))
    return Description(title=found.name or f"{found.kind}:{short(found.id)}", lines=tuple(lines))


def _tombstones(store: Store, found: Found) -> list[tuple[str, str]]:
    """Who purged a source, when and why; and what held it."""
    stones = store.tombstones.of_source(found.id)
    if not stones:
        return []
    with store.database.reading() as connection:
        facts, items = derived_rows(connection, found.key)
        holders = list(held_by(connection, facts, items))
    lines = [("tombstone", str(stone)) for stone in stones]
    for holder in holders:
        name = f"{holder.kind}:{short(holder.id)}  {holder.name}"
        lines.append(("held by", f"{name}   {holder.n} of {holder.total}"))
    return lines


def _settings(settings: Any) -> str:
    return "  ".join(f"{name}={value}" for name, value in settings.items())


def _value(value: float | None) -> str:
    return "" if value is None else f"   value {value:g}"
