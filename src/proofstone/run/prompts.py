"""Read custom prompt templates, and check whether prompts fit a model, before anything is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import structs

from proofstone.choices import likelihood
from proofstone.choices.answer_format import AnswerFormat, read_answer_format
from proofstone.choices.outcomes import opens_with_refusal
from proofstone.errors import BadInput, BadUsage, CallFailed, TextPurged
from proofstone.method import Method
from proofstone.models.tokens import FEWEST, MOST, counted_tokens, most_tokens
from proofstone.models.wire import SCORING_WIRES, THINKING, no_images
from proofstone.records.calls import Limits, Message, Model, ModelRequest
from proofstone.records.ids import canonical_json, content_id, digest
from proofstone.records.items import (
    PROMPT,
    PROMPT_NAME,
    ItemSet,
    LoadedItem,
    Oracle,
    OwnPrompt,
    PromptMethod,
    own_prompt_of,
)
from proofstone.records.runs import (
    ANSWER_FORMAT,
    BLOCKED_HOSTS,
    OUR_SETTINGS,
    TOOLS,
    WEB_SEARCH,
    Response,
    Run,
    listed_hosts,
)
from proofstone.run.asked_items import ask_item, asked_page
from proofstone.store.store import Store
from proofstone.texts.templates import answer_format_in

_NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})


_LONGEST = 1 << 20  # bytes; a longer file is refused before it is read


def read_own_prompt(path: Path) -> OwnPrompt:
    """Return the template in a file, under the file's own name.

    Raises BadInput if it cannot be read as UTF-8.
    """
    try:
        if path.stat().st_size > _LONGEST:
            raise BadInput(f"{path} is larger than 1 MB, too large for a prompt template")
        return OwnPrompt(path.name, path.read_text(encoding="utf-8-sig"), str(path.resolve()))
    except FileNotFoundError:
        raise BadInput(
            f"prompt template {path} not found", hint="see docs/reference/formats.md"
        ) from None
    except UnicodeDecodeError as error:
        raise BadInput(
            f"the prompt template {path} is not UTF-8: byte {error.start} cannot be read",
            hint="save it as UTF-8",
        ) from error
    except OSError as error:
        raise BadInput(
            f"the prompt template {path} cannot be read: {error.strerror or error}"
        ) from error


def with_prompt(
    method: Method, prompt_method: PromptMethod, prompt: OwnPrompt, item_set: ItemSet
) -> PromptMethod:
    """Return the prompting method with a custom template; this changes the hash of its prompts.

    Raises BadInput for a template that the method cannot use, BadUsage if it takes none.
    """
    if method.prompts is None:
        raise BadUsage(f"{method.name} takes no prompt template: remove --prompt-template")
    method.prompts.check(prompt, prompt_method.name, item_set)
    _check_read(
        method, prompt_method, format_of(prompt), f"the line {{# answer: ... #}} of {prompt.name}"
    )
    key = content_id("own-prompt", [prompt_method.prompt_hash, prompt.hash])
    return structs.replace(prompt_method, own_prompt=prompt, prompt_hash=key)


def kept_prompt(store: Store, run: Run) -> OwnPrompt | None:
    """Return the template that a run was asked with; None for the method's own.

    Raises TextPurged if it was deleted.
    """
    if PROMPT not in run.settings:
        return None
    text = store.own_prompts.text(bytes.fromhex(run.settings[PROMPT]))
    if text is None:
        raise TextPurged(f"the template {own_prompt_of(run.settings)} of this run was purged")
    return OwnPrompt(run.settings.get(PROMPT_NAME, ""), text)


def format_of(
    prompt: OwnPrompt | None, settings: Mapping[str, Any] = _NO_SETTINGS
) -> AnswerFormat | None:
    """Return the answer format of a template or of a run's settings; None without one.

    Raises BadInput for an invalid one, BadUsage if both set one.
    """
    stated = "" if prompt is None else answer_format_in(prompt.text)
    of_run = settings.get(ANSWER_FORMAT) or ""
    if stated and of_run:
        raise BadUsage(
            "both the run and its template set an answer format",
            hint="remove --answer-format, or the template's line {# answer: ... #}",
        )
    if not isinstance(of_run, str):
        raise BadInput(f"invalid answer format: {of_run!r}")
    return read_answer_format(of_run or stated) if of_run or stated else None


def check_format(
    method: Method,
    prompt_method: PromptMethod,
    prompt: OwnPrompt | None,
    settings: Mapping[str, Any],
) -> None:
    """Check the answer format of a template or of settings.

    Raises BadInput for an invalid one, BadUsage if the prompting method takes none or the template
    sets one too.
    """
    _check_read(method, prompt_method, format_of(prompt, settings), "--answer-format")


def _check_read(
    method: Method, prompt_method: PromptMethod, stated: AnswerFormat | None, where: str
) -> None:
    if stated is not None and prompt_method.whole_response:
        raise BadUsage(
            f"{method.name} takes no answer format with {prompt_method.name}: "
            f"{prompt_method.whole_response}",
            hint=f"remove {where}",
        )


def in_format(
    responses: Mapping[str, Response], stated: AnswerFormat | None
) -> Mapping[str, Response]:
    """Return the responses by step for scoring; with an answer format, only their answers."""
    if stated is None:
        return responses
    return {
        step: stated.applied(response, is_refusal=opens_with_refusal(response.text))
        for step, response in responses.items()
    }


def prompt_settings(prompt: OwnPrompt | None) -> dict[str, str]:
    """Return a run's settings on its template."""
    return {} if prompt is None else {PROMPT: prompt.hash.hex(), PROMPT_NAME: prompt.name}


