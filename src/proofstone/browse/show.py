"""``show ID``: any row whole, with the rows that it came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import structs

from proofstone.browse.filtered_import import funnel_sentences
from proofstone.build.funnel import build_journal, describe_build, funnel_sentence
from proofstone.check.semantic_map import stored_map_lines
from proofstone.correct.edit import facts_elsewhere
from proofstone.errors import NotFound, TextPurged
from proofstone.ingest.ingest import SURE
from proofstone.ingest.pages import find_page
from proofstone.method import find_method, name_facts
from proofstone.models.simulator import simulated_by
from proofstone.records.builds import Build, slots_of
from proofstone.records.calls import CallRecord, Message
from proofstone.records.ids import short
from proofstone.records.items import PROMPT, PROMPT_NAME, own_prompt_of
from proofstone.records.knowledge import Passage, Source, Stratum, permits_publication
from proofstone.records.pages import (
    Box,
    Page,
    model_that_read,
    naming_request,
    page_ranges,
    requests_named,
)
from proofstone.records.runs import Run, Spent, responses_wanted, run_label
from proofstone.results.plan import describe_plan
from proofstone.results.trace import PURGED, Ancestry, call_line, history_lines, responses_of
from proofstone.review.agreement import check_judges
from proofstone.review.section import checked_judges_sentences, review_lines
from proofstone.run.judges import judges_of_response, verdict_lines
from proofstone.run.run_facts import note_of_run, plan_sentence
from proofstone.session.session import (
    call_id,
    find_call,
    find_response,
    find_score,
    response_id,
    score_id,
)
from proofstone.session.terminal import Ancestor, Description, minute
from proofstone.store.knowledge import PlacedPassage
from proofstone.store.lookup import Found
from proofstone.store.provenance import CallTrace, held_by
from proofstone.store.purge import derived_rows
from proofstone.store.runs import Failure
from proofstone.store.store import Store

_REPORTED = 8  # responses of one call that are listed


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


def _described(
    title: str, lines: Iterable[tuple[str, str]], texts: Iterable[str] = ()
) -> Description:
    """A description without the lines that say nothing."""
    told = tuple((name, value) for name, value in lines if value)
    return Description(title=title, lines=told, texts=tuple(texts))


def _with(described: Description, ancestors: Iterable[Ancestor]) -> Description:
    return structs.replace(described, ancestors=tuple(ancestors))


# Rows without a hash.


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
            *judges_of_response(store, run_key, item.key, response.sample),
            *_verified_of(store, run_key, run, item, response.sample),
        ),
    )
    return _with(described, Ancestry(store).of_response(response, item))


def _read_of(store: Store, key: int, run: Run, item: Found, sample: int) -> tuple[str, ...]:
    """Return what was parsed from the responses to an item; empty unless the method elicits."""
    method = find_method(run.method)
    if method.verifying is None:
        return ()
    responses = responses_of(store, key, item.key, sample)
    if run.last_step not in responses:
        return ()
    told = method.verifying.show_response(store.items.one(item.key), responses)
    return (f"--- what was read of it\n{told}",)


def _verified_of(store: Store, key: int, run: Run, item: Found, sample: int) -> Iterator[str]:
    """Yield the verdicts on a response; none unless the method verifies."""
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
        (
            "right",
            f"{score.answer_key}, of {score.n_choices}" if score.n_choices else score.answer_key,
        ),
        ("flags", score.flags),
        ("model", run_label(run)),
    ]
    responses = [
        text
        for response in store.traces.responses(run_key, item.key)
        if response.sample == score.sample
        for text in _bodies(store.calls.call(response.call))[-1:]
    ]
    judged = ["\n".join(verdict_lines(score.verdict))] if score.verdict is not None else []
    texts = (_question(store, item), *responses, *judged)
    described = _described(score_id(score), lines, texts)
    return _with(described, Ancestry(store).of_score(score, scoring, item))


def _page(store: Store, rest: str) -> Description:
    page = find_page(store, rest)
    source = store.lookup.find(f"source:{page.source.hex()}")
    return _with(describe_page(store, page), Ancestry(store).of_row(source))


def _call(store: Store, rest: str) -> Description:
    call = find_call(store, rest)
    record = store.calls.call(call.key)
    described = _described(call_id(call), _call_lines(call, record), _bodies(record))
    ancestry = Ancestry(store)
    reported = store.traces.reported_by(call.key, _REPORTED)
    rows = [
        Ancestor(depth=0, kind="response", id=response_id(each), text="asked for this")
        for each in reported
    ]
    if reported:  # the same request has the same question behind it
        item = store.lookup.find(f"item:{reported[0].item.hex()}")
        rows += [each for each in ancestry.of_response(reported[0], item) if each.kind != "call"]
    return _with(described, rows)


def _call_lines(call: CallTrace, record: CallRecord) -> list[tuple[str, str]]:
    cost = "" if record.cost_usd is None else f"{record.cost_usd:.6f} USD"
    usage = [f"{name} {n}" for name, n in structs.asdict(record.usage).items() if n is not None]
    return [
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


def _bodies(record: CallRecord) -> list[str]:
    """What was sent and what came, as texts."""
    texts: list[str] = []
    sent = msgspec.json.decode(record.prompt, type=list[Message]) if record.prompt else []
    texts += [f"--- sent, {message.role}\n{message.text}" for message in sent]
    if not record.prompt:
        texts.append(f"--- sent\n{PURGED}")
    raw = record.raw.decode("utf-8", "replace")
    return [
        *texts,
        f"--- raw response\n{raw or (PURGED if record.state == 'complete' else 'none')}",
    ]


def _question(store: Store, item: Found) -> str:
    head = "--- question, as people read it\n"
    try:
        loaded = store.items.one(item.key)
    except TextPurged:
        return head + PURGED
    return head + find_method(loaded.item.kind.partition(".")[0]).show(loaded)


# Rows with a hash.


def _run(store: Store, found: Found) -> Description:
    key, run = store.runs.run(found.id)
    totals = store.runs.totals(key)
    cost = "no price known" if totals.unpriced else f"{totals.cost_usd:.4f} USD"
    own_settings = {
        name: value for name, value in run.settings.items() if name not in (PROMPT, PROMPT_NAME)
    }
    n_items = store.items.item_set(run.item_set).n_items
    done = store.runs.count_done(key, run.last_step)
    lines = [
        ("run", run.id.hex()),
        ("model", run.respondent),
        ("simulated by", _settings(simulated_by(run.respondent)) if run.simulated else ""),
        ("prompt_method", run.prompt_method),
        ("own prompt", own_prompt_of(run.settings)),
        ("settings", _settings(own_settings)),
        ("replicate", run.replicate),
        ("plan", plan_sentence(store, key, run)),
        ("prompts", run.prompt_hash.hex()),
        ("responses", f"{done} of {responses_wanted(run, n_items)}"),
        ("cost", f"{totals.calls} calls, {cost}"),
        ("prefix cache", _prefix_cache(store, key, run)),
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
    return _described(f"run:{short(found.id)}", lines, filter(None, texts))


def _prefix_cache(store: Store, key: int, run: Run) -> str:
    """The share of prompt tokens from the endpoint's cache, empty where it reports none."""
    spent = Spent() if run.simulated else store.spent.of_runs([key])
    if spent.cached_share is None:
        return ""
    return f"{spent.cached_share:.1%} of {spent.cacheable_tokens:,} prompt tokens"


