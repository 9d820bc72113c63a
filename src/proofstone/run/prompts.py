"""Prompts before anything is asked: templates of people's own, and whether prompts fit a model."""

from __future__ import annotations

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
from proofstone.records.runs import ANSWER_FORMAT, OUR_SETTINGS, Response, Run
from proofstone.run.evidence import ask_item, asked_page
from proofstone.store.store import Store
from proofstone.texts.templates import answer_format_in

_NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})


_LONGEST = 1 << 20  # bytes; a longer file is no template, and is refused before it is read


def read_own_prompt(path: Path) -> OwnPrompt:
    """The template in a file, under the file's own name. Raises BadInput where it cannot be read
    as UTF-8."""
    try:
        if path.stat().st_size > _LONGEST:
            raise BadInput(f"{path} is larger than 1 MB: it is no prompt template")
        return OwnPrompt(path.name, path.read_text(encoding="utf-8-sig"), str(path.resolve()))
    except FileNotFoundError:
        raise BadInput(f"there is no prompt template {path}", hint="see docs/prompts.md") from None
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
    """The way, asking by a person's template; its prompts' hash is another one then.

    Raises BadInput for a template that the method cannot ask by, BadUsage where it takes none.
    """
    if method.prompts is None:
        raise BadUsage(f"{method.name} asks by its own prompts alone: leave --prompt-template out")
    method.prompts.check(prompt, prompt_method.name, item_set)
    _check_read(
        method, prompt_method, format_of(prompt), f"the line {{# answer: ... #}} of {prompt.name}"
    )
    key = content_id("own-prompt", [prompt_method.prompt_hash, prompt.hash])
    return structs.replace(prompt_method, own_prompt=prompt, prompt_hash=key)


def kept_prompt(store: Store, run: Run) -> OwnPrompt | None:
    """The template that a run was asked by, from the store; None where it was the method's own.
    Raises TextPurged where it is gone."""
    if PROMPT not in run.settings:
        return None
    text = store.own_prompts.text(bytes.fromhex(run.settings[PROMPT]))
    if text is None:
        raise TextPurged(
            f"the template {own_prompt_of(run.settings)}, by which this run asked, was purged"
        )
    return OwnPrompt(run.settings.get(PROMPT_NAME, ""), text)


def format_of(
    prompt: OwnPrompt | None, settings: Mapping[str, Any] = _NO_SETTINGS
) -> AnswerFormat | None:
    """The format of answers that a template or a run's settings state; None for none. Raises
    BadInput for one that cannot be used, BadUsage where both state one."""
    stated = "" if prompt is None else answer_format_in(prompt.text)
    of_run = settings.get(ANSWER_FORMAT) or ""
    if stated and of_run:
        raise BadUsage(
            "the format of answers is stated by the run and by its template",
            hint="leave out --answer-format, or the template's line {# answer: ... #}",
        )
    if not isinstance(of_run, str):
        raise BadInput(f"no format of answers: {of_run!r}")
    return read_answer_format(of_run or stated) if of_run or stated else None


def check_format(
    method: Method,
    prompt_method: PromptMethod,
    prompt: OwnPrompt | None,
    settings: Mapping[str, Any],
) -> None:
    """Raises BadInput for a format of answers that cannot be used, BadUsage where the way takes
    none or where the template states one too."""
    _check_read(method, prompt_method, format_of(prompt, settings), "--answer-format")


def _check_read(
    method: Method, prompt_method: PromptMethod, stated: AnswerFormat | None, where: str
) -> None:
    if stated is not None and prompt_method.whole_response:
        raise BadUsage(
            f"{method.name} takes no format of answers with {prompt_method.name}: "
            f"{prompt_method.whole_response}",
            hint=f"leave out {where}",
        )


def in_format(
    responses: Mapping[str, Response], stated: AnswerFormat | None
) -> Mapping[str, Response]:
    """The replies by step as they are scored: in a stated format, their answers alone."""
    if stated is None:
        return responses
    return {
        step: stated.applied(response, is_refusal=opens_with_refusal(response.text))
        for step, response in responses.items()
    }


def prompt_settings(prompt: OwnPrompt | None) -> dict[str, str]:
    """What a run's settings hold of its template."""
    return {} if prompt is None else {PROMPT: prompt.hash.hex(), PROMPT_NAME: prompt.name}


def try_prompts(
    store: Store, method: Method, prompt_method: PromptMethod, item_set: ItemSet, n_items: int
) -> None:
    """Renders what may fail on single questions, as many of them as are looked at before a run: a
    person's template, and worked examples of which some may not be shown. Raises BadInput where a
    template fails on one or says nothing, BadUsage where one finds too few examples."""
    if (
        prompt_method.own_prompt is None
        and not prompt_method.unfit
        and not prompt_method.likelihood
    ):
        return
    for messages in first_prompts(store, method, prompt_method, item_set, n_items):
        if prompt_method.own_prompt is not None and not messages[-1].text.strip():
            raise BadInput(f"the template {prompt_method.own_prompt.name} makes an empty prompt")