def try_prompts(
    store: Store, method: Method, prompt_method: PromptMethod, item_set: ItemSet, n_items: int
) -> None:
    """Render the prompts that can fail on single questions, on a sample of them before a run.

    These are custom templates, and few-shot examples of which some may not be shown. Raises
    BadInput if a template fails or is empty, BadUsage if there are too few examples.
    """
    if (
        prompt_method.own_prompt is None
        and not prompt_method.unfit
        and not prompt_method.likelihood
    ):
        return
    for messages in first_prompts(store, method, prompt_method, item_set, n_items):
        if prompt_method.own_prompt is not None and not messages[-1].text.strip():
            raise BadInput(f"the template {prompt_method.own_prompt.name} renders an empty prompt")


def check_fit(
    store: Store,
    method: Method,
    prompt_method: PromptMethod,
    item_set: ItemSet,
    n_items: int,
    model: Model,
    max_tokens: int | None,
) -> tuple[str, ...]:
    """Return warnings before a run: prompts that will, or may, exceed the model's context window.

    Raises BadUsage if questions show images to a model without image input, and if no prompt in the
    sample leaves room for the response.
    """
    if prompt_method.images and model.limits.images is False:
        raise no_images(model.name)
    limits = model.limits
    if limits.window is None:
        return ()
    response = (max_tokens or 0) if limits.counts_response else 0
    room = limits.window - response
    prompts = list(first_prompts(store, method, prompt_method, item_set, n_items))
    if room > 0 and all(most_tokens(prompt) <= room for prompt in prompts):
        return ()
    lengths = sorted(map(counted_tokens, prompts))
    if lengths and (room <= 0 or lengths[0] * FEWEST > room):
        raise _nothing_fits(model.name, limits, response, lengths[0])
    beyond = sum(length > room for length in lengths)
    near = sum(length * MOST > room for length in lengths) - beyond
    if not beyond and not near:
        return ()
    return (_note(model.name, limits, response, beyond, near, lengths),)


def _nothing_fits(model: str, limits: Limits, response: int, shortest: int) -> BadUsage:
    return BadUsage(
        f"no prompt fits {model}: the shortest has about {shortest:,} tokens, and the context "
        f"window is {_window(limits, response)}",
        hint="use fewer --shots or a lower --max-tokens, or correct window in the model's entry",
    )


def _note(
    model: str, limits: Limits, response: int, beyond: int, near: int, lengths: Sequence[int]
) -> str:
    some = [f"about {beyond:,} will not fit"] if beyond else []
    some += [f"{near:,} {'more ' if beyond else ''}may not fit"] if near else []
    return (
        f"of {len(lengths):,} prompts checked {' and '.join(some)} {model}: the longest has "
        f"about {lengths[-1]:,} tokens (by cl100k_base; the model's own may be {FEWEST:g} to "
        f"{MOST:g} times as many), the context window is {_window(limits, response)}; prompts that "
        "do not fit fail as too_long"
    )


def _window(limits: Limits, response: int) -> str:
    return (
        f"{limits.window:,}, of which --max-tokens reserves {response:,}"
        if response
        else (f"{limits.window:,}")
    )


_PAGE, _PAGES = 64, 16