def _own_prompt(store: Store, run: Run) -> str:
    """The template that a run was asked by, empty where it was the method's own."""
    own = own_prompt_of(run.settings)
    if not own:
        return ""
    text = store.own_prompts.text(bytes.fromhex(run.settings[PROMPT]))
    return f"--- own prompt, {own}\n{PURGED if text is None else text}"


def _failed(store: Store, key: int, run: Run) -> Iterator[tuple[str, str]]:
    """Yield each kind of API error with its count and one failed call."""
    by_kind: dict[str, list[Failure]] = {}
    for failure in store.runs.failures(key, run.last_step):
        by_kind.setdefault(failure.error, []).append(failure)
    for kind, failures in sorted(by_kind.items()):
        newest = store.traces.call(store.traces.failed_calls(key, failures[-1].item)[-1])
        detail = f" {failures[-1].detail}".rstrip()
        yield "failed", f"{len(failures)} by {kind}{detail}   look: {call_id(newest)}"


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
    return _described(f"scoring:{short(found.id)}", lines)


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


# Items, facts, banks and forms.


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


_OWN = ("id in the file", "number")  # an item of a file has the one, a composed one the other


def _describe_item(store: Store, found: Found) -> Description:
    loaded = store.items.one(found.key)
    method = find_method(loaded.item.kind.partition(".")[0])
    levels = msgspec.structs.astuple(loaded.item.stratum)
    lines = [
        ("item", loaded.item.id.hex()),
        ("id in the file", loaded.label.name),
        ("language", loaded.item.language),
        ("stratum", " / ".join(level for level in levels if level)),
        ("number", str(loaded.item.number or "0" * bool(loaded.facts))),
        *((name, _plain(value)) for name, value in loaded.label.metadata.items()),
        *history_lines(store, found),
    ]
    return Description(
        title=f"item:{short(found.id)}",
        lines=tuple((name, value) for name, value in lines if name not in _OWN or value),
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
        lines.append(("license", built.source.license or "not stated"))
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
    lines = [("bank", found.id.hex()), (name_facts(bank.kinds()), str(n_facts))]
    if len(facts) < n_facts:
        lines.append(("purged", f"{n_facts - len(facts):,} of these"))
    lines += [(f"book {language}", f"{n}  {book}") for (book, language), n in sorted(books.items())]
    for funnel in store.funnels.of_bank(found.id):
        lines += [("funnel", line) for line in funnel_sentences(funnel)]
    for key, build in store.builds.of_bank(found.id):
        counted = store.builds.funnel(key)
        said = "" if counted is None else f"  {funnel_sentence(counted)}"
        lines.append(("build", f"build:{short(build.id)}{said}"))
        lines += _judge_lines(store, key, build)
    elsewhere = facts_elsewhere(store, facts)
    if elsewhere:
        follow = f"proofstone correct edit {found.spelled} --as-labeled --reason ..."
        n = f"{len(elsewhere):,} facts have other taxonomy labels than their source"
        lines.append(("places", f"{n}: {follow}"))
    lines += stored_map_lines(store, found)
    lines += review_lines(store, found)
    if store.reviews.are_of_bank(found.id):  # else all verdicts would be read to say nothing
        checked = checked_judges_sentences(check_judges(store, found))
        lines += [("judges", sentence) for sentence in checked]
    texts = tuple(str(_describe_fact(store, fact.id)) for fact in facts[:limit]) or (PURGED,)
    return Description(title=found.name, lines=tuple(lines), texts=texts)


def _judge_lines(store: Store, key: int, build: Build) -> Iterator[tuple[str, str]]:
    judges = ", ".join(slots_of("judge", build.models).values())
    if not judges:
        return
    reached, journal = build_journal(store, key)
    if store.outcomes.judged([journal.step(each) for each in reached]):
        weighs = f"proofstone show build:{short(build.id)} --judges"
        judges += f" (what each said and weighs: {weighs})"
    yield "judged by", judges


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
    recipe = {k: v for k, v in form.recipe.items() if v is not None and k != method.items_called}
    lines += [(name, str(value)) for name, value in recipe.items()]
    lines += [*stored_map_lines(store, found), *history_lines(store, found)]
    page = next(store.items.pages(form.id, limit), [])
    texts = [f"item:{short(s.loaded.item.id)}\n{method.show(s.loaded)}" for s in page]
    if (more := form.n_items - len(page)) > 0:
        texts.append(f"... and {more:,} more: proofstone show {found.spelled} -n {form.n_items}")
    return Description(title=form.name, lines=tuple(lines), texts=tuple(texts))


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        shown = [_plain(each) for each in value]
        return ("; " if any("," in each for each in shown) else ", ").join(shown)
    return value.hex() if isinstance(value, bytes) else str(value)


# Sources and passages as ``show`` prints them: with their pages, and what was not read.

_PASSAGES = 5


_CUT = 100


def describe_source(store: Store, found: Found) -> Description:
    """A source: what is known of it, its pages and those not read, and its first passages."""
    source = store.knowledge.sources([found.id])[found.id]
    count = store.pages.count(found.id)
    lines = [*_about(source), *_placed(store, found.id)]
    if count.pages:
        lines.append(("pages", f"{count.pages:,}"))
    for reason, numbers in sorted(count.unread.items()):
        lines.append(("unread", f"{len(numbers):,} ({reason}): page {page_ranges(numbers)}"))
    for model, seen in _read_by_models(store, found.id).items():
        lines.append(("from images", f"{len(seen):,} by {model}: page {page_ranges(seen)}"))
    sure = store.pages.confidences(found.id)
    if sure:
        lines.append(("from images", f"{len(sure):,}: page {page_ranges(list(sure))}"))
    doubtful = [number for number, sureness in sure.items() if sureness < SURE]
    if doubtful:
        lines.append(("doubtful", f"confidence below {SURE}: page {page_ranges(doubtful)}"))
    passages = list(islice(store.knowledge.passages_of(found.id), _PASSAGES + 1))
    if passages:
        n = count.passages or sum(1 for _ in store.knowledge.passages_of(found.id))
        lines.append(("passages", f"{n:,}"))
    more = ["..."] if len(passages) > _PASSAGES else []
    shown = "\n".join([*map(_in_a_line, passages[:_PASSAGES]), *more])
    return _described(f"source:{short(found.id)}", lines, filter(None, (shown,)))


def describe_passage(store: Store, found: Found) -> Description:
    """A passage: its place, its headings, where it is printed, and its text."""
    passage = store.knowledge.passage(found.id)
    if passage is None:
        raise NotFound(f"passage {short(found.id)} is gone")
    placed = store.pages.placed([found.id]).get(found.id)
    lines = [
        ("source", f"source:{short(passage.source)}"),
        ("place", _place(passage, placed)),
        ("heading", passage.heading),
        ("language", passage.language),
        *(_printed(placed) if placed else ()),
    ]
    return _described(f"passage:{short(found.id)}", lines, (passage.text,))


def describe_page(store: Store, page: Page) -> Description:
    """A page as it was read last: by what, how surely, its passages and its text."""
    places = page.places
    kinds = Counter(mark.kind for mark in places.marks)
    calls = [f"call:{short(request)}" for request in requests_named(page.detail)]
    detail = _without_requests(page.detail)
    unread = f"{page.reason}  {detail}".strip() if page.state == "unread" else ""
    lines = [
        ("source", f"source:{short(page.source)}"),
        ("printed", page.label),
        ("size", f"{_size(page)} points" if page.width else ""),
        ("reader", page.reader),
        ("asked", ", ".join(calls)),
        ("unread", unread),
        ("confidence", _confidence(page.confidence)),
        ("lines", f"{len(places.lines):,}" if places.lines else ""),
        ("holds", ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))),
    ]
    passages = "\n".join(map(_in_a_line, store.pages.passages_on(page.id)))
    return _described(
        f"page:{short(page.source)}/{page.number}", lines, filter(None, (passages, page.text))
    )


