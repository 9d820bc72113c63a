"""Looking closer: one thing whole, and the exact messages, reply and extraction of a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from proofstone.browse.filtered_import import funnel_sentences
from proofstone.browse.show_source import describe_passage, describe_source
from proofstone.browse.trace import PURGED, history_lines, ruling_line
from proofstone.build.funnel import funnel_sentence
from proofstone.check.semantic_map import stored_map_lines
from proofstone.correct.bank_moves import facts_elsewhere
from proofstone.correct.rule import response_name
from proofstone.errors import NotFound
from proofstone.method import Method, find_method
from proofstone.models.replies import read_reply
from proofstone.records.builds import Build, seats_of
from proofstone.records.calls import CallRecord, Message
from proofstone.records.ids import canonical_json, short
from proofstone.records.items import LoadedItem
from proofstone.records.reviews import Ruling
from proofstone.records.runs import Reply, Run, Score, asked_as
from proofstone.results.table import headline
from proofstone.review.agreement import check_judges
from proofstone.review.section import checked_judges_sentences, review_lines
from proofstone.run.forms import select_runs
from proofstone.run.judges import verdict_lines
from proofstone.session.dates import minute
from proofstone.session.description import Description
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


def describe(store: Store, found: Found, *, limit: int = 3) -> Description:
    """A source, passage, fact, bank, item or form, with what it came from."""
    if found.kind == "item":
        return _describe_item(store, found)
    if found.kind == "bank":
        return _describe_bank(store, found, limit)
    if found.kind == "form":
        return _describe_form(store, found, limit)
    if found.kind == "fact":
        fact = _describe_fact(store, found.id)
        return structs.replace(fact, lines=(*fact.lines, *history_lines(store, found)))
    return (
        describe_source(store, found) if found.kind == "source" else describe_passage(store, found)
    )


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


def _describe_item(store: Store, found: Found) -> Description:
    loaded = store.items.one(found.key)
    method = find_method(loaded.item.kind.partition(".")[0])
    levels = msgspec.structs.astuple(loaded.item.stratum)
    lines = [
        ("item", loaded.item.id.hex()),
        ("id in the file", loaded.label.name),
        ("language", loaded.item.language),
        ("stratum", " / ".join(level for level in levels if level)),
        ("number", str(loaded.item.number)),
        *((name, _plain(value)) for name, value in loaded.label.metadata.items()),
        *history_lines(store, found),
    ]
    return Description(
        title=f"item:{short(found.id)}",
        lines=tuple((name, value) for name, value in lines if name != "id in the file" or value),
        texts=(method.show(loaded),),
    )


def _describe_fact(store: Store, identity: bytes) -> Description:
    fact = store.knowledge.facts_by_id([identity])[identity]
    (built,) = store.knowledge.built_facts([fact])
    payload = msgspec.to_builtins(fact.payload, builtin_types=(bytes,))
    lines = [("fact", fact.id.hex())]
    lines += [(name, _plain(value)) for name, value in payload.items() if value not in ("", None)]
    if built.source is not None:
        lines.append(("source", f"source:{short(built.source.id)}  {built.source.title}"))
        lines.append(("licence", built.source.licence or "not stated"))
    if fact.page:
        lines.append(("page", fact.page))
    if fact.passage is not None and (passage := store.knowledge.passage(fact.passage)) is not None:
        lines.append(("passage", passage.text))
    lines += [(role.role, role.model) for role in built.roles]
    return Description(title=f"fact:{short(identity)}", lines=tuple(lines))


def _describe_bank(store: Store, found: Found, limit: int) -> Description:
    bank = store.knowledge.bank(found.id)
    facts, n_facts = bank.readable_facts(), bank.n_facts()
    books: dict[tuple[str, str], int] = {}
    for fact in facts:
        place = (fact.stratum.book, fact.language)
        books[place] = books.get(place, 0) + 1
    lines = [("bank", found.id.hex()), ("facts", str(n_facts))]
    if len(facts) < n_facts:
        lines.append(("purged", f"{n_facts - len(facts):,} of these"))
    lines += [(f"book {language}", f"{n}  {book}") for (book, language), n in sorted(books.items())]
    for funnel in store.funnels.of_bank(found.id):
        lines += [("funnel", line) for line in funnel_sentences(funnel)]
    for key, build in store.builds.of_bank(found.id):
        counted = store.builds.funnel(key)
        said = "" if counted is None else f"  {funnel_sentence(counted)}"
        lines.append(("build", f"build:{short(build.id)}{said}"))
        lines += _judge_lines(build)
    elsewhere = facts_elsewhere(store, facts)
    if elsewhere:
        follow = f"proofstone edit {found.spelled} --as-placed --reason ..."
        n = f"{len(elsewhere):,} facts stand elsewhere than their source does by now"
        lines.append(("places", f"{n}: {follow}"))
    lines += stored_map_lines(store, found)
    lines += review_lines(store, found)
    if store.reviews.are_of_bank(found.id):  # else all verdicts would be read to say nothing
        checked = checked_judges_sentences(check_judges(store, found))
        lines += [("judges", sentence) for sentence in checked]
    texts = tuple(str(_describe_fact(store, fact.id)) for fact in facts[:limit]) or (PURGED,)
    return Description(title=found.name, lines=tuple(lines), texts=texts)


def _judge_lines(build: Build) -> Iterator[tuple[str, str]]:
    judges = ", ".join(seats_of("judge", build.models).values())
    if judges:
        weighs = f"proofstone show build:{short(build.id)} --judges"
        yield "judged by", f"{judges} (what each said and weighs: {weighs})"


def _describe_form(store: Store, found: Found, limit: int) -> Description:
    form = store.items.item_set(found.id)
    method = find_method(form.method)
    lines = [
        ("form", found.id.hex()),
        (method.items_called, str(form.n_items)),
        ("method", form.method),
    ]
    if form.bank is not None:
        lines += [("bank", f"bank:{short(form.bank)}"), ("seed", str(form.seed))]
    lines += [(name, str(value)) for name, value in form.recipe.items()]
    lines += [*stored_map_lines(store, found), *history_lines(store, found)]
    page = next(store.items.pages(form.id, limit), [])
    texts = [f"item:{short(s.loaded.item.id)}\n{method.show(s.loaded)}" for s in page]
    return Description(title=form.name, lines=tuple(lines), texts=tuple(texts))


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return value.hex() if isinstance(value, bytes) else str(value)


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
