"""Trace a row to its origins: response, question, facts, passage, page and source.

Every line names a row by an id that ``show`` accepts. Permanently deleted rows are marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from proofstone.errors import NotFound
from proofstone.method import Method, find_method
from proofstone.models.responses import read_response
from proofstone.models.simulator import stored_name
from proofstone.records.calls import CallRecord, Message
from proofstone.records.ids import canonical_json, short
from proofstone.records.items import ItemSet, LoadedItem
from proofstone.records.reviews import Correction, Override
from proofstone.records.runs import Response, Run, Score, asked_as, run_label
from proofstone.results.table import headline
from proofstone.run.context_texts import shown_to
from proofstone.run.forms import select_runs
from proofstone.run.judges import verdict_lines
from proofstone.session.session import call_id, response_id, response_name
from proofstone.session.terminal import Ancestor, minute
from proofstone.store.lookup import Found
from proofstone.store.payloads import ids_in, is_purged
from proofstone.store.provenance import (
    CallTrace,
    FactTrace,
    ResponseTrace,
    ScoreTrace,
)
from proofstone.store.scores import ScoringInfo
from proofstone.store.store import Store

PURGED = "(purged)"


_SHOWN = 72  # characters of a text in one line


_STEPS = 4  # generations of facts that name facts


class Ancestry:
    """Trace rows of one store to their origins."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._purged = {stone.source for stone in store.tombstones.in_force()}

    def of_row(self, found: Found) -> Iterator[Ancestor]:
        """Yield the origins of a row with a hash."""
        if found.kind == "run":
            yield from self.of_run(found.id)
        elif found.kind == "form":
            yield from self._of_form(self._store.items.item_set(found.id), 0)
        elif found.kind == "item":
            yield from self.of_item(found.key)
        elif found.kind == "scoring":
            yield from self._run(self._store.scores.one(found.id).run, 0)
        elif found.kind == "fact":
            fact = self._store.traces.fact(found.id)
            if fact is not None:
                yield from self._of_fact(fact, 0)
        elif found.kind == "passage":
            passage = self._store.knowledge.passage(found.id)
            if passage is not None:
                yield self._source(passage.source, 0)

    def of_score(self, score: ScoreTrace, scoring: ScoringInfo, item: Found) -> Iterator[Ancestor]:
        """Yield the scoring, the responses with calls and run, and the question with its facts."""
        text = f"scorer {scoring.scorer_version} of {scoring.method}, {minute(scoring.created_at)}"
        yield self._row(0, "scoring", f"scoring:{short(scoring.id)}", text)
        run_key, _run = self._store.runs.run(scoring.run)
        responses = self._store.traces.responses(run_key, item.key)
        for response in responses:
            if response.sample == score.sample:
                yield self._row(0, "response", response_id(response), f"step {response.step}")
                yield self.call(self._store.traces.call(response.call), 1)
                yield from self._shown(response.call, 2)
        yield from self._run(scoring.run, 0)
        yield from self._item(item.key, score.item, 0)

    def of_response(self, response: ResponseTrace, item: Found) -> Iterator[Ancestor]:
        """Yield the call, the retrieved passages in its prompt, the run and the question."""
        yield self.call(self._store.traces.call(response.call), 0)
        yield from self._shown(response.call, 1)
        yield from self._run(response.run, 0)
        yield from self._item(item.key, response.item, 0)

    def of_run(self, run: bytes) -> Iterator[Ancestor]:
        """Yield the form and bank."""
        _key, record = self._store.runs.run(run)
        form = self._store.items.item_set(record.item_set)
        yield self._form(form, 0)
        yield from self._of_form(form, 1)

    def of_item(self, key: int, depth: int = 0) -> Iterator[Ancestor]:
        """Yield the item that it corrects, and its facts with their origins."""
        before = self._store.traces.corrected_item(key)
        if before is not None:
            yield self._row(depth, "item", f"item:{short(before)}", "the version before")
        for fact in self._store.traces.facts_of_item(key):
            yield self._fact(fact, depth)
            yield from self._of_fact(fact, depth + 1)

    def call(self, call: CallTrace, depth: int) -> Ancestor:
        """Return a call as one line."""
        record = self._store.calls.call(call.key)
        return self._row(depth, "call", call_id(call), call_line(record))

    def _shown(self, call: int, depth: int) -> Iterator[Ancestor]:
        """Yield the retrieved passages in a call's prompt, best first."""
        for shown in shown_to(self._store.calls.call(call).prompt):
            try:
                found = self._store.lookup.find(shown.passage, ("passage",))
            except NotFound:
                text = f"characters {shown.start} to {shown.end}  (not here)"
                yield self._row(depth, "passage", shown.passage, text)
                continue
            passage = self._store.knowledge.passage(found.id)
            if passage is None:
                continue
            page = "" if passage.page is None else f"page {passage.page}, "
            text = _cut(passage.text[shown.start : shown.end]) if passage.text else PURGED
            place = f"{page}shown from character {shown.start} to {shown.end}"
            yield self._row(depth, "passage", f"passage:{short(found.id)}", f"{place}  {text}")
            yield self._source(passage.source, depth + 1)

    # ---- rows in a line

    def _row(self, depth: int, kind: str, identity: str, text: str) -> Ancestor:
        return Ancestor(depth=depth, kind=kind, id=identity, text=text)

    def _run(self, run: bytes, depth: int) -> Iterator[Ancestor]:
        _key, record = self._store.runs.run(run)
        text = run_label(record)
        yield self._row(depth, "run", f"run:{short(run)}", text)
        form = self._store.items.item_set(record.item_set)
        yield self._form(form, depth + 1)
        yield from self._of_form(form, depth + 2)

    def _form(self, form: ItemSet, depth: int) -> Ancestor:
        seed = "" if form.seed is None else f", seed {form.seed}"
        text = f"{form.name}, {form.n_items} questions{seed}"
        return self._row(depth, "form", f"form:{short(form.id)}", text)

    def _of_form(self, form: ItemSet, depth: int) -> Iterator[Ancestor]:
        if form.bank is not None:
            name = self._store.knowledge.bank(form.bank).name
            yield self._row(depth, "bank", f"bank:{short(form.bank)}", name)

    def _item(self, key: int, identity: bytes, depth: int) -> Iterator[Ancestor]:
        yield self._row(depth, "item", f"item:{short(identity)}", "the question")
        yield from self.of_item(key, depth + 1)

    def _fact(self, fact: FactTrace, depth: int) -> Ancestor:
        return self._row(depth, "fact", f"fact:{short(fact.id)}", fact_text(fact.payload))

    def _of_fact(self, fact: FactTrace, depth: int, steps: int = _STEPS) -> Iterator[Ancestor]:
        """Yield passage and source, then the facts that it corrects or names, with their
        origins."""
        passage = None if fact.passage is None else self._store.knowledge.passage(fact.passage)
        if passage is not None:
            page = "" if passage.page is None else f"page {passage.page}, "
            place = f"{page}characters {passage.start} to {passage.end}"
            text = f"{place}  {_cut(passage.text) if passage.text else PURGED}"
            yield self._row(depth, "passage", f"passage:{short(passage.id)}", text)
            yield self._source(passage.source, depth + 1)
        elif fact.source is not None:
            yield self._source(fact.source, depth, fact.page)
        named = [fact.corrects] if fact.corrects else []
        for identity in dict.fromkeys([*named, *ids_in(fact.payload)]):
            before = self._store.traces.fact(identity) if steps else None
            if before is not None:
                yield self._fact(before, depth)
                if (before.source, before.passage) != (fact.source, fact.passage):
                    yield from self._of_fact(before, depth + 1, steps - 1)

    def _source(self, identity: bytes, depth: int, page: str = "") -> Ancestor:
        source = self._store.knowledge.sources([identity])[identity]
        text = source.title + (f", page {page}" if page else "")
        text += f"  {source.origin}" if "://" in source.origin else ""
        text += f"  {PURGED}" if identity in self._purged else ""
        return self._row(depth, "source", f"source:{short(identity)}", text)


