"""Simulated models for trials: ``sim/NAME?ability=0.7&bias=0.2&miss=0.05``, seeded.

A simulated model reads no prompt. It uses the question's oracle (correct choice, all choices, the
wording of a response). With probability ``miss`` it gives no answer. Otherwise it gives the correct
one with probability ``ability``, and else a guess. A guess is uniform over all choices, of which a
share ``bias`` becomes the first choice instead.

Its expected accuracy on n choices is ``(1 - miss) * (ability + (1 - ability) * (1 - bias) / n)``,
plus ``(1 - miss) * (1 - ability) * bias`` if the first choice is correct. Parts of a response are
sampled separately, and a part without an answer is left out.

If options are scored (likelihood), every token of the sampled option is the more probable one; a
missing answer is a guess then.

Samples depend on its name with the query, the item's ``draw_key``, sample, re-ask and replicate.
The same question gets the same response on every machine and in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson
from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.models.names import ModelName, parse_model_name
from proofstone.models.responses import Continuation, read_response, scored_body
from proofstone.records.calls import Attempt, Limits, ModelRequest, Ticket
from proofstone.records.ids import Draws
from proofstone.records.items import Oracle

NO_ANSWER = "No answer comes to mind."


_WIRE = "sim"


_DRAWS = "simulated-1"  # increase when the meaning of samples changes: responses are cached by name


_BYTES_PER_TOKEN = 4  # of plain text, for a plausible usage


_NO_ORACLE = "a simulated model answers only questions with a known answer key: this one has none"


class Character(Struct, frozen=True, kw_only=True):
    """How a simulated model answers; each a probability in [0, 1]."""

    ability: float = 0.5
    bias: float = 0.0
    miss: float = 0.0


class SimulatedModel:
    """A ``Model`` that samples its responses; see this module."""

    simulated = True
    wire = _WIRE
    endpoint = "simulated"
    limits = Limits()

    def __init__(self, name: str, character: Character) -> None:
        self.name = name
        self.reported_as = name.partition("/")[2]
        self.character = character

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return no sent settings: no setting changes the samples."""
        return {}, tuple(sorted(asked))

    async def submit(self, request: ModelRequest) -> Ticket:
        """Accept the request; nothing leaves the process."""
        return Ticket(request)

    async def collect(self, ticket: Ticket) -> Attempt:
        """Return the response as a chat-completion body and as parsed from it.

        Without an oracle, returns a final failure.
        """
        request = ticket.request
        if request.oracle is None:
            return Attempt(error="bad_request", detail=_NO_ORACLE)
        if request.oracle.scored:
            raw = _scored(self, request, request.oracle)
            return Attempt(raw=raw, status=200, response=read_response(_WIRE, raw))
        text = _response_text(self.character, request.oracle, _draws(self, request))
        raw = orjson.dumps(_body(self.reported_as, len(request.prompt), text))
        return Attempt(raw=raw, status=200, response=read_response(_WIRE, raw))

    async def close(self) -> None:
        """Do nothing: nothing is held open."""


def _draws(model: SimulatedModel, request: ModelRequest) -> Draws:
    purpose = f"{_DRAWS}|{request.reask}|{request.replicate}|{model.name}|{request.draw_key}"
    return Draws(0, request.sample, purpose)


# Per token, of the option that is drawn and of the others, before a part that is drawn for each.
_MOST_PROBABLE, _LESS_PROBABLE = -1.0, -2.5


def _scored(model: SimulatedModel, request: ModelRequest, oracle: Oracle) -> bytes:
    """Return the body of a scored text. The tokens of one choice, sampled like an answer, are more
    probable than those of the others. A missing answer becomes a guess."""
    draws = _draws(model, request)
    if draws.uniform() < model.character.miss:
        chosen = draws.choice(oracle.choices)
    else:
        chosen = _choice(model.character, oracle, draws)
    text = request.messages[-1].text
    is_chosen = oracle.scored == chosen
    own = [draws.uniform() for _ in oracle.choices][oracle.choices.index(oracle.scored)]
    each = (_MOST_PROBABLE if is_chosen else _LESS_PROBABLE) - own
    n = max(1, len(text.split()))
    body = {
        "model": model.reported_as,
        "token_logprobs": [each] * n,
        "usage": {
            "prompt_tokens": len(request.prompt) // _BYTES_PER_TOKEN + 1,
            "completion_tokens": 0,
        },
    }
    return scored_body(Continuation(text=text, by="sim"), orjson.dumps(body))


def simulated_model(name: ModelName) -> SimulatedModel:
    """Return the model of a name ``sim/NAME?ability=&bias=&miss=``, each in [0, 1].

    Its canonical name lists the parameters in order, without defaults, so that two spellings are
    one model. Raises BadUsage naming every invalid parameter.
    """
    plain, _, query = name.model.partition("?")
    character = _read_character(str(name), plain, query)
    values = {field: getattr(character, field) for field in Character.__struct_fields__}
    usual = Character()
    changed = [f"{k}={v!r}" for k, v in values.items() if v != getattr(usual, k)]
    full = f"{name.provider}/{plain}" + ("?" + "&".join(changed) if changed else "")
    return SimulatedModel(full, character)


def stored_name(model: str) -> str:
    """Return the name under which runs of a model are stored; other texts unchanged."""
    if not model.startswith("sim/"):
        return model
    try:
        return simulated_model(parse_model_name(model)).name
    except BadUsage:
        return model


def simulated_by(model: str) -> dict[str, float]:
    """Return all parameters of a simulated model by name, those left at their defaults too."""
    return structs.asdict(simulated_model(parse_model_name(model)).character)


def _read_character(name: str, plain: str, query: str) -> Character:
    fields = Character.__struct_fields__
    values: dict[str, float] = {}
    problems = [] if plain else ["a name is missing before '?'"]
    for key, text in parse_qsl(query, keep_blank_values=True):
        if key not in fields:
            problems.append(f"unknown parameter {key!r}")
        elif key in values:
            problems.append(f"{key} is given twice")
        else:
            values[key] = _probability(text)
            if not 0 <= values[key] <= 1:
                problems.append(f"{key}: expected a number from 0 to 1, got {text!r}")
    if problems:
        raise BadUsage(
            f"invalid simulated model {name!r}: {'; '.join(problems)}",
            hint=f"expected {', '.join(fields)}, as in sim/ann?ability=0.7&bias=0.2",
        )
    return Character(**values)


def _probability(text: str) -> float:
    """Return the number; one out of range for other texts (NaN compares as out of range)."""
    try:
        return float(text) + 0.0  # minus zero has another spelling
    except ValueError:
        return -1.0


def _response_text(character: Character, oracle: Oracle, draws: Draws) -> str:
    if oracle.parts:
        said = [_response_text(character, part, draws) for part in oracle.parts]
        return "\n".join(line for line in said if line != NO_ANSWER) or NO_ANSWER
    if draws.uniform() < character.miss:
        return NO_ANSWER
    return oracle.response.replace("{choice}", _choice(character, oracle, draws))


def _choice(character: Character, oracle: Oracle, draws: Draws) -> str:
    if draws.uniform() < character.ability or not oracle.choices:
        return oracle.answer_key
    if draws.uniform() < character.bias:
        return oracle.choices[0]
    return draws.choice(oracle.choices)


def _body(model: str, prompt_bytes: int, text: str) -> dict[str, Any]:
    """Return the body of an OpenAI chat completion, so that one parser reads all stored bodies."""
    prompt = prompt_bytes // _BYTES_PER_TOKEN + 1
    completion = len(text.encode()) // _BYTES_PER_TOKEN + 1
    return {
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
    }
