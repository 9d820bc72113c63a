"""Merge run settings from a file and a command, layer by layer.

Settings for all are overridden by those of a prompting method, these by those of a model, and these
by the command's options. The method's defaults are the lowest layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.ingest.bank_files import read_bank, read_form
from proofstone.method import find_preset
from proofstone.models.entries import Entry, merged
from proofstone.models.names import unknown_key
from proofstone.models.wire import SETTINGS
from proofstone.records.items import ContextName, ItemSet, Preset, searches
from proofstone.records.models import LOCAL
from proofstone.records.options import options_in
from proofstone.records.runs import ANSWER_FORMAT
from proofstone.run.forms import (
    form_as_it_stands,
    forms_of,
    is_question_file,
    method_of_file,
    method_with_documents,
)
from proofstone.run.plan import RunSpec
from proofstone.run.prompts import AUTO, THINKING_TOKENS, read_own_prompt
from proofstone.run.retriever import read_search
from proofstone.run.run_options import COUNTS, RunAsked, names_of
from proofstone.search.sources import read_search_source
from proofstone.session.session import Session, Target, listed, method_of

DEFAULT_PROMPT_METHOD = "direct"


_EFFORT = "reasoning_effort"


class Asking(Struct, frozen=True, kw_only=True):
    """One layer of settings. None, and missing settings, defer to the layer below.

    A setting of None omits one with a default. ``prompt_template`` is the path of a custom
    template; "" is the method's own prompt.
    """

    shots: int | None = None
    samples: int | None = None
    limit: int | None = None
    replicate: str | None = None
    prompt_template: str | None = None
    settings: Mapping[str, Any] = {}

    def over(self, below: Asking) -> Asking:
        """Return this layer merged over another."""
        settings = {**below.settings, **self.settings}
        if "max_tokens" in self.settings and THINKING_TOKENS not in self.settings:
            settings.pop(THINKING_TOKENS, None)  # a given maximum length is final
        return structs.replace(below, **self._counts(), settings=settings)

    def without(self, above: Asking) -> Asking:
        """Return the part of this layer that another layer above it does not override."""
        gone = {*above.settings, *([THINKING_TOKENS] * ("max_tokens" in above.settings))}
        settings = {n: value for n, value in self.settings.items() if n not in gone}
        hidden = dict.fromkeys(above._counts())
        return structs.replace(self, **hidden, settings=settings)

    def _counts(self) -> dict[str, Any]:
        """Return the values of this layer other than settings."""
        said = structs.asdict(self)
        return {n: value for n, value in said.items() if n != "settings" and value is not None}


class RunRequest(Struct, frozen=True, kw_only=True):
    """Targets, models and prompting methods with their layers, and options of the whole run.

    ``model_prompt_methods`` are those of single models, if they differ from those of all.
    ``entries`` override the configuration on how single models are reached (a file, connections).
    ``whole`` are the fields of ``RunAsked`` given for all runs. With several values of ``thinking``
    or ``reasoning_effort`` everything is asked once with each, over all layers.
    """

    targets: tuple[str, ...] = ()
    models: Mapping[str, Asking] = {}
    prompt_methods: Mapping[str, Asking] = {}
    for_all: Asking = Asking()
    flags: Asking = Asking()
    model_prompt_methods: Mapping[str, tuple[str, ...]] = {}
    entries: Mapping[str, Entry] = {}
    whole: Mapping[str, Any] = {}

    @property
    def asked(self) -> RunAsked:
        """Return the options of the whole run, with defaults for missing ones."""
        return RunAsked(**self.whole)

    def prompt_methods_of(self, model: str) -> tuple[str, ...]:
        """Return the prompting methods for a model."""
        return (
            self.model_prompt_methods.get(model)
            or tuple(self.prompt_methods)
            or (DEFAULT_PROMPT_METHOD,)
        )

    def asking(self, model: str, prompt_method: str) -> Asking:
        """Return the merged layers for a model and prompting method."""
        layers = (self.prompt_methods.get(prompt_method), self.models.get(model), self.flags)
        asking = self.for_all
        for layer in filter(None, layers):
            asking = layer.over(asking)
        return asking

    def specs(self, item_sets: Sequence[bytes]) -> list[RunSpec]:
        """Return the requested runs, model by model.

        Raises BadInput for an invalid template file, BadUsage for search options without a search.
        """
        asked = self.asked
        is_searched = any(searches(context) for context in _contexts(asked))
        for name in (
            "context_source",
            "context_within",
            "context_chunk_tokens",
            "context_page_tokens",
        ):
            if name in self.whole and not is_searched:
                raise BadUsage(f"--{name.replace('_', '-')} goes with --context retrieved")
        if asked.context_within == "document" and asked.context_source != (LOCAL,):
            raise BadUsage("--context-within document searches no web; remove --context-source")
        if asked.context_embedding_model and asked.context_search not in ("dense", "hybrid"):
            raise BadUsage("--embedding-model goes with --context-search dense or hybrid")
        return self.each_spec(item_sets)

    def each_spec(self, item_sets: Sequence[bytes]) -> list[RunSpec]:
        """Return the ``specs`` of a request whose parts were checked."""
        read, asked = cache(read_own_prompt), self.asked
        search = read_search(asked.context_search)
        for source in asked.context_source:
            read_search_source(source)
        if asked.context_page_tokens is not None and LOCAL in asked.context_source:
            raise BadUsage(
                "--context-page-tokens shows pages of the web",
                hint="name a search of the web: --context-source brave",
            )
        return [
            RunSpec(
                item_set=item_set,
                model=model,
                prompt_method=prompt_method,
                shots=asking.shots or 0,
                settings=dict(asking.settings),
                samples=1 if asking.samples is None else asking.samples,
                replicate=asking.replicate or "",
                limit=asking.limit,
                prompt=read(Path(asking.prompt_template)) if asking.prompt_template else None,
                context=context,
                context_tokens=asked.context_tokens,
                context_chunks=asked.context_chunks,
                context_chunk_tokens=asked.context_chunk_tokens,
                context_page_tokens=asked.context_page_tokens,
                context_within=asked.context_within,
                context_search=search,
                context_source=source,
                context_embedding_model=asked.context_embedding_model,
            )
            for model in self.models
            for prompt_method in self.prompt_methods_of(model)
            for context, source in _each_context(asked)
            for asking in _each_swept(asked, self.asking(model, prompt_method))
            for item_set in item_sets
        ]

    def says(self, setting: str) -> bool:
        """Return True if a layer sets this setting, or several values of it are asked."""
        layers = (self.for_all, self.flags, *self.prompt_methods.values(), *self.models.values())
        return setting in self.whole or any(setting in each.settings for each in layers)

    def over(
        self,
        *,
        flags: Asking,
        targets: Sequence[str] = (),
        models: Sequence[str] = (),
        prompt_methods: Sequence[str] = (),
        **whole: Any,
    ) -> RunRequest:
        """Return the request with a command's options merged over it.

        Targets, models and prompting methods given there replace its own and keep its layers for
        them. ``whole`` are fields of ``RunAsked``.
        """
        below = {n: v for n, v in self.whole.items() if n != _EFFORT or n not in flags.settings}
        return structs.replace(
            self,
            targets=tuple(targets) or self.targets,
            models={name: self.models.get(name, Asking()) for name in models} or self.models,
            prompt_methods={
                prompt_method: self.prompt_methods.get(prompt_method, Asking())
                for prompt_method in prompt_methods
            }
            or self.prompt_methods,
            model_prompt_methods={} if prompt_methods else self.model_prompt_methods,
            flags=flags,
            whole={**below, **whole},
        )

    def resolved(
        self, targets: Sequence[str], defaults: Callable[[str], Mapping[str, Any]]
    ) -> RunRequest:
        """Return the same runs with every value explicit.

        Targets are given by id, with the method's ``defaults`` and the flags in each layer. No
        later default or flag can change them.
        """
        all_prompt_methods = dict.fromkeys(
            prompt_method
            for model in self.models
            for prompt_method in self.prompt_methods_of(model)
        )
        plain = Asking(shots=0, samples=1, replicate="")
        room = {THINKING_TOKENS: AUTO} if self.says("thinking") else {}
        prompt_methods = {
            prompt_method: self.flags.over(
                self.prompt_methods.get(prompt_method, Asking()).over(
                    self.for_all.over(
                        structs.replace(plain, settings={**defaults(prompt_method), **room})
                    )
                )
            )
            for prompt_method in all_prompt_methods
        }
        own = {
            model: mine
            for model in self.models
            if (mine := self.prompt_methods_of(model)) != tuple(all_prompt_methods)
        }
        return structs.replace(
            self,
            targets=tuple(targets),
            models={model: layer.without(self.flags) for model, layer in self.models.items()},
            prompt_methods=prompt_methods,
            for_all=Asking(),
            flags=Asking(),
            model_prompt_methods=own,
        )


def _contexts(asked: RunAsked) -> tuple[ContextName, ...]:
    """Return the contexts that are named."""
    return asked.context  # type: ignore[return-value]


def _each_context(asked: RunAsked) -> Iterator[tuple[ContextName | None, str]]:
    """Yield each context with its search source, one with search results once per source; None for
    the method's usual context."""
    for context in _contexts(asked) or (None,):
        is_searched = context is not None and searches(context)
        for source in asked.context_source if is_searched else (LOCAL,):
            yield context, source