def call_line(record: CallRecord) -> str:
    """Return a call as one line: model, tokens, latency and time; or the error."""
    if record.state == "failed":
        return f"failed: {record.error}, {minute(record.started_at)}"
    tokens = f"{record.usage.prompt} + {record.usage.completion} tokens"
    reported = record.reported_model or record.model
    gone = "" if record.raw else f"  {PURGED}"
    return f"{reported}, {tokens}, {record.latency_s:.2f} s, {minute(record.started_at)}{gone}"


def fact_text(payload: bytes) -> str:
    """Return a fact as one line: its claims and text, for any method."""
    if is_purged(payload):
        return PURGED
    fields = msgspec.json.decode(payload)
    flags = {name: value for name, value in fields.items() if isinstance(value, bool)}
    claims = [name if value else f"not {name}" for name, value in flags.items()]
    texts = [v for name, v in fields.items() if isinstance(v, str) and v and name != "type"]
    text = fields.get("text") or (texts[0] if texts else "")
    return ": ".join([*claims, _cut(str(text))])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "\u2026"


# History of a fact, item or form, and overrides, as lines for readers.

_VERBS = {"edit": "edited", "exclude": "excluded", "include": "included"}


def history_lines(store: Store, found: Found) -> list[tuple[str, str]]:
    """Return the version that a row corrects, its corrections (oldest first) and newer versions.

    Each line is a pair of label and details.
    """
    former = store.corrections.former(found.kind, found.key)
    lines = [] if former is None else [("corrects", f"{found.kind}:{short(former)}")]
    lines += [
        (_VERBS[done.action], _told(done)) for done in store.corrections.of(found.kind, found.key)
    ]
    newer = store.corrections.newer(found.kind, found.key)
    return lines + [("corrected by", f"{found.kind}:{short(identity)}") for identity in newer]


