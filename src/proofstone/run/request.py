"""What a person asks to be run, from a file, from a command, or from both: layers over layers.

What holds for all is overridden by what a way of asking says, that by what a model says, and that
by the command's own options. The method's defaults stand below all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.models.entries import Entry
from proofstone.records.items import ContextName
from proofstone.records.models import LOCAL
from proofstone.records.options import options_in
from proofstone.run.evidence import read_search
from proofstone.run.forms import forms_of
from proofstone.run.judges import JudgeSpec
from proofstone.run.model_request import AUTO, THINKING_TOKENS
from proofstone.run.plan import RunSpec
from proofstone.run.prompts import read_own_prompt
from proofstone.run.run_options import COUNTS, JUDGING, RunAsked, names_of
from proofstone.search.sources import read_search_source
from proofstone.session.targets import Target, find_target, listed
from proofstone.store.store import Store

DEFAULT_WAY = "direct"


_EFFORT = "reasoning_effort"


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

    ``model_ways`` are the ways of single models, where they are not those of all; ``entries`` how
    single models are reached (a file's place, connections), over the configuration. ``whole`` are
    the fields of ``RunAsked`` that are said of all runs together: also ``thinking`` and
    ``reasoning_effort``, where everything is asked once with each of several, over what a layer
    says.
    """

    targets: tuple[str, ...] = ()
    models: Mapping[str, Asking] = {}
    ways: Mapping[str, Asking] = {}
    for_all: Asking = Asking()
    flags: Asking = Asking()
    model_ways: Mapping[str, tuple[str, ...]] = {}
    entries: Mapping[str, Entry] = {}
    whole: Mapping[str, Any] = {}

    @property
    def asked(self) -> RunAsked:
        """What concerns the whole, with the defaults of what is not said."""
        return RunAsked(**self.whole)

    @property
    def judges(self) -> JudgeSpec | None:
        """Who is to grade what no rule can, and how they decide; None for nobody."""
        asked = self.asked
        rules = {name: getattr(asked, name) for name in JUDGING[1:]}
        return JudgeSpec(models=asked.judge, **rules) if asked.judge else None

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
        read, BadUsage for what says how to search where nothing is searched for."""
        asked = self.asked
        if "context_source" in self.whole and "retrieved" not in asked.context:
            raise BadUsage("--context-source goes with --context retrieved")
        if asked.context_embedder and asked.context_search not in ("dense", "hybrid"):
            raise BadUsage("--embedder goes with --context-search dense or hybrid")
        return self.each_spec(item_sets)

    def each_spec(self, item_sets: Sequence[bytes]) -> list[RunSpec]:
        """``specs`` of a request of which each part was checked."""
        read, asked = cache(read_own_prompt), self.asked
        search = read_search(asked.context_search)
        for source in asked.context_source:
            read_search_source(source)
        return [
            RunSpec(
                item_set=item_set,
                model=model,
                way=way,
                shots=asking.shots or 0,
                settings=dict(asking.settings),
                samples=1 if asking.samples is None else asking.samples,
                replicate=asking.replicate or "",
                limit=asking.limit,
                prompt=read(Path(asking.prompt)) if asking.prompt else None,
                context=context,
                context_tokens=asked.context_tokens,
                context_chunks=asked.context_chunks,
                context_search=search,
                context_source=source,
                context_embedder=asked.context_embedder,
            )
            for model in self.models
            for way in self.ways_of(model)
            for context, source in _each_context(asked)
            for asking in _each_swept(asked, self.asking(model, way))
            for item_set in item_sets
        ]

    def _says(self, setting: str) -> bool:
        """Whether some layer says a setting, or several values of it are asked."""
        layers = (self.for_all, self.flags, *self.ways.values(), *self.models.values())
        return setting in self.whole or any(setting in each.settings for each in layers)

    def says_effort(self) -> bool:
        """Whether some layer says an effort of reasoning, or several are asked."""
        return self._says(_EFFORT)

    def over(
        self,
        *,
        flags: Asking,
        targets: Sequence[str] = (),
        models: Sequence[str] = (),
        ways: Sequence[str] = (),
        **whole: Any,
    ) -> RunRequest:
        """The request with what a command says over it: targets, models and ways named there are
        meant instead of its own, and keep the layers that it has for them. ``whole`` are fields of
        ``RunAsked``."""
        below = {n: v for n, v in self.whole.items() if n != _EFFORT or n not in flags.settings}
        return structs.replace(
            self,
            targets=tuple(targets) or self.targets,
            models={name: self.models.get(name, Asking()) for name in models} or self.models,
            ways={way: self.ways.get(way, Asking()) for way in ways} or self.ways,
            model_ways={} if ways else self.model_ways,
            flags=flags,
            whole={**below, **whole},
        )

    def resolved(
        self, targets: Sequence[str], defaults: Callable[[str], Mapping[str, Any]]
    ) -> RunRequest:
        """The same runs with everything said: targets by id, the method's ``defaults`` of each way
        and the flags within its layer, so that no later default and no flag can change them."""
        all_ways = dict.fromkeys(way for model in self.models for way in self.ways_of(model))
        plain = Asking(shots=0, samples=1, replicate="")
        room = {THINKING_TOKENS: AUTO} if self._says("thinking") else {}
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


def _each_context(asked: RunAsked) -> list[tuple[ContextName, str]]:
    """Each context with where it searches; what a search found once a source."""
    return [
        (context, source)  # type: ignore[misc]
        for context in asked.context
        for source in (asked.context_source if context == "retrieved" else (LOCAL,))
    ]


def _each_swept(asked: RunAsked, asking: Asking) -> list[Asking]:
    """One a word of ``thinking`` and each effort of reasoning; as it is where there is none."""
    thought = [{"thinking": word} for word in asked.thinking] or [{}]
    tried = [{_EFFORT: word} for word in asked.reasoning_effort] or [{}]
    return [Asking(settings={**t, **e}).over(asking) for t in thought for e in tried]


# The runs that arguments of a workspace's ``run`` and ``dry_run`` mean.

_ASKED = ("form", "bank", "run")


def request_by(
    keywords: Mapping[str, Any], *, record: type[Struct] = RunAsked, **more: Any
) -> RunRequest:
    """The request that keywords of a function make, by the fields of ``record``: what is none of
    them is a setting."""
    said = dict(keywords)
    if "embedder" in said:
        said["context_embedder"] = said.pop("embedder")
    if (prompt := said.pop("prompt", None)) is not None:
        said["prompt"] = str(prompt)
    whole = {name: said.pop(name) for name in names_of("whole", record=record) if name in said}
    for name, kind, _option in options_in(record):
        if name in whole and getattr(kind, "__origin__", None) is tuple:
            whole[name] = tuple(listed(whole[name]))
    asking = {name: said.pop(name) for name in (*COUNTS, "prompt") if name in said}
    return RunRequest(for_all=Asking(**asking, settings=said), whole=whole, **more)


def specs_of(
    store: Store,
    targets: Target | Sequence[Target],
    *,
    models: str | Sequence[str],
    ask: str | Sequence[str] = DEFAULT_WAY,
    **asked: Any,
) -> list[RunSpec]:
    """A run for each model, way and item set, model by model; ``asked`` are fields of ``RunAsked``,
    and settings. Raises what ``find_target`` and ``read_own_prompt`` raise."""
    item_sets = [
        identity
        for target in listed(targets)
        for identity in forms_of(store, find_target(store, target, _ASKED))
    ]
    request = request_by(
        asked,
        models={model: Asking() for model in listed(models)},
        ways={way: Asking() for way in listed(ask)},
    )
    return request.each_spec(list(dict.fromkeys(item_sets)))