def _read_by_models(store: Store, source: bytes) -> dict[str, list[int]]:
    """The pages that models wrote down from their images, by the model."""
    found: dict[str, list[int]] = {}
    for number, reader in store.pages.readers(source).items():
        if model := model_that_read(reader):
            found.setdefault(model, []).append(number)
    return found


def _without_requests(detail: str) -> str:
    """Return a detail for display, without the requests that it names by hash; each has its own
    line."""
    for request in requests_named(detail):
        detail = detail.replace(naming_request(request), "")
    return detail.strip("; ")


def _about(source: Source) -> Iterator[tuple[str, str]]:
    shown: dict[str, Any] = msgspec.to_builtins(source, builtin_types=(bytes,))
    shown.pop("stratum")
    for name, value in shown.items():
        if value not in (None, "", [], ()):
            yield name, _plain(value)
    if source.stratum != Stratum():
        yield "stratum", _path(source.stratum)
    if not source.license:
        yield "license", "not stated"
    if permits_publication(source.license):
        yield "audience", "public, by its license"
    else:
        yield "audience", "private: no license that is known to permit publication is stated"


def _placed(store: Store, source: bytes) -> Iterator[tuple[str, str]]:
    """The placements of a source, oldest first; the last one holds."""
    for one in store.taxonomy_labels.of_source(source):
        by = ", ".join(one.models) or f"actor {short(one.actor or b'')}"
        of = f" of {one.taxonomy}" if one.taxonomy else ""
        why = f": {one.reason}" if one.reason else ""
        yield "placed", f"{_path(one.stratum)}{of}   by {by}, {minute(one.at)}{why}"