def override_line(override: Override) -> str:
    """Return ``overridden correct by actor 3f2a77c0, 2026-03-01 14:05 UTC: reason``."""
    by = f"by actor {short(override.actor)}, {minute(override.at)}"
    return f"ruled {override.verdict} {by}: {override.reason}"


def _told(done: Correction) -> str:
    return f"by actor {short(done.actor)}, {minute(done.at)}: {done.reason}"


# Scored replies with all that led to them: question, prompt, raw response, what was read, scores.


_PURGED_PROMPT = canonical_json([{"content": PURGED, "role": "user"}])


class ShownResponse(Struct, frozen=True, kw_only=True):
    """One scored response with its origins."""

    run: str
    model: str
    prompt_method: str
    item: str
    sample: int
    question: str
    answer_key: str
    calls: tuple[CallRecord, ...]
    scores: tuple[Score, ...]
    response: str = ""
    overrides: tuple[Override, ...] = ()
    read: str = ""  # what was read of it, where a method tells
    verified: tuple[str, ...] = ()  # what was verified of it, a text each scoring

    def __str__(self) -> str:
        head = f"response:{self.response}  {self.model} {self.prompt_method}"
        parts = [head, "", "--- question, as people read it", self.question]
        for call in self.calls:
            for message in msgspec.json.decode(call.prompt, type=list[Message]):
                parts += ["", f"--- sent, {message.role}", message.text]
            parts += ["", f"--- raw response ({_took(call)})", call.raw.decode(errors="replace")]
        scores = self.scores
        if self.read:
            parts += ["", "--- what was read of it", self.read]
            scores = scores[:1]  # of the item; what was read tells the others
        parts += ["", *(line for score in scores for line in _score_lines(score))]
        parts += [f"\n{text}" for text in self.verified]
        parts += [f"--- {override_line(override)}" for override in self.overrides]
        return "\n".join(parts)


def show_responses(
    store: Store,
    target: Found,
    *,
    models: Sequence[str] = (),
    outcome: str | None = None,
    limit: int = 3,
) -> list[ShownResponse]:
    """Return up to ``limit`` scored responses of a target's runs, in the order of the questions.

    ``outcome`` is the name of an outcome, "right" (value 1) or "wrong" (answered, value below 1),
    before overrides; or "ruled" for overridden responses. Raises NotFound for a model without a
    run.
    """
    selection = select_runs(store, [target])
    known = {run.respondent for _key, run in selection.runs}
    models = list(map(stored_name, models))
    for model in models:
        if model not in known:
            raise NotFound(
                f"{model} was not asked here", hint=f"there is: {', '.join(sorted(known))}"
            )
    shown: list[ShownResponse] = []
    for key, run in selection.runs:
        if not models or run.respondent in models:
            shown += _responses_of(store, key, run, outcome, limit - len(shown))
        if len(shown) >= limit:
            break
    return shown