def _each_swept(asked: RunAsked, asking: Asking) -> Iterator[Asking]:
    """Yield one layer per value of ``thinking`` and reasoning effort; unchanged without any."""
    swept = {"thinking": asked.thinking, _EFFORT: asked.reasoning_effort}
    for words in product(*filter(None, swept.values())):
        settings = dict(zip((name for name in swept if swept[name]), words, strict=True))
        yield Asking(settings=settings).over(asking)


# Runs of a request, or of the arguments of ``run`` and ``dry_run``.


def request_by(
    keywords: Mapping[str, Any], *, record: type[Struct] = RunAsked, **more: Any
) -> RunRequest:
    """Return the request that keyword arguments describe: fields of ``record``, and settings.

    ``set`` holds settings of other names, such as a provider's own. Raises BadUsage for an unknown
    keyword.
    """
    said = dict(keywords)
    others = said.pop("set", {})
    if "embedding_model" in said:
        said["context_embedding_model"] = said.pop("embedding_model")
    if (prompt := said.pop("prompt_template", None)) is not None:
        said["prompt_template"] = str(prompt)
    whole = {name: said.pop(name) for name in names_of("whole", record=record) if name in said}
    for name, kind, _option in options_in(record):
        if name in whole and getattr(kind, "__origin__", None) is tuple:
            whole[name] = tuple(listed(whole[name]))
    asking = {name: said.pop(name) for name in (*COUNTS, "prompt_template") if name in said}
    for name in said:
        if name not in _KEYWORDS:
            known = {*_KEYWORDS, *names_of("whole", record=record), *COUNTS, "prompt_template"}
            raise BadUsage(
                unknown_key(name, known).replace("key", "keyword", 1),
                hint=f"for a setting of a provider: set={{{name!r}: ...}}",
            )
    return RunRequest(for_all=Asking(**asking, settings={**said, **others}), whole=whole, **more)


