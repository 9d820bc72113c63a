"""What a person asks to be run, from a file, from a command, or from both: layers over layers.

What holds for all is overridden by what a way of asking says, that by what a model says, and that
by the command's own options. The method's defaults stand below all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.models.entries import Entry
from proofstone.records.items import ContextName, OwnPrompt
from proofstone.run.evidence import CHUNKS, MOST_TOKENS, read_search
from proofstone.run.forms import forms_of
from proofstone.run.judges import JudgeSpec
from proofstone.run.model_request import AUTO, THINKING_TOKENS
from proofstone.run.plan import RunSpec
from proofstone.run.prompts import read_own_prompt
from proofstone.search.sources import LOCAL, read_search_source
from proofstone.session.targets import Target, find_target, listed
from proofstone.store.store import Store

# The runs that arguments of a workspace's ``run`` and ``dry_run`` mean.

_ASKED = ("form", "bank", "run")


def specs_of(
    store: Store,
    targets: Target | Sequence[Target],
    *,
    models: str | Sequence[str],
    ask: str | Sequence[str] = "direct",
    shots: int = 0,
    samples: int = 1,
    limit: int | None = None,
    replicate: str = "",
    prompt: str | Path | None = None,
    context: ContextName | Sequence[ContextName] = "none",
    context_tokens: int = MOST_TOKENS,
    context_chunks: int = CHUNKS,
    context_search: str = "bm25",
    context_source: str | Sequence[str] = LOCAL,
    embedder: str = "",
    **settings: Any,
) -> list[RunSpec]:
    """A run for each model, way and item set, model by model. Raises what ``find_target`` and
    ``read_own_prompt`` raise."""
    item_sets = [
        identity
        for target in listed(targets)
        for identity in forms_of(store, find_target(store, target, _ASKED))
    ]
    own_prompt = None if prompt is None else read_own_prompt(Path(prompt))
    search = read_search(context_search)
    for name in listed(context_source):
        read_search_source(name)
    contexts: Sequence[ContextName] = (context,) if isinstance(context, str) else context
    return [
        RunSpec(
            item_set=item_set, model=model, way=way, shots=shots, settings=settings,
            samples=samples, replicate=replicate, limit=limit, prompt=own_prompt,
            context=each, context_tokens=context_tokens, context_chunks=context_chunks,
            context_search=search, context_source=source, context_embedder=embedder,
        )
        for model in listed(models)
        for way in listed(ask)
        for each in contexts
        for source in (listed(context_source) if each == "retrieved" else (LOCAL,))
        for item_set in dict.fromkeys(item_sets)
    ]  # fmt: skip


DEFAULT_WAY = "direct"


_EFFORT = "reasoning_effort"


_NO_RULES: Mapping[str, Any] = MappingProxyType({})


class Asking(Struct, frozen=True, kw_only=True):
    """How something is asked, as far as one layer says it: None, and settings that are not there,
    leave it to the layer below. A setting of None leaves one out that has a default. ``prompt`` is
    the path of a person's template, "" the method's own prompt."""

    shots: int | None = None
    samples: int | None = None
    limit: int | None = None
    replicate: str | None = None
    prompt: str | None = None
    settings: Mapping[str, Any] = {}

    def over(self, below: Asking) -> Asking:
        """This layer laid over another."""
        own = {
            name: value
            for name, value in structs.asdict(self).items()
            if name != "settings" and value is not None
        }
        settings = {**below.settings, **self.settings}
        if "max_tokens" in self.settings and THINKING_TOKENS not in self.settings:
            settings.pop(THINKING_TOKENS, None)  # who names the longest reply means all of it
        return structs.replace(below, **own, settings=settings)

    def without(self, above: Asking) -> Asking:
        """What of this layer still shows where another lies over it."""
        hidden = {
            name: None
            for name, value in structs.asdict(above).items()
            if name != "settings" and value is not None
        }
        gone = set(above.settings)
        gone |= {THINKING_TOKENS} if "max_tokens" in gone else set()
        settings = {n: value for n, value in self.settings.items() if n not in gone}
        return structs.replace(self, **hidden, settings=settings)


class RunRequest(Struct, frozen=True, kw_only=True):
    """Targets, models and ways with their layers, and what concerns the whole.

    ``model_ways`` are the ways of single models, where they are not those of all; ``thinking``
    ("on", "off") and ``efforts`` of reasoning ask everything once with each, over what a layer says
    of it; ``entries`` how single models are reached (a file's place, connections), over the
    configuration. ``budget`` is as it was written; ``cache`` "same" or "any"; ``preset`` names
    choices of a method that lie below what holds for all. ``contexts`` asks everything once with
    each; none means "none". ``judge`` names models, ``judge_rules`` what is said of how they decide
    (``JudgeSpec``).
    """

    targets: tuple[str, ...] = ()
    models: Mapping[str, Asking] = {}
    ways: Mapping[str, Asking] = {}
    for_all: Asking = Asking()
    flags: Asking = Asking()
    model_ways: Mapping[str, tuple[str, ...]] = {}
    thinking: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    entries: Mapping[str, Entry] = {}
    max_connections: int | None = None
    budget: str = ""
    cache: str = ""
    preset: str = ""
    contexts: tuple[ContextName, ...] = ()
    context_tokens: int | None = None
    context_chunks: int | None = None
    context_search: str = ""
    context_sources: tuple[str, ...] = ()
    context_embedder: str = ""
    judge: tuple[str, ...] = ()
    judge_rules: Mapping[str, Any] = {}

    @property
    def judges(self) -> JudgeSpec | None:
        """Who is to grade what no rule can, and how they decide; None for nobody."""
        return JudgeSpec(models=self.judge, **self.judge_rules) if self.judge else None

    def ways_of(self, model: str) -> tuple[str, ...]:
        """The ways in which a model is asked."""
        return self.model_ways.get(model) or tuple(self.ways) or (DEFAULT_WAY,)

    def asking(self, model: str, way: str) -> Asking:
        """How a model is asked in a way, all layers taken together."""
        layers = (self.for_all, self.ways.get(way), self.models.get(model), self.flags)
        asking = Asking()
        for layer in layers:
            asking = asking if layer is None else layer.over(asking)
        return asking

    def specs(self, item_sets: Sequence[bytes]) -> list[RunSpec]:
        """The runs that are meant, model by model. Raises BadInput for a template that cannot be
        read."""
        read = cache(read_own_prompt)
        search = read_search(self.context_search or "bm25")
        self._check_search()
        return [
            structs.replace(
                _spec(item_set, model, way, asking, read),
                context=context,
                context_tokens=self.context_tokens or MOST_TOKENS,
                context_chunks=self.context_chunks or CHUNKS,
                context_search=search,
                context_source=source,
                context_embedder=self.context_embedder,
            )
            for model in self.models
            for way in self.ways_of(model)
            for context, source in self._each_context()
            for asking in self._each_swept(self.asking(model, way))
            for item_set in item_sets
        ]

    def _each_context(self) -> list[tuple[ContextName, str]]:
        """Each context with where it searches; what a search found once a source."""
        return [
            (context, source)
            for context in self.contexts or ("none",)
            for source in (self.context_sources if context == "retrieved" else ()) or (LOCAL,)
        ]

    def _check_search(self) -> None:
        """Raises BadUsage for what says how to search where nothing is searched for."""
        if self.context_sources and "retrieved" not in self.contexts:
            raise BadUsage("--context-source goes with --context retrieved")
        if self.context_embedder and self.context_search not in ("dense", "hybrid"):
            raise BadUsage("--embedder goes with --context-search dense or hybrid")
        for source in self.context_sources:
            read_search_source(source)

    def _each_swept(self, asking: Asking) -> list[Asking]:
        """One a word of ``thinking`` and each of ``efforts``; as it is where there is none."""
        thought = [{"thinking": word} for word in self.thinking] or [{}]
        tried = [{_EFFORT: word} for word in self.efforts] or [{}]
        return [Asking(settings={**t, **e}).over(asking) for t in thought for e in tried]

    def says_effort(self) -> bool:
        """Whether some layer says an effort of reasoning, or several are asked."""
        layers = (self.for_all, self.flags, *self.ways.values(), *self.models.values())
        return bool(self.efforts) or any(_EFFORT in each.settings for each in layers)

    def _tells_thinking(self) -> bool:
        layers = (self.for_all, self.flags, *self.ways.values(), *self.models.values())
        return bool(self.thinking) or any("thinking" in layer.settings for layer in layers)

    def over(
        self,
        *,
        targets: Sequence[str] = (),
        models: Sequence[str] = (),
        ways: Sequence[str] = (),
        thinking: Sequence[str] = (),
        efforts: Sequence[str] = (),
        flags: Asking,
        max_connections: int | None = None,
        cache: str = "",
        budget: str = "",
        preset: str = "",
        contexts: Sequence[ContextName] = (),
        context_tokens: int | None = None,
        context_chunks: int | None = None,
        context_search: str = "",
        context_sources: Sequence[str] = (),
        context_embedder: str = "",
        judge: Sequence[str] = (),
        judge_rules: Mapping[str, Any] = _NO_RULES,
    ) -> RunRequest:
        """The request with what a command says over it: targets, models and ways named there are
        meant instead of its own, and keep the layers that it has for them."""
        chosen = {name: self.models.get(name, Asking()) for name in models} or self.models
        return structs.replace(
            self,
            targets=tuple(targets) or self.targets,
            models=chosen,
            ways={way: self.ways.get(way, Asking()) for way in ways} or self.ways,
            model_ways={} if ways else self.model_ways,
            thinking=tuple(thinking) or self.thinking,
            efforts=tuple(efforts) or (() if _EFFORT in flags.settings else self.efforts),
            flags=flags,
            max_connections=max_connections or self.max_connections,
            cache=cache or self.cache,
            budget=budget or self.budget,
            preset=preset or self.preset,
            contexts=tuple(contexts) or self.contexts,
            context_tokens=context_tokens or self.context_tokens,
            context_chunks=context_chunks or self.context_chunks,
            context_search=context_search or self.context_search,
            context_sources=tuple(context_sources) or self.context_sources,
            context_embedder=context_embedder or self.context_embedder,
            judge=tuple(judge) or self.judge,
            judge_rules={**self.judge_rules, **judge_rules},
        )

    def resolved(
        self, targets: Sequence[str], defaults: Callable[[str], Mapping[str, Any]]
    ) -> RunRequest:
        """The same runs with everything said: targets by id, the method's ``defaults`` of each way
        and the flags within its layer, so that no later default and no flag can change them."""
        all_ways = dict.fromkeys(way for model in self.models for way in self.ways_of(model))
        plain = Asking(shots=0, samples=1, replicate="")
        room = {THINKING_TOKENS: AUTO} if self._tells_thinking() else {}
        ways = {
            way: self.flags.over(
                self.ways.get(way, Asking()).over(
                    self.for_all.over(structs.replace(plain, settings={**defaults(way), **room}))
                )
            )
            for way in all_ways
        }
        own = {
            model: mine for model in self.models if (mine := self.ways_of(model)) != tuple(all_ways)
        }
        return structs.replace(
            self,
            targets=tuple(targets),
            models={model: layer.without(self.flags) for model, layer in self.models.items()},
            ways=ways,
            for_all=Asking(),
            flags=Asking(),
            model_ways=own,
        )


def _spec(
    item_set: bytes, model: str, way: str, asking: Asking, read: Callable[[Path], OwnPrompt]
) -> RunSpec:
    return RunSpec(
        item_set=item_set,
        model=model,
        way=way,
        shots=asking.shots or 0,
        settings=dict(asking.settings),
        samples=1 if asking.samples is None else asking.samples,
        replicate=asking.replicate or "",
        limit=asking.limit,
        prompt=read(Path(asking.prompt)) if asking.prompt else None,
    )