def _responses_of(
    store: Store, key: int, run: Run, outcome: str | None, limit: int
) -> Iterator[ShownResponse]:
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

    if outcome == "overridden":
        overridden = store.overrides.in_force([key])
        places = [(one.item, one.sample) for one in overridden[: max(limit, 0)]]
    else:
        places = store.scores.places(current.key, measure, outcomes, right, limit)
    scores = store.scores.of_items(current.key, [item for item, _sample in places])
    for item, sample in places:
        calls = [call for s, _step, call in store.runs.calls_of_item(key, item) if s == sample]
        if not all(call.raw for call in calls):
            yield _purged_response(store, run, item, sample, calls, scores)
            continue
        loaded = store.items.one(item)
        found = [scores[k] for k in scores if k[:2] == (item, sample)]
        yield ShownResponse(
            run=short(run.id),
            model=run.respondent,
            prompt_method=asked_as(run),
            item=short(loaded.item.id),
            sample=sample,
            question=method.show(loaded),
            answer_key=_answer_key(method, loaded, run.last_step, calls[-1], sample),
            calls=tuple(calls),
            scores=tuple(sorted((s for group in found for s in group), key=is_other)),
            response=response_name(run.id, loaded.item.id, sample),
            overrides=tuple(_overrides(store, key, item, sample, run.last_step)),
            read=verifying.show_response(loaded, responses_of(store, key, item, sample))
            if verifying
            else "",
            verified=tuple(verifying.verdicts_shown(store, key, item, sample)) if verifying else (),
        )


def responses_of(store: Store, run: int, item: int, sample: int) -> dict[str, Response]:
    """Return the responses to an item in one sample of a run, by step."""
    return {
        step: read_response(call.wire, call.raw)
        for at, step, call in store.runs.calls_of_item(run, item)
        if at == sample
    }


def _overrides(store: Store, run: int, item: int, sample: int, step: str) -> Iterator[Override]:
    """Yield all overrides of a response, oldest first; the last one applies."""
    for response in store.responses.of_item(run, item, step):
        if response.sample == sample:
            yield from store.overrides.over(response)


def _purged_response(
    store: Store,
    run: Run,
    item: int,
    sample: int,
    calls: Sequence[CallRecord],
    scores: Mapping[tuple[int, int, str], list[Score]],
) -> ShownResponse:
    """Return what is left of a response whose texts were permanently deleted."""
    return ShownResponse(
        run=short(run.id),
        model=run.respondent,
        prompt_method=asked_as(run),
        item=short(store.traces.item_id(item)),
        sample=sample,
        question=PURGED,
        answer_key="",
        calls=tuple(
            msgspec.structs.replace(call, prompt=call.prompt or _PURGED_PROMPT) for call in calls
        ),
        scores=tuple(s for k in scores if k[:2] == (item, sample) for s in scores[k]),
    )


def _answer_key(
    method: Method, loaded: LoadedItem, step: str, call: CallRecord, sample: int
) -> str:
    """Return the answer key of an item or of its separately answered parts; empty without one."""
    responses = {step: read_response(call.wire, call.raw)}
    units = method.units(loaded, responses, sample)
    parts = [method.answer_key(unit)[0] for unit in units if unit.kind != "item"]
    return ", ".join(parts) if parts else method.answer_key(units[0])[0] if units else ""


def _took(call: CallRecord) -> str:
    date = minute(call.started_at)
    tokens = f"{call.usage.prompt} + {call.usage.completion} tokens"
    return f"{call.reported_model or call.model}, {tokens}, {call.latency_s:.2f} s, {date}"


def _score_lines(score: Score) -> Iterator[str]:
    """Yield the score, and the responses of its judges."""
    extracted = (
        f"extracted {score.answer!r} by {score.basis}" if score.answer else "nothing extracted"
    )
    flags = f"   [{', '.join(score.flags)}]" if score.flags else ""
    value = "" if score.value is None else f"   value {score.value:g}"
    yield f"--- {score.measure}: {score.outcome}{value}   {extracted}{flags}"
    if score.verdict is not None:
        yield from verdict_lines(score.verdict)
