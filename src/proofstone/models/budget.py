"""A budget: the most that one command may spend, in money or tokens; how amounts are counted.

Money is counted in whole picodollars: a price of 0.4 US dollars per million tokens is 400,000 of
them a token, so what is reserved and settled adds up without rounding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct, structs

from proofstone.errors import BadUsage, NoPrice, UnboundedReply
from proofstone.records.calls import Attempt, CallRecord, ModelRequest
from proofstone.records.ids import canonical_json
from proofstone.records.models import Price
from proofstone.records.runs import Usage

# The most that one attempt can cost, known before it is sent; what it is charged where the
# endpoint does not say.
#
# A token is a byte at least, so a prompt has no more tokens than its JSON has bytes, with an
# allowance for what a chat template adds unasked (default system texts), and one for each image,
# which the JSON only names. The output, reasoning included, ends at ``max_tokens``, and with the
# prompt at the model's window where that is known.

_TEMPLATE_TOKENS = 256


_IMAGE_TOKENS = 50_000  # gpt-4o-mini counts up to 48,169 for one


_BREAKS = frozenset({"timeout", "dropped", "unreadable"})


_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens")


# Some endpoints count thinking outside of max_tokens and take a limit of its own.
_THINKING_LIMITS = ("thinking_budget",)


_IN_PROMPT = ("schema", "response_format", "tools")


def most_output(sent: Mapping[str, Any], window: int | None = None) -> int | None:
    """The most tokens that a reply can have by the settings sent, reasoning included, and by the
    model's window; None where nothing limits it."""
    limits = [sent[name] for name in _LIMITS if isinstance(sent.get(name), int)]
    if not limits:
        return window
    thinking = sum(sent[name] for name in _THINKING_LIMITS if isinstance(sent.get(name), int))
    most: int = max(limits) + thinking
    return most if window is None else min(most, window)


def may_be_billed(attempt: Attempt, *, has_answered: bool) -> bool:
    """Whether an endpoint may charge for an attempt: a reply, or a connection that broke under way.

    Errors by status are not billed, nor is what never reached a model: no connection, or a page
    for people from an address that has never answered.
    """
    if attempt.error == "not_an_api" and not has_answered:
        return False
    if attempt.status == 0:
        return attempt.reply is not None or attempt.error in _BREAKS
    return attempt.status < 300


def total_tokens(usage: Usage) -> int:
    """All tokens of a call, reasoning among those of the reply."""
    return (usage.prompt or 0) + (usage.completion or 0)


class Bounds:
    """The bounds of one model's calls. ``window`` is the most tokens of prompt and reply, if known.

    Where an endpoint counts more than was bounded (it ignores ``max_tokens``, or its template is
    long), later bounds are raised by as much.
    """

    def __init__(self, window: int | None = None) -> None:
        self.window = window
        self._more_prompt = 0
        self._more_output = 0

    def most(self, request: ModelRequest, sent: Mapping[str, Any]) -> Usage:
        """The most tokens of one attempt; ``completion`` is None where nothing limits it."""
        prompt = len(request.prompt) + _TEMPLATE_TOKENS + self._more_prompt
        prompt += _IMAGE_TOKENS * sum(len(message.images) for message in request.messages)
        prompt += sum(len(canonical_json(sent[name])) for name in _IN_PROMPT if name in sent)
        output = most_output(sent, self.window)
        return Usage(prompt, None if output is None else output + self._more_output)

    def learn(self, most: Usage, counted: Usage) -> None:
        """Takes what an endpoint counted against what was bounded."""
        if most.prompt is not None and (counted.prompt or 0) > most.prompt:
            self._more_prompt += (counted.prompt or 0) - most.prompt
        if most.completion is not None and (counted.completion or 0) > most.completion:
            self._more_output += (counted.completion or 0) - most.completion

    def estimate(
        self, request: ModelRequest, sent: Mapping[str, Any], attempt: Attempt, usage: Usage
    ) -> Usage:
        """``usage`` with what it lacks estimated, on the safe side: a prompt at its bound, a reply
        that came at a token a byte, one that did not come at its bound (0 where there is none)."""
        most = self.most(request, sent)
        prompt = most.prompt if usage.prompt is None else usage.prompt
        completion = usage.completion
        if completion is None:
            completion = most.completion or 0
            if attempt.reply is not None:
                came = len(attempt.reply.text.encode()) + len(attempt.reply.reasoning.encode())
                completion = came if most.completion is None else min(came, completion)
        return structs.replace(usage, prompt=prompt, completion=completion)


Unit = Literal["USD", "tokens"]


_PICO = 10**12


_MOST_USD = 1_000_000  # as picodollars within what a database holds as one integer


_MOST_TOKENS = 10**15


_SCALE = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(usd|[kmg]?tok(?:ens?)?)\s*", re.IGNORECASE)


_HINT = "write an amount of money or tokens: 20USD, 0.05USD, 500ktok, 5Mtok"


class Budget(Struct, frozen=True):
    """The most that one command may spend, over all its models, purposes and retries.

    ``amount`` is from 0 up, in tokens or in picodollars, as ``unit`` says.
    """

    unit: Unit
    amount: int

    def __str__(self) -> str:
        return shown(self.unit, self.amount)

    def option(self) -> str:
        """The text that ``read_budget`` reads as this budget."""
        if self.unit == "tokens":
            return f"{self.amount}tok"
        return f"{_plain(Decimal(self.amount) / _PICO)}USD"