# Settings that are keywords of their own.
_KEYWORDS = SETTINGS | set(names_of("asking", "setting")) | {THINKING_TOKENS, ANSWER_FORMAT}


def specs_of(
    session: Session,
    targets: Target | Sequence[Target],
    *,
    models: str | Sequence[str],
    prompt_method: str | Sequence[str] = (),
    **asked: Any,
) -> list[RunSpec]:
    """Return a run for each model, prompting method and item set, model by model.

    ``asked`` are fields of ``RunAsked``, and settings. Raises what ``find_target``, ``with_preset``
    and ``read_own_prompt`` raise.
    """
    request = request_by(
        asked,
        models={model: Asking() for model in listed(models)},
        prompt_methods={prompt_method: Asking() for prompt_method in listed(prompt_method)},
    )
    request = _over_preset(session, request, listed(targets))
    return request.each_spec(item_sets_of(session, listed(targets)))


def specs_of_request(session: Session, request: RunRequest) -> list[RunSpec]:
    """Return the runs of a request. Its model entries apply from now on."""
    models = {**session.config.models}
    for name, entry in request.entries.items():
        models[name] = merged([models.get(name, Entry()), entry])
    session.config = replace(session.config, models=models)
    return request.specs(item_sets_of(session, request.targets))


def item_sets_of(session: Session, targets: Sequence[Target]) -> list[bytes]:
    """Return the item sets of targets, each once."""
    found = [session.find(target, "form", "bank", "run") for target in targets]
    return list(dict.fromkeys(each for one in found for each in forms_of(session.store, one)))


def preset_of(session: Session, request: RunRequest) -> Preset | None:
    """Return the preset of a request, from the method of its first target; None without one."""
    if not request.asked.preset:
        return None
    return find_preset(method_of(session, request.targets[0]), request.asked.preset)


def with_preset(session: Session, request: RunRequest) -> RunRequest:
    """Return the request over the values of its preset; its own values override them.

    Raises NotFound if a target's method has no preset of that name.
    """
    return _over_preset(session, request, request.targets)


def _over_preset(session: Session, request: RunRequest, targets: Sequence[Target]) -> RunRequest:
    if not request.asked.preset:
        return request
    for target in targets:
        values = find_preset(method_of(session, target), request.asked.preset).values("run")
        prompt_methods, efforts = (
            tuple(listed(values.pop(name, ()))) for name in ("prompt_method", _EFFORT)
        )
        counts = {key: values.pop(key) for key in ("shots", "samples") if key in values}
        swept = {} if request.says(_EFFORT) or not efforts else {_EFFORT: efforts}
        request = structs.replace(
            request,
            for_all=request.for_all.over(Asking(**counts, settings=values)),
            prompt_methods=request.prompt_methods
            or {prompt_method: Asking() for prompt_method in prompt_methods},
            whole={**swept, **request.whole},
        )
    return request


def with_question_files(
    session: Session, request: RunRequest, tell: Callable[[ItemSet], None] | None = None
) -> RunRequest:
    """Return the request with question files among its targets replaced by their forms.

    Files are imported if they are new. Questions whose documents are looked up become a bank, with
    the form of seed 0. ``tell`` receives a line per file.
    """
    targets = []
    for target in request.targets:
        if not is_question_file(target):
            targets.append(target)
            continue
        path = Path(target)
        if placing := method_with_documents(path):
            bank = read_bank(session, path, method=placing)
            (form_id,) = form_as_it_stands(session.store, bank.id)
            form = session.store.items.item_set(form_id)
        else:
            form = read_form(session, path, method=method_of_file(path))
        if tell is not None:
            tell(form)
        targets.append(f"form:{form.id.hex()}")
    return structs.replace(request, targets=tuple(targets))
