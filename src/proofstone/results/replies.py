"""Scored replies with all that led to them: question, prompt, raw reply, what was read, scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from proofstone.errors import NotFound
from proofstone.method import Method, find_method
from proofstone.models.replies import read_reply
from proofstone.records.calls import CallRecord, Message
from proofstone.records.ids import canonical_json, short
from proofstone.records.items import LoadedItem
from proofstone.records.reviews import Ruling
from proofstone.records.runs import Reply, Run, Score, asked_as
from proofstone.results.table import headline
from proofstone.results.trace import PURGED, ruling_line
from proofstone.run.forms import select_runs
from proofstone.run.judges import verdict_lines
from proofstone.session.dates import minute
from proofstone.session.targets import response_name
from proofstone.store.lookup import Found
from proofstone.store.store import Store

_PURGED_PROMPT = canonical_json([{"content": PURGED, "role": "user"}])


class ShownReply(Struct, frozen=True, kw_only=True):
    """One scored reply with all that led to it."""

    run: str
    model: str
    way: str
    item: str
    sample: int
    question: str
    gold: str
    calls: tuple[CallRecord, ...]
    scores: tuple[Score, ...]
    response: str = ""
    rulings: tuple[Ruling, ...] = ()
    read: str = ""  # what was read of it, where a method tells
    verified: tuple[str, ...] = ()  # what was verified of it, a text each scoring

    def __str__(self) -> str:
        head = f"response:{self.response}  {self.model} {self.way}"
        parts = [head, "", "--- question, as people read it", self.question]
        for call in self.calls:
            for message in msgspec.json.decode(call.prompt, type=list[Message]):
                parts += ["", f"--- sent, {message.role}", message.text]
            parts += ["", f"--- raw reply ({_took(call)})", call.raw.decode(errors="replace")]
        scores = self.scores
        if self.read:
            parts += ["", "--- what was read of it", self.read]
            scores = scores[:1]  # of the item; what was read tells the others
        parts += ["", *(line for score in scores for line in _score_lines(score))]
        parts += [f"\n{text}" for text in self.verified]
        parts += [f"--- {ruling_line(ruling)}" for ruling in self.rulings]
        return "\n".join(parts)


def show_replies(
    store: Store,
    target: Found,
    *,
    models: Sequence[str] = (),
    outcome: str | None = None,
    limit: int = 3,
) -> list[ShownReply]:
    """Up to ``limit`` scored replies of a target's runs, in the order of the questions.

    ``outcome`` is an outcome's name, "right" (value 1) or "wrong" (answered, value below 1), as the
    scorer left it; or "ruled": those that people ruled on.
    Raises NotFound for a model that was not asked.
    """
    selection = select_runs(store, [target])
    known = {run.respondent for _key, run in selection.runs}
    for model in models:
        if model not in known:
            raise NotFound(
                f"{model} was not asked here", hint=f"there is: {', '.join(sorted(known))}"
            )
    shown: list[ShownReply] = []
    for key, run in selection.runs:
        if not models or run.respondent in models:
            shown += _replies_of(store, key, run, outcome, limit - len(shown))
        if len(shown) >= limit:
            break
    return shown


def _replies_of(
    store: Store, key: int, run: Run, outcome: str | None, limit: int
) -> Iterator[ShownReply]:
    method = find_method(run.method)
    current = store.scores.current(key)
    if current is None:
        return
    right = {"right": True, "wrong": False}.get(outcome or "")
    outcomes = ("answered", "refused", "unparsed", "truncated")
    if outcome is not None:
        outcomes = ("answered",) if right is not None else (outcome,)  # type: ignore[assignment]
    measure, verifying = headline(method).of, method.verifying

    def is_other(score: Score) -> bool:
        return score.measure != measure

    if outcome == "ruled":
        ruled = store.rulings.in_force([key])
        places = [(one.item, one.sample) for one in ruled[: max(limit, 0)]]
    else:
        places = store.scores.places(current.key, measure, outcomes, right, limit)
    scores = store.scores.of_items(current.key, [item for item, _sample in places])
    for item, sample in places:
        calls = [call for s, _step, call in store.runs.calls_of_item(key, item) if s == sample]
        if not all(call.raw for call in calls):
            yield _purged_reply(store, run, item, sample, calls, scores)
            continue
        loaded = store.items.one(item)
        found = [scores[k] for k in scores if k[:2] == (item, sample)]
        yield ShownReply(
            run=short(run.id),
            model=run.respondent,
            way=asked_as(run),
            item=short(loaded.item.id),
            sample=sample,
            question=method.show(loaded),
            gold=_gold(method, loaded, run.last_step, calls[-1], sample),
            calls=tuple(calls),
            scores=tuple(sorted((s for group in found for s in group), key=is_other)),
            response=response_name(run.id, loaded.item.id, sample),
            rulings=tuple(_rulings(store, key, item, sample, run.last_step)),
            read=verifying.show_reply(loaded, replies_of(store, key, item, sample))
            if verifying
            else "",
            verified=tuple(verifying.verdicts_shown(store, key, item, sample)) if verifying else (),
        )


def replies_of(store: Store, run: int, item: int, sample: int) -> dict[str, Reply]:
    """The replies to an item in one sample of a run, by step."""
    return {
        step: read_reply(call.wire, call.raw)
        for at, step, call in store.runs.calls_of_item(run, item)
        if at == sample
    }


def _rulings(store: Store, run: int, item: int, sample: int, step: str) -> Iterator[Ruling]:
    """All rulings over a reply, oldest first; the last one holds."""
    for response in store.responses.of_item(run, item, step):
        if response.sample == sample:
            yield from store.rulings.over(response)


def _purged_reply(
    store: Store,
    run: Run,
    item: int,
    sample: int,
    calls: Sequence[CallRecord],
    scores: Mapping[tuple[int, int, str], list[Score]],
) -> ShownReply:
    """What is left of a reply whose texts were purged."""
    return ShownReply(
        run=short(run.id),
        model=run.respondent,
        way=asked_as(run),
        item=short(store.traces.item_id(item)),
        sample=sample,
        question=PURGED,
        gold="",
        calls=tuple(
            msgspec.structs.replace(call, prompt=call.prompt or _PURGED_PROMPT) for call in calls
        ),
        scores=tuple(s for k in scores if k[:2] == (item, sample) for s in scores[k]),
    )


def _gold(method: Method, loaded: LoadedItem, step: str, call: CallRecord, sample: int) -> str:
    """The right label of an item, or those of its parts where each was answered by itself; empty
    where units have none."""
    replies = {step: read_reply(call.wire, call.raw)}
    units = method.units(loaded, replies, sample)
    parts = [method.gold(unit)[0] for unit in units if unit.kind != "item"]
    return ", ".join(parts) if parts else method.gold(units[0])[0] if units else ""


def _took(call: CallRecord) -> str:
    date = minute(call.started_at)
    tokens = f"{call.usage.prompt} + {call.usage.completion} tokens"
    return f"{call.served_model or call.model}, {tokens}, {call.latency_s:.2f} s, {date}"


def _score_lines(score: Score) -> Iterator[str]:
    """The score, and what judges said who were asked for it."""
    extracted = (
        f"extracted {score.answer!r} by {score.basis}" if score.answer else "nothing extracted"
    )
    flags = f"   [{', '.join(score.flags)}]" if score.flags else ""
    value = "" if score.value is None else f"   value {score.value:g}"
    yield f"--- {score.measure}: {score.outcome}{value}   {extracted}{flags}"
    if score.verdict is not None:
        yield from verdict_lines(score.verdict)