def read_budget(text: str) -> Budget:
    """``20USD``, ``0.05USD``, ``500ktok``, ``5Mtok``. Raises BadUsage for anything else."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise BadUsage(f"{text!r} is no budget", hint=_HINT)
    number, unit = Decimal(found[1]), found[2].lower()
    if unit == "usd":
        if number > _MOST_USD:
            raise BadUsage(f"a budget is at most {_MOST_USD:,} USD, not {text!r}", hint=_HINT)
        return Budget("USD", int(number * _PICO))
    tokens = int(number * _SCALE[unit.partition("tok")[0]])
    if tokens > _MOST_TOKENS:
        raise BadUsage(f"a budget is at most {_MOST_TOKENS:,} tokens, not {text!r}", hint=_HINT)
    return Budget("tokens", tokens)


def money(cost_usd: float) -> int:
    """US dollars as picodollars, to the nearest: exact for whole tokens of a price with up to six
    decimal places, up to some thousand dollars."""
    return round(cost_usd * _PICO)


def charge(unit: Unit, call: CallRecord) -> int:
    """What a call takes of a budget: what its endpoint counted, or our estimate where it did not
    say; nothing where its reply was made up."""
    if call.simulated:
        return 0
    if unit == "USD":
        return money(call.cost_usd or 0.0)
    if call.estimated_tokens is not None:
        return call.estimated_tokens
    return (call.usage.prompt or 0) + (call.usage.completion or 0)


def shown(unit: Unit, amount: int) -> str:
    """An amount as people read it: ``0.0123 USD``, ``5,000,000 tokens``."""
    if unit == "tokens":
        return f"{amount:,} tokens"
    usd = Decimal(amount) / _PICO
    if usd >= 100:
        return f"{usd:,.2f} USD"
    return f"{_plain(usd.quantize(Decimal('0.0001')) if usd >= 1 else _three(usd))} USD"


def _three(number: Decimal) -> Decimal:
    """At most four places, or as many as show three digits of a small number."""
    if not number:
        return number
    return round(number, max(4, 2 - number.adjusted()))


def _plain(number: Decimal) -> str:
    """Without an exponent, and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# What a call cost, as far as that can be known.

_PER = 1_000_000


def cost_usd(price: Price | None, usage: Usage, status: int) -> float | None:
    """US dollars for a call's tokens, cached ones and those of hidden thought at their own prices
    (endpoints count the latter among the completion's); a reply that cannot be read costs the same.

    None where no price is known, or where the endpoint did not say what it counted and may have
    billed (a 200, a dropped connection). A refusal (status 300 and above) without usage costs 0.
    """
    if price is None:
        return None
    if usage.prompt is None and usage.completion is None:
        return 0.0 if status >= 300 else None
    prompt, completion = usage.prompt or 0, usage.completion or 0
    cached = min(usage.cached or 0, prompt)
    cached_price = price.input if price.cached is None else price.cached
    reasoning = min(usage.reasoning or 0, completion)
    reasoning_price = price.output if price.reasoning is None else price.reasoning
    for_prompt = (prompt - cached) * price.input + cached * cached_price
    for_reply = (completion - reasoning) * price.output + reasoning * reasoning_price
    return (for_prompt + for_reply) / _PER


# What no budget can hold, and the remedy: no price is known, or replies have no end.


def no_price(models: Sequence[str], today: str = "YYYY-MM-DD") -> NoPrice:
    """The error for models and searches without a price, with the lines to add. They are no TOML
    before the numbers are filled in, so that nobody's price is 0 by mistake."""
    names = ", ".join(models)
    lines = [*price_lines(models, today), "or give a budget in tokens: --budget 5Mtok"]
    return NoPrice(f"a budget in money needs the price of {names}", hint="\n  ".join(lines))


def price_lines(models: Sequence[str], today: str = "YYYY-MM-DD") -> list[str]:
    """What to add to know the prices of models, below the line that says so."""
    return [
        f"add to proofstone.toml, in US dollars {_per(models)} from the provider's page:",
        *(line for model in models for line in _entry(model, today)),
    ]


def unbounded_reply(models: Sequence[str]) -> UnboundedReply:
    """The error for models that are sent no limit of their replies' length."""
    return UnboundedReply(
        f"a budget cannot hold {', '.join(models)}: no max_tokens is sent, so nothing limits what "
        "one reply may cost",
        hint="give --max-tokens N; where the model refuses that field under its name, set "
        'max_tokens_field = "max_completion_tokens" in its entry of proofstone.toml, or else its '
        "window",
    )


def _per(names: Sequence[str]) -> str:
    per = ["per million tokens"] if any(map(_is_model, names)) else []
    per += [] if all(map(_is_model, names)) else ["per 1,000 requests"]
    return " or ".join(per)


def _is_model(name: str) -> bool:
    """Whether a name is a model's (``provider/model``) and not a search's."""
    return "/" in name


def _entry(name: str, today: str) -> tuple[str, str]:
    day = f'date = "{today}", source = "https://..."'
    if _is_model(name):
        price = f"price = {{ input = INPUT, output = OUTPUT, {day} }}"
        return f'    [models."{name}"]', f"    {price}"
    return f"    [searches.{name}]", f"    price = {{ per_1000 = PRICE, {day} }}"