def check_fit(
    store: Store,
    method: Method,
    prompt_method: PromptMethod,
    item_set: ItemSet,
    n_items: int,
    model: Model,
    max_tokens: int | None,
) -> tuple[str, ...]:
    """What to say before a run: that prompts will, or may, pass the model's window.

    Raises BadUsage where the questions show images to a model that takes none, and where no prompt
    looked at leaves room for the reply.
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
        f"no prompt fits {model}: the shortest has about {shortest:,} tokens, "
        f"and the window is {_window(limits, response)}",
        hint="ask with fewer --shots or a lower --max-tokens, or correct window in its entry",
    )


def _note(
    model: str, limits: Limits, response: int, beyond: int, near: int, lengths: Sequence[int]
) -> str:
    some = [f"about {beyond:,} will not fit"] if beyond else []
    some += [f"{near:,} {'more ' if beyond else ''}may not fit"] if near else []
    return (
        f"of {len(lengths):,} prompts looked at {' and '.join(some)} {model}: the longest has "
        f"about {lengths[-1]:,} tokens (by cl100k_base; the model's own may be {FEWEST:g} to "
        f"{MOST:g} times as many), the window is {_window(limits, response)}; what does not "
        f"fit fails "
        "as too_long"
    )


def _window(limits: Limits, response: int) -> str:
    return (
        f"{limits.window:,}, of which --max-tokens keeps {response:,}"
        if response
        else (f"{limits.window:,}")
    )


_PAGE, _PAGES = 64, 16


def first_prompts(
    store: Store, method: Method, prompt_method: PromptMethod, item_set: ItemSet, n_items: int
) -> Iterator[Sequence[Message]]:
    """The first prompts of the set's first ``n_items``, or of a thousand of them in pages evenly
    spread."""
    pages = -(-n_items // _PAGE)
    chosen = range(pages) if pages <= _PAGES else [n * pages // _PAGES for n in range(_PAGES)]
    for page in chosen:
        size = min(_PAGE, n_items - page * _PAGE)
        for stored in asked_page(store, prompt_method, item_set.id, page * _PAGE - 1, size):
            yield first_prompt(method, stored.loaded, prompt_method)


def first_prompt(
    method: Method, item: LoadedItem, prompt_method: PromptMethod
) -> Sequence[Message]:
    """What a question's first call would send; nothing is sent."""
    return next(iter(known_prompts(method, item, prompt_method)), ())


def known_prompts(
    method: Method, item: LoadedItem, prompt_method: PromptMethod
) -> list[Sequence[Message]]:
    """What a question's calls would send, as far as it depends on no reply: the first call; of
    likelihoods all of them. Nothing is sent."""
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
        raise CallFailed("not_asked", "only its prompt is wanted")

    asking = ask_item(method, item, prompt_method, look)
    with suppress(CallFailed, StopIteration):
        asking.send(None)
    asking.close()  # one that asks several things at once has not ended
    return seen


# Thinking of hybrid models: whether it can be switched, and the room that a reply has for it.

# Of a request's settings the one that says how many tokens longer a reply may be where the model is
# told to think: a number, or AUTO for what its entry says. What is sent is ``max_tokens``.
THINKING_TOKENS = "thinking_tokens"


AUTO = "auto"


def with_room(asked: Mapping[str, Any], said: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """The settings with ``max_tokens`` raised where thinking is on: by what ``said`` names (what a
    person said, without the method's defaults), else by what the model's entry has, unless a person
    named ``max_tokens``.

    Of a known window at least half is left to the prompt, unless a number was named. Raises
    BadUsage for a room that is no number.
    """
    settings = {name: value for name, value in asked.items() if name != THINKING_TOKENS}
    room = said.get(THINKING_TOKENS, 0 if "max_tokens" in said else AUTO)
    if room != AUTO and (isinstance(room, bool) or not isinstance(room, int) or room < 0):
        raise BadUsage(f"{THINKING_TOKENS} takes a whole number from 0 up, or auto, not {room!r}")
    most = settings.get("max_tokens")
    if settings.get("thinking") != "on" or most is None:
        return settings
    raised = most + (limits.thinking_tokens if room == AUTO else room)
    if room == AUTO and limits.window is not None and limits.counts_response:
        raised = max(most, min(raised, limits.window // 2))
    return {**settings, "max_tokens": raised}


def check_thinking(model: Model, settings: Mapping[str, Any]) -> None:
    """Raises BadUsage for a word that is neither on nor off, and for a model of which nobody has
    said how its thinking is switched: two runs that are the same would be compared."""
    wanted = settings.get("thinking")
    if wanted is None:
        return
    if wanted not in THINKING:
        raise BadUsage(f"thinking is {' or '.join(THINKING)}, not {wanted!r}")
    if model.simulated:
        return
    if "thinking" in model.sent_settings(settings)[1]:
        raise BadUsage(
            f"nothing is known of how {model.name} is told to think or not",
            hint=f'add to proofstone.toml [models."{model.name}".thinking] with the fields that '
            "its provider names, such as on = { enable_thinking = true } and "
            "off = { enable_thinking = false }",
        )


def thinking_note(model: Model, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What to say before a run that tells a simulated respondent to think."""
    if settings.get("thinking") is None or not model.simulated:
        return ()
    return (
        f"{model.name} does not think: a simulated respondent answers alike with --thinking on "
        "and off",
    )


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


# What a run asks of its model, one call at a time: the same from the run loop and a dry run.


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
    """The request of one step of one (item, sample). ``settings`` are ``sent_to_model`` of the
    run's, made once: clients keep what the same object comes to."""
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
    """What a simulated model's draws are fixed by: the step, or, where options are scored one by
    one, the item alone."""
    if oracle is None:
        return ""
    return f"{item.item.id.hex()}:{'scored' if oracle.scored else step}"


def sent_to_model(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run that are a model's; the others say how often and where it is asked."""
    return {name: value for name, value in settings.items() if name not in OUR_SETTINGS}