def _path(stratum: Stratum) -> str:
    return " / ".join(level for level in msgspec.structs.astuple(stratum) if level)


def _in_a_line(passage: Passage) -> str:
    page = "" if passage.page is None else f"page {passage.page}  "
    text = " ".join(passage.text.split())
    text = text if len(text) <= _CUT else text[: _CUT - 1] + "\u2026"
    return f"passage:{short(passage.id)}  {page}{text or '(purged)'}"


def _place(passage: Passage, placed: PlacedPassage | None) -> str:
    within = f"characters {passage.start} to {passage.end}"
    if passage.page is None:
        return within
    label = f" (printed {placed.page.label})" if placed and placed.page.label else ""
    return f"page {passage.page}{label}, {within}"


def _printed(placed: PlacedPassage) -> Iterator[tuple[str, str]]:
    """Yield the kinds, confidence and position of a passage's lines on its page."""
    places, passage = placed.page.places, placed.passage
    kinds = places.kinds(passage.start, passage.end)
    yield "holds", ", ".join(kinds)
    yield "read by", model_that_read(placed.page.reader)
    boxes = places.boxes(passage.start, passage.end)
    if boxes:
        yield "confidence", _confidence(places.confidence(passage.start, passage.end))
        yield "printed", f"{len(boxes)} lines, {_around(boxes)} of {_size(placed.page)} points"


def _confidence(sure: float) -> str:
    """How sure the reader of an image is; nothing of what was not read from one."""
    return f"{sure:.2f}" if sure < 1 else ""


def _around(boxes: Sequence[Box]) -> str:
    left, top = min(box.left for box in boxes), min(box.top for box in boxes)
    right, bottom = max(box.right for box in boxes), max(box.bottom for box in boxes)
    return f"from {left:.0f}, {top:.0f} to {right:.0f}, {bottom:.0f}"


def _size(page: Page) -> str:
    return f"{page.width:.0f} x {page.height:.0f}"