def first_prompts(
    store: Store, method: Method, prompt_method: PromptMethod, item_set: ItemSet, n_items: int
) -> Iterator[Sequence[Message]]:
    """Yield the first prompts of the set's first ``n_items``, or of 1,000 evenly spread ones."""
    pages = -(-n_items // _PAGE)
    chosen = range(pages) if pages <= _PAGES else [n * pages // _PAGES for n in range(_PAGES)]
    for page in chosen:
        size = min(_PAGE, n_items - page * _PAGE)
        for stored in asked_page(store, prompt_method, item_set.id, page * _PAGE - 1, size):
            yield first_prompt(method, stored.loaded, prompt_method)


def first_prompt(
    method: Method, item: LoadedItem, prompt_method: PromptMethod
) -> Sequence[Message]:
    """Return what a question's first call would send; sends nothing."""
    return next(iter(known_prompts(method, item, prompt_method)), ())


def known_prompts(
    method: Method, item: LoadedItem, prompt_method: PromptMethod
) -> list[Sequence[Message]]:
    """Return what a question's calls would send, if it depends on no response. Sends nothing.

    This is the first call, and for likelihoods all of them.
    """
    seen: list[Sequence[Message]] = []

    async def look(
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        seen.append(messages)
        if prompt_method.likelihood:
            return Response(text="")
        raise CallFailed("not_asked", "only its prompt is needed")

    asking = ask_item(method, item, prompt_method, look)
    with suppress(CallFailed, StopIteration):
        asking.send(None)
    asking.close()  # a method that asks several things concurrently has not ended
    return seen


# Thinking of hybrid models: switching it, and the extra tokens for it.

# The setting with the number of extra tokens if thinking is on: a number, or AUTO for the value of
# the model's entry. Only ``max_tokens`` is sent.
THINKING_TOKENS = "thinking_tokens"


AUTO = "auto"


def with_room(asked: Mapping[str, Any], said: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Return the settings with ``max_tokens`` raised if thinking is on.

    The increase comes from ``said`` (settings given by the user, without defaults). Otherwise it
    comes from the model's entry, unless the user gave ``max_tokens``. At least half of a known
    context window is left to the prompt, unless a number was given. Raises BadUsage for an invalid
    number.
    """
    settings = {name: value for name, value in asked.items() if name != THINKING_TOKENS}
    room = said.get(THINKING_TOKENS, 0 if "max_tokens" in said else AUTO)
    if room != AUTO and (isinstance(room, bool) or not isinstance(room, int) or room < 0):
        raise BadUsage(
            f"{THINKING_TOKENS} takes a whole number of 0 or more, or auto, got {room!r}"
        )
    most = settings.get("max_tokens")
    if settings.get("thinking") != "on" or most is None:
        return settings
    raised = most + (limits.thinking_tokens if room == AUTO else room)
    if room == AUTO and limits.window is not None and limits.counts_response:
        raised = max(most, min(raised, limits.window // 2))
    return {**settings, "max_tokens": raised}


def check_thinking(model: Model, settings: Mapping[str, Any]) -> None:
    """Raise BadUsage for a value other than on and off, or a model without a known thinking switch.

    Without a switch, two identical runs would be compared.
    """
    wanted = settings.get("thinking")
    if wanted is None:
        return
    if wanted not in THINKING:
        raise BadUsage(f"expected thinking {' or '.join(THINKING)}, got {wanted!r}")
    if model.simulated:
        return
    if "thinking" in model.sent_settings(settings)[1]:
        raise BadUsage(
            f"no switch for thinking is known for {model.name}",
            hint=(
                f'add to proofstone.toml [models."{model.name}".thinking] with the fields of '
                "its provider, such as on = { enable_thinking = true } and off = "
                "{ enable_thinking = false }"
            ),
        )


def thinking_note(model: Model, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the warning for a run with thinking on a simulated model."""
    if settings.get("thinking") is None or not model.simulated:
        return ()
    return (
        f"{model.name} does not think: simulated models answer identically with --thinking on "
        "and off",
    )


def check_tools(model: Model, settings: Mapping[str, Any]) -> None:
    """Raise BadUsage for an unknown tool, hosts that no search could show, or a model without one.

    A run whose tool is not sent would be compared as if it had searched.
    """
    wanted, hosts = settings.get(TOOLS), settings.get(BLOCKED_HOSTS)
    if wanted is None and hosts is not None:
        raise BadUsage("blocked_hosts without a search", hint=f"add --tools {WEB_SEARCH}")
    if wanted is None:
        return
    if wanted != WEB_SEARCH:
        raise BadUsage(f"expected tools {WEB_SEARCH}, got {wanted!r}")
    wrong = [host for host in listed_hosts(settings) if _HOST.fullmatch(host) is None]
    if wrong:
        raise BadUsage(
            f"blocked_hosts: {', '.join(wrong)}: expected hosts such as bank.example",
            hint="without https:// and path; several with commas",
        )
    if TOOLS in model.sent_settings(settings)[1]:
        raise BadUsage(
            f"{model.name} has no web search of its provider here",
            hint="name it by its provider in Inspect, as inspect/anthropic/MODEL: "
            "docs/how-to/models.md",
        )


_HOST = re.compile(r"[\w-]+(\.[\w-]+)+")


# Likelihoods: what an endpoint can score, and that nothing else is asked for.


def scored_as(method: Method, name: str, model: Model) -> str:
    """Return the prompting method that a model can be asked by: where its endpoint cannot score a
    given text, the options' letters in place of their texts."""
    is_text = name == likelihood.OPTION and likelihood.LETTER in method.prompt_methods
    return likelihood.LETTER if is_text and model.wire not in SCORING_WIRES else name


def likelihood_note(asked: str, prompt_method: PromptMethod, model: Model) -> tuple[str, ...]:
    """Return what to say before a run whose model is asked for another likelihood."""
    if prompt_method.name == asked:
        return ()
    return (
        f"{model.name}: a chat endpoint does not score given texts, so this run is "
        f"{prompt_method.name}, not {asked}; the two are ranked apart. If it also serves "
        f"/completions, add "
        f'wire = "openai-completions" to [models."{model.name}"] in proofstone.toml',
    )


def check_likelihood(
    prompt_method: PromptMethod, usual: Mapping[str, Any], said: Mapping[str, Any], model: Model
) -> None:
    """Raise BadUsage for settings of generated responses where nothing is generated, and for an
    endpoint that is configured not to return log-probabilities."""
    if not prompt_method.likelihood:
        return
    if prompt_method.name == likelihood.OPTION and model.wire not in SCORING_WIRES:
        raise BadUsage(
            f"{prompt_method.name} scores whole texts, which the endpoint of {model.name} does not",
            hint="use a local model, an endpoint with completions, or --prompt-method direct",
        )
    listed = {"top_logprobs"} if model.wire not in SCORING_WIRES else set()
    others = [
        name
        for name, value in said.items()
        if value is not None and name not in listed and usual.get(name) != value
    ]
    if others:
        raise BadUsage(
            f"{prompt_method.name} generates no response, so {', '.join(sorted(others))} "
            f"cannot be set",
            hint="remove these settings for this prompting method",
        )
    dropped = model.sent_settings(dict.fromkeys(("logprobs", "top_logprobs"), 1))[1]
    if dropped and not model.simulated:
        raise BadUsage(
            f"{prompt_method.name} needs log-probabilities, and the entry of {model.name} lists "
            f"{', '.join(dropped)} as unsupported",
            hint="use --prompt-method direct, or remove them from 'unsupported' in proofstone.toml",
        )


# Requests of a run: the same for the run loop and a dry run.


def request_of(
    run: Run,
    settings: Mapping[str, Any],
    item: LoadedItem,
    sample: int,
    step: str,
    messages: Sequence[Message],
    *,
    oracle: Oracle | None = None,
    schema: Mapping[str, Any] | None = None,
) -> ModelRequest:
    """Return the request of one step of one (item, sample).

    ``settings`` are ``sent_to_model`` of the run's settings, made once: clients cache by this
    object.
    """
    prompt = canonical_json(messages)
    return ModelRequest(
        messages=tuple(messages),
        prompt=prompt,
        prompt_hash=digest(prompt),
        settings=settings if schema is None else {**settings, "schema": schema},
        sample=sample,
        replicate=run.replicate,
        oracle=oracle,
        draw_key=_draw_key(item, step, oracle),
    )


def _draw_key(item: LoadedItem, step: str, oracle: Oracle | None) -> str:
    """Return the key of a simulated model's random numbers: the item and step, or only the item if
    options are scored one by one."""
    if oracle is None:
        return ""
    return f"{item.item.id.hex()}:{'scored' if oracle.scored else step}"


def sent_to_model(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings of a run that are sent to a model."""
    return {name: value for name, value in settings.items() if name not in OUR_SETTINGS}
