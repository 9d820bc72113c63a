"""Plan runs whose ids fix everything that shapes an answer."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from proofstone import __version__
from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.models.wire import SCORING_WIRES, TEXT_WIRES, check_range, checked_stop
from proofstone.records.calls import Clock, Model
from proofstone.records.ids import content_id
from proofstone.records.items import (
    CHUNK_TOKENS,
    CONTEXT_CHUNK_TOKENS,
    CONTEXT_CHUNKS,
    CONTEXT_EMBEDDING_MODEL,
    CONTEXT_INDEX,
    CONTEXT_PAGE_TOKENS,
    CONTEXT_SEARCH,
    CONTEXT_SETTINGS,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    CONTEXT_WITHIN,
    PROMPT,
    PROMPT_NAME,
    ContextName,
    ItemSet,
    OwnPrompt,
    PromptMethod,
    SearchedTexts,
    SearchMethod,
    context_of,
    searches,
    shows_document,
)
from proofstone.records.models import LOCAL
from proofstone.records.runs import Run, run_id
from proofstone.run.evidence import evidence_settings, left_out_notes, with_evidence
from proofstone.run.evidence_found import found_notes
from proofstone.run.forms import bank_of, plain_form, without_former_versions
from proofstone.run.prompts import (
    check_fit,
    check_format,
    check_likelihood,
    check_thinking,
    check_tools,
    kept_prompt,
    likelihood_note,
    prompt_settings,
    scored_as,
    thinking_note,
    try_prompts,
    with_prompt,
    with_room,
)
from proofstone.run.retrieved_context import retrieved_notes, retrieved_settings, with_retrieval
from proofstone.run.retriever import RetrievalAsked, Retriever
from proofstone.run.run_options import CHUNKS, DOCUMENT_TOKENS, MOST_TOKENS
from proofstone.store.store import Store


class RunSpec(Struct, frozen=True, kw_only=True):
    """Describe a run: an item set, a model, and a prompting method with its settings.

    ``settings`` override the method's defaults; a value of None omits one. ``limit`` asks only the
    first items and is not part of the run's id: the same command without it asks the rest.
    ``prompt`` is a custom template that replaces the method's.

    ``context`` (None: the method's usual one) "evidence" asks each item with its evidence, and
    "document" with its whole documents, up to ``context_tokens`` of them (None: the default of
    the context). "retrieved" uses the ``context_chunks`` of ``context_chunk_tokens`` that
    ``context_search`` finds in ``context_source``, or ``context_within`` each item's documents, by
    ``context_embedding_model``. ``context_index`` names the state of the sources that a run was
    started with.
    """

    item_set: bytes
    model: str
    prompt_method: str
    shots: int = 0
    settings: dict[str, Any] = {}
    samples: int = 1
    replicate: str = ""
    limit: int | None = None
    prompt: OwnPrompt | None = None
    context: ContextName | None = None
    context_tokens: int | None = None
    context_chunks: int = CHUNKS
    context_chunk_tokens: int = CHUNK_TOKENS
    context_page_tokens: int | None = None
    context_within: SearchedTexts = "sources"
    context_search: SearchMethod = "bm25"
    context_source: str = LOCAL
    context_embedding_model: str = ""
    context_index: str = ""

    @property
    def retrieval(self) -> RetrievalAsked | None:
        """Return what is to be searched for; None without retrieval."""
        context = self.context or "none"
        if not searches(context):
            return None
        return RetrievalAsked(
            chunks=self.context_chunks,
            most_tokens=self.most_tokens,
            search=self.context_search,
            source=self.context_source,
            embedding_model=self.context_embedding_model,
            index=self.context_index,
            within=self.context_within,
            chunk_tokens=self.context_chunk_tokens,
            page_tokens=self.context_page_tokens,
            beside_document=shows_document(context),
        )

    @property
    def most_tokens(self) -> int:
        """Return the limit of the texts shown with a question."""
        if self.context_tokens is not None:
            return self.context_tokens
        is_whole = self.context is not None and shows_document(self.context)
        return DOCUMENT_TOKENS if is_whole else MOST_TOKENS


class PlannedRun(Struct, frozen=True, kw_only=True):
    """A run with its prompting method ready, and how much there is to do.

    ``n_items`` counts from the set's first item, less those that are left out. ``key`` is set once
    stored. ``notes`` are shown before it is asked.
    """

    run: Run
    item_set: ItemSet
    prompt_method: PromptMethod
    samples: int
    n_items: int
    key: int = 0
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Return the number of (item, sample) to finish."""
        return self.n_asked * self.samples

    @property
    def n_not_searched(self) -> int:
        """Return how many (item, sample) are not asked because their search failed."""
        return (
            0
            if self.prompt_method.retrieved is None
            else len(self.prompt_method.retrieved.failed) * self.samples
        )

    @property
    def n_asked(self) -> int:
        """Return how many of its items are asked."""
        evidence = self.prompt_method.evidence
        left_out = () if evidence is None else evidence.left_out
        return self.n_items - sum(place < self.n_items for place in left_out)


def spec_of(store: Store, run: Run, method: Method) -> RunSpec:
    """Return the spec that asks for this run again; settings that it lacks omit the defaults.

    Raises TextPurged if its template was deleted.
    """
    said = {name: value for name, value in run.settings.items() if name != "endpoint"}
    ours = {"shots", "samples", PROMPT, PROMPT_NAME, *CONTEXT_SETTINGS}
    settings = {name: value for name, value in said.items() if name not in ours}
    left_out = {name: None for name in method.settings(run.prompt_method) if name not in settings}
    searched = (
        CONTEXT_CHUNKS,
        CONTEXT_SEARCH,
        CONTEXT_INDEX,
        CONTEXT_SOURCE,
        CONTEXT_EMBEDDING_MODEL,
        CONTEXT_WITHIN,
        CONTEXT_CHUNK_TOKENS,
        CONTEXT_PAGE_TOKENS,
    )
    return RunSpec(
        item_set=run.item_set,
        model=run.respondent,
        prompt_method=run.prompt_method,
        shots=said.get("shots", 0),
        settings={**settings, **left_out},
        samples=said.get("samples", 1),
        replicate=run.replicate,
        prompt=kept_prompt(store, run),
        context=context_of(said),
        context_tokens=said.get(CONTEXT_TOKENS, MOST_TOKENS),
        **{name: said[name] for name in searched if name in said},
    )


def store_run(store: Store, planned: PlannedRun, clock: Clock) -> PlannedRun:
    """Return the plan with its run's key; stores the run and its template if they are new."""
    if planned.prompt_method.own_prompt is not None:
        store.own_prompts.keep(planned.prompt_method.own_prompt)
    key = store.runs.add(planned.run, clock.now(), __version__)
    store.runs.ask_first(key, planned.n_items)
    return msgspec.structs.replace(planned, key=key)


def plan_run(
    store: Store, method: Method, spec: RunSpec, model: Model, retriever: Retriever | None = None
) -> PlannedRun:
    """Return the run that ``spec`` describes, ready but not stored, so that all are checked first.

    Raises BadUsage for an unknown prompting method, fewer than one sample, impossible few-shot
    examples, and questions that the model cannot be asked (``check_fit``). Raises BadInput for a
    custom template that cannot ask them.
    """
    if spec.samples < 1:
        raise BadUsage(f"--samples takes 1 or more, got {spec.samples}")
    if spec.limit is not None and spec.limit < 1:
        raise BadUsage(f"--limit takes 1 or more, got {spec.limit}")
    if PROMPT in spec.settings or PROMPT_NAME in spec.settings:
        raise BadUsage(
            "'prompt' cannot be a setting",
            hint="--prompt-template FILE, or prompt_template = in a run file",
        )
    if not set(CONTEXT_SETTINGS).isdisjoint(spec.settings):
        raise BadUsage(
            "'context' cannot be a setting", hint="--context NAME, or context = in a file"
        )
    if spec.context is None:
        spec = msgspec.structs.replace(spec, context=method.usual_context)
    item_set = store.items.item_set(spec.item_set)
    bank = bank_of(store, item_set)
    name = scored_as(method, spec.prompt_method, model)
    prompt_method = method.prepare(name, spec.shots, plain_form(item_set), bank)
    prompt_method = without_former_versions(store, prompt_method, item_set)
    if spec.prompt is not None:
        prompt_method = with_prompt(method, prompt_method, spec.prompt, item_set)
    defaults = method.settings(name)
    check_format(method, prompt_method, spec.prompt, {**defaults, **spec.settings})
    check_likelihood(prompt_method, defaults, spec.settings, model)
    asked = with_room({**defaults, **spec.settings}, spec.settings, model.limits)
    spec = _within_window(spec, model, asked.get("max_tokens"))
    prompt_method = _with_context(store, method, prompt_method, item_set, spec, retriever)
    stop = checked_stop(asked.get("stop"))
    if model.wire in (SCORING_WIRES if prompt_method.likelihood else TEXT_WIRES):
        prompt_method = _as_text(prompt_method)
        asked["stop"] = list(dict.fromkeys([*stop, *prompt_method.text.stop])) or None
    settings = {name: value for name, value in sorted(asked.items()) if value is not None}
    for name, value in settings.items():
        check_range(name, value)
    check_thinking(model, settings)
    check_tools(model, settings)
    run = Run(
        item_set=item_set.id,
        method=method.name,
        respondent=model.name,
        prompt_method=prompt_method.name,
        last_step=prompt_method.last_step,
        prompt_hash=prompt_method.prompt_hash,
        settings={
            **settings,
            "samples": spec.samples,
            "shots": spec.shots,
            "endpoint": model.endpoint,
            **prompt_settings(spec.prompt),
            **evidence_settings(prompt_method),
            **retrieved_settings(prompt_method),
        },
        replicate=spec.replicate,
        simulated=model.simulated,
    )
    run = msgspec.structs.replace(run, id=run_id(run))
    n_items = item_set.n_items if spec.limit is None else min(spec.limit, item_set.n_items)
    try_prompts(store, method, prompt_method, item_set, n_items)
    notes = (
        *left_out_notes(prompt_method, item_set),
        *retrieved_notes(prompt_method),
        *found_notes(store, item_set, prompt_method.retrieved),
        *thinking_note(model, settings),
        *likelihood_note(spec.prompt_method, prompt_method, model),
        *check_fit(
            store, method, prompt_method, item_set, n_items, model, settings.get("max_tokens")
        ),
    )
    return PlannedRun(
        run=run,
        item_set=item_set,
        prompt_method=prompt_method,
        samples=spec.samples,
        n_items=n_items,
        notes=notes,
    )


def _within_window(spec: RunSpec, model: Model, max_tokens: int | None) -> RunSpec:
    """Return the spec with the model's window as the limit of documents, where none is given."""
    limits = model.limits
    is_whole = spec.context is not None and shows_document(spec.context)
    if not is_whole or spec.context_tokens is not None or limits.window is None:
        return spec
    response = (max_tokens or 0) if limits.counts_response else 0
    room = max(limits.window - response - _QUESTION_TOKENS, 1)
    return msgspec.structs.replace(spec, context_tokens=room)


_QUESTION_TOKENS = 1024  # of the model's window, for a question with its options and instructions


def _with_context(
    store: Store,
    method: Method,
    prompt_method: PromptMethod,
    item_set: ItemSet,
    spec: RunSpec,
    retriever: Retriever | None,
) -> PromptMethod:
    """Return the prompting method with what each item is shown."""
    context = spec.context or "none"
    if context == "evidence" or shows_document(context):
        shows: Literal["evidence", "document"] = "evidence" if context == "evidence" else "document"
        prompt_method = with_evidence(store, prompt_method, item_set, spec.most_tokens, shows=shows)
    if spec.retrieval is not None:
        prompt_method = with_retrieval(prompt_method, method, item_set, spec.retrieval, retriever)
    return prompt_method


def _as_text(prompt_method: PromptMethod) -> PromptMethod:
    """Return the prompting method for a text-completion model; its prompts' hash differs."""
    key = [prompt_method.prompt_hash, prompt_method.text.stop, prompt_method.text.version]
    return msgspec.structs.replace(
        prompt_method, as_text=True, prompt_hash=content_id("as-text", key)
    )
