"""Limit what one command may spend, in money or tokens.

Money is counted in whole picodollars. A price of 0.4 US dollars per million tokens is 400,000 of
them per token, so reserved and settled amounts add up without rounding.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct, structs

from proofstone.errors import BadUsage, BudgetReached, NoPrice, UnboundedResponse
from proofstone.models.retries import Halt
from proofstone.records.calls import Attempt, CallRecord, Model, ModelRequest
from proofstone.records.ids import canonical_json
from proofstone.records.models import Price, SearchPrice
from proofstone.records.runs import Spent, Usage

# The maximum cost of one attempt, known before it is sent, and its charge if the endpoint reports
# no usage.
#
# A token is at least one byte, so a prompt has no more tokens than its JSON has bytes. Allowances
# cover texts that a chat template adds (default system texts) and images, which the JSON only
# names. The output, reasoning included, ends at ``max_tokens``, and with the prompt at the model's
# context window, if known.

_TEMPLATE_TOKENS = 256


_IMAGE_TOKENS = 50_000  # gpt-4o-mini counts up to 48,169 for one


_BREAKS = frozenset({"timeout", "dropped", "unreadable"})


_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens")


# Some endpoints count thinking outside of max_tokens, with a separate limit.
_THINKING_LIMITS = ("thinking_budget",)


_IN_PROMPT = ("schema", "response_format", "tools")


def most_output(sent: Mapping[str, Any], window: int | None = None) -> int | None:
    """Return the maximum tokens of a response, reasoning included; None if unlimited.

    Uses the settings sent and the model's context window.
    """
    limits = [sent[name] for name in _LIMITS if isinstance(sent.get(name), int)]
    if not limits:
        return window
    thinking = sum(sent[name] for name in _THINKING_LIMITS if isinstance(sent.get(name), int))
    most: int = max(limits) + thinking
    return most if window is None else min(most, window)


def may_be_billed(attempt: Attempt, *, has_answered: bool) -> bool:
    """Return True if an endpoint may charge for an attempt: a response, or a broken connection.

    Errors by status are not billed. Nor is what never reached a model: no connection, or an HTML
    page from an address that has never answered.
    """
    if attempt.error == "not_an_api" and not has_answered:
        return False
    if attempt.status == 0:
        return attempt.response is not None or attempt.error in _BREAKS
    return attempt.status < 300


def total_tokens(usage: Usage) -> int:
    """Return all tokens of a call; reasoning is part of the response."""
    return (usage.prompt or 0) + (usage.completion or 0)


class Bounds:
    """Bound the tokens of one model's calls.

    ``window`` is the maximum of prompt and response tokens, if known. If an endpoint counts more
    than the bound (it ignores ``max_tokens``, or its template is long), later bounds are raised by
    as much.
    """

    def __init__(self, window: int | None = None) -> None:
        self.window = window
        self._more_prompt = 0
        self._more_output = 0

    def most(self, request: ModelRequest, sent: Mapping[str, Any]) -> Usage:
        """Return the maximum tokens of one attempt; ``completion`` is None if unlimited."""
        prompt = len(request.prompt) + _TEMPLATE_TOKENS + self._more_prompt
        prompt += _IMAGE_TOKENS * sum(len(message.images) for message in request.messages)
        prompt += sum(len(canonical_json(sent[name])) for name in _IN_PROMPT if name in sent)
        output = most_output(sent, self.window)
        return Usage(prompt, None if output is None else output + self._more_output)

    def learn(self, most: Usage, counted: Usage) -> None:
        """Compare an endpoint's count with its bound, and raise later bounds."""
        if most.prompt is not None and (counted.prompt or 0) > most.prompt:
            self._more_prompt += (counted.prompt or 0) - most.prompt
        if most.completion is not None and (counted.completion or 0) > most.completion:
            self._more_output += (counted.completion or 0) - most.completion

    def estimate(
        self, request: ModelRequest, sent: Mapping[str, Any], attempt: Attempt, usage: Usage
    ) -> Usage:
        """Return ``usage`` with missing counts estimated at their upper bounds.

        A prompt counts at its bound, a received response at one token per byte, and a lost one at
        its bound (0 without one).
        """
        most = self.most(request, sent)
        prompt = most.prompt if usage.prompt is None else usage.prompt
        completion = usage.completion
        if completion is None:
            completion = most.completion or 0
            if attempt.response is not None:
                came = len(attempt.response.text.encode()) + len(
                    attempt.response.reasoning.encode()
                )
                completion = came if most.completion is None else min(came, completion)
        return structs.replace(usage, prompt=prompt, completion=completion)


Unit = Literal["USD", "tokens"]


_PICO = 10**12


_MOST_USD = 1_000_000  # as picodollars within what a database holds as one integer


_MOST_TOKENS = 10**15


_SCALE = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(usd|[kmg]?tok(?:ens?)?)\s*", re.IGNORECASE)


_HINT = "expected an amount of money or tokens: 20USD, 0.05USD, 500ktok, 5Mtok"


class Budget(Struct, frozen=True):
    """The maximum that one command may spend, over all its models, purposes and retries.

    ``amount`` is 0 or more, in tokens or picodollars, as ``unit`` says.
    """

    unit: Unit
    amount: int

    def __str__(self) -> str:
        return shown(self.unit, self.amount)

    def option(self) -> str:
        """Return the text that ``read_budget`` reads as this budget."""
        if self.unit == "tokens":
            return f"{self.amount}tok"
        return f"{_plain(Decimal(self.amount) / _PICO)}USD"


def read_budget(text: str) -> Budget:
    """Parse ``20USD``, ``0.05USD``, ``500ktok`` or ``5Mtok``. Raises BadUsage for anything else."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise BadUsage(f"invalid budget {text!r}", hint=_HINT)
    number, unit = Decimal(found[1]), found[2].lower()
    if unit == "usd":
        if number > _MOST_USD:
            raise BadUsage(
                f"expected a budget of at most {_MOST_USD:,} USD, got {text!r}", hint=_HINT
            )
        return Budget("USD", int(number * _PICO))
    tokens = int(number * _SCALE[unit.partition("tok")[0]])
    if tokens > _MOST_TOKENS:
        raise BadUsage(
            f"expected a budget of at most {_MOST_TOKENS:,} tokens, got {text!r}", hint=_HINT
        )
    return Budget("tokens", tokens)


def money(cost_usd: float) -> int:
    """Convert US dollars to picodollars, rounded to the nearest.

    Exact for whole tokens at prices of up to six decimal places, up to some thousand dollars.
    """
    return round(cost_usd * _PICO)


def charge(unit: Unit, call: CallRecord) -> int:
    """Return what a call takes of a budget: the endpoint's count, or our estimate without one.

    Simulated responses cost nothing.
    """
    if call.simulated:
        return 0
    if unit == "USD":
        return money(call.cost_usd or 0.0)
    if call.estimated_tokens is not None:
        return call.estimated_tokens
    return (call.usage.prompt or 0) + (call.usage.completion or 0)


def shown(unit: Unit, amount: int) -> str:
    """Format an amount: ``0.0123 USD``, ``5,000,000 tokens``."""
    if unit == "tokens":
        return f"{amount:,} tokens"
    usd = Decimal(amount) / _PICO
    if usd >= 100:
        return f"{usd:,.2f} USD"
    return f"{_plain(usd.quantize(Decimal('0.0001')) if usd >= 1 else _three(usd))} USD"


def _three(number: Decimal) -> Decimal:
    """Round to four decimal places, or to three significant digits for a small number."""
    if not number:
        return number
    return round(number, max(4, 2 - number.adjusted()))


def _plain(number: Decimal) -> str:
    """Format without an exponent or trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# The cost of a call, if it can be known.

_PER = 1_000_000


def cost_usd(price: Price | None, usage: Usage, status: int) -> float | None:
    """Return the cost of a call's tokens in US dollars.

    Cached and hidden reasoning tokens have their own prices; endpoints count the latter in the
    completion. An unparseable response costs the same. Returns None without a known price, or if
    the endpoint reported no usage and may have billed (a 200, a dropped connection). A refusal
    (status 300 and above) without usage costs 0.
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
    for_response = (completion - reasoning) * price.output + reasoning * reasoning_price
    return (for_prompt + for_response) / _PER


# Errors for what no budget can bound: unknown prices and unlimited responses.


def no_price(models: Sequence[str], today: str = "YYYY-MM-DD") -> NoPrice:
    """Return the error for models and searches without a price, with the lines to add.

    The lines are invalid TOML until the numbers are filled in, so that no price is 0 by mistake.
    """
    names = ", ".join(models)
    lines = [*price_lines(models, today), "or give a budget in tokens: --budget 5Mtok"]
    return NoPrice(f"a budget in money needs the price of {names}", hint="\n  ".join(lines))


def price_lines(models: Sequence[str], today: str = "YYYY-MM-DD") -> list[str]:
    """Return the lines to add for the prices of models, after a heading."""
    return [
        f"add to proofstone.toml, in US dollars {_per(models)} from the provider's page:",
        *(line for model in models for line in _entry(model, today)),
    ]


def unbounded_response(models: Sequence[str]) -> UnboundedResponse:
    """Return the error for models that are sent no limit on response length."""
    return UnboundedResponse(
        f"a budget cannot cover {', '.join(models)}: no max_tokens is sent, so nothing limits "
        "the cost of one response",
        hint=(
            "give --max-tokens N; if the model refuses that field name, set max_tokens_field "
            '= "max_completion_tokens" in its entry of proofstone.toml, or set its window'
        ),
    )


def _per(names: Sequence[str]) -> str:
    per = ["per million tokens"] if any(map(_is_model, names)) else []
    per += [] if all(map(_is_model, names)) else ["per 1,000 requests"]
    return " or ".join(per)


def _is_model(name: str) -> bool:
    """Return True for a model's name (``provider/model``), False for a search's."""
    return "/" in name


def _entry(name: str, today: str) -> tuple[str, str]:
    day = f'date = "{today}", source = "https://..."'
    if _is_model(name):
        price = f"price = {{ input = INPUT, output = OUTPUT, {day} }}"
        return f'    [models."{name}"]', f"    {price}"
    return f"    [searches.{name}]", f"    price = {{ per_1000 = PRICE, {day} }}"


# Track what a command has spent: the maximum cost is reserved before each attempt and replaced by
# the billed amount afterwards.
#
# The budget is therefore never exceeded by a known amount. A request without enough budget waits
# while other attempts are in flight, since most cost less than reserved. The budget is reached only
# when none is in flight. First come, first served.

_ENDLESS = 2**62


_ROOM = 1.25  # how much more than now is recorded in one step, so that recording is rare


class BudgetSpent(Exception):
    """No attempt is in flight, and the rest does not cover another one."""


class Exposure(NamedTuple):
    """Attempts that may be billed and are not stored yet: their number and maximum amount."""

    calls: int
    amount: int


class Journal(Protocol):
    """Store the exposure on disk, for the case that the process is killed."""

    async def allow(self, most: Exposure) -> None:
        """Return once it is on disk that the exposure may be as much as ``most``."""


class _Waiter(NamedTuple):
    amount: int
    future: asyncio.Future[None]


class Spending:
    """Track the spending of one command, over all its models and purposes, on one loop at a time.

    Call ``reserve`` before an attempt, then ``settle`` with its row, or ``abandon`` if none came
    back; ``keep`` once the row is committed. Amounts are in the budget's unit. Without a budget
    nothing is refused or reserved: attempts are counted, and amounts are tokens. ``beside`` sums
    what searches and embeddings took, by the name of the search or model.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget
        self._most = _ENDLESS if budget is None else budget.amount
        self._unit: Unit = "tokens" if budget is None else budget.unit
        self.spent = 0
        self.reserved = 0
        self.in_flight = 0
        self.refused = 0  # reservations that no longer fitted
        self.beside: dict[str, Spent] = {}
        self._journal: Journal | None = None
        self._unkept = Exposure(0, 0)  # billed, its row not committed yet
        self._charged: set[str] = set()  # models with settled calls
        self._allowed = Exposure(0, 0)
        self._peak = Exposure(0, 0)
        self._recording = asyncio.Lock()
        self._waiting: deque[_Waiter] = deque()

    def record_in(self, journal: Journal | None) -> None:
        """Require ``journal`` to store the possible cost before anything is sent.

        Call it while nothing is in flight. None ends this.
        """
        self._journal, self._recording = journal, asyncio.Lock()
        self._allowed = self._peak = self._unkept = Exposure(0, 0)

    @property
    def left(self) -> int:
        """Return what is neither spent nor reserved; below 0 if bounds were exceeded."""
        return self._most - self.spent - self.reserved

    @property
    def exposure(self) -> Exposure:
        """Return the most that a kill at this moment would leave unrecorded."""
        unkept = self._unkept
        return Exposure(unkept.calls + self.in_flight, unkept.amount + self.reserved)

    async def reserve(self, amount: int, halt: Halt) -> None:
        """Reserve ``amount``. Raises BudgetSpent, and Stopped if ``halt`` comes first."""
        if not self._waiting and amount <= self.left:
            self._take(amount)
        elif not self._waiting and not self.in_flight:
            self.refused += 1
            raise BudgetSpent
        else:
            await self._queue(amount, halt)
        if self._journal is not None:
            await self._record(self._journal, amount)

    def settle(self, reserved: int, call: CallRecord) -> None:
        """Replace the reservation of an attempt by what it was charged."""
        self._charged.add(call.model)
        self.take(reserved, charge(self._unit, call))

    def take(self, reserved: int, billed: int) -> None:
        """Settle a request that is not a model call: a search, or texts to embed."""
        if billed:
            self._unkept = Exposure(self._unkept.calls + 1, self._unkept.amount + billed)
        self._take_back(reserved, billed)

    def abandon(self, reserved: int) -> None:
        """Charge the full reservation of an attempt without a result."""
        self._unkept = Exposure(self._unkept.calls + 1, self._unkept.amount + reserved)
        self._take_back(reserved, reserved)

    def give_back(self, reserved: int) -> None:
        """Release the reservation of an attempt that was not sent."""
        self._take_back(reserved, 0)

    def keep(self, call: CallRecord) -> None:
        """Note that a settled attempt's row is committed, so that a kill no longer loses it.

        Calls of a free or simulated model were never settled.
        """
        if call.model in self._charged:
            self.noted(charge(self._unit, call))

    def noted(self, billed: int) -> None:
        """The same for what was taken by ``take``, once all of it is in the log."""
        if billed:
            self._unkept = Exposure(self._unkept.calls - 1, self._unkept.amount - billed)

    async def tighten(self) -> None:
        """Lower the recorded exposure to the maximum since the last time; call it now and then."""
        if self._journal is None:
            return
        async with self._recording:
            allowed, self._peak = self._peak, self.exposure
            # A decrease applies before it is written, and an increase (for those waiting) only
            # after. The record is therefore never too low.
            self._allowed = Exposure(*map(min, self._allowed, allowed))
            await self._journal.allow(allowed)
            self._allowed = allowed

    def _take(self, amount: int) -> None:
        self.reserved += amount
        self.in_flight += 1
        self._peak = Exposure(*map(max, self._peak, self.exposure))

    def _take_back(self, reserved: int, billed: int) -> None:
        self.reserved -= reserved
        self.in_flight -= 1
        self.spent += billed
        if self._waiting:
            self._wake()

    async def _queue(self, amount: int, halt: Halt) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiter(amount, future))
        self._wake()  # an abandoned waiter may be ahead of this one
        try:
            with halt.ends(future):
                await future
        except BaseException:  # cancelled or halted: a reservation granted meanwhile is returned
            if not future.cancel() and not future.cancelled() and future.exception() is None:
                self.give_back(amount)
            else:
                self._wake()
            raise

    def _wake(self) -> None:
        waiting = self._waiting
        while waiting:
            amount, future = waiting[0]
            if not future.done():
                if amount <= self.left:
                    self._take(amount)
                    future.set_result(None)
                elif self.in_flight:
                    return
                else:
                    self.refused += 1
                    future.set_exception(BudgetSpent())
            waiting.popleft()

    async def _record(self, journal: Journal, amount: int) -> None:
        """Return once the record covers the exposure."""
        if self._covered():
            return
        try:
            async with self._recording:
                if self._covered():
                    return
                now, before = self.exposure, self._allowed
                # Never more than the budget allows, never less than others already depend on.
                most = max(now.amount, min(int(now.amount * _ROOM), now.amount + self.left))
                allowed = Exposure(*map(max, before, (int(now.calls * _ROOM) + 1, most)))
                await journal.allow(allowed)
                self._allowed = allowed
        except BaseException:  # nothing was sent
            self.give_back(amount)
            raise

    def _covered(self) -> bool:
        now, allowed = self.exposure, self._allowed
        return now.calls <= allowed.calls and now.amount <= allowed.amount


# Reserve and settle the maximum cost of one model's attempts.

FREE = Price(input=0.0, output=0.0, date="", source="simulated, or run on this machine")


_BILLED = 200


class Held(NamedTuple):
    """A reservation for an attempt: the amount, and its tokens (None without a token budget)."""

    amount: int
    most: Usage | None


class Purse:
    """Reserve and settle for one model. ``bounds`` give the maximum cost of an attempt."""

    def __init__(self, model: str, price: Price, bounds: Bounds, spending: Spending) -> None:
        self._model = model
        self._dearest = _dearest(price)
        self._bounds = bounds
        self._spending = spending

    async def put_aside(self, request: ModelRequest, sent: Mapping[str, Any], halt: Halt) -> Held:
        """Reserve the maximum cost of one attempt.

        Raises BudgetReached if the budget does not cover it, UnboundedResponse without a maximum,
        and Stopped if ``halt`` comes first. Without a budget the attempt is only counted.
        """
        budget = self._spending.budget
        if budget is None:
            await self._spending.reserve(0, halt)
            return Held(0, None)
        most = self._bounds.most(request, sent)
        if most.completion is None:
            raise unbounded_response([self._model])
        amount = amount_of(budget.unit, self._dearest, most)
        try:
            await self._spending.reserve(amount, halt)
        except BudgetSpent:
            raise self._reached(budget, amount) from None
        return Held(amount, most)

    def settle(self, held: Held, call: CallRecord) -> None:
        """Replace the reservation by what the attempt was charged."""
        if call.estimated_tokens is None and held.most is not None:
            self._bounds.learn(held.most, call.usage)
        self._spending.settle(held.amount, call)

    def abandon(self, held: Held) -> None:
        """Charge the full reservation: the attempt was sent, and its caller is gone."""
        self._spending.abandon(held.amount)

    def give_back(self, held: Held) -> None:
        """Release the reservation: the attempt was not sent."""
        self._spending.give_back(held.amount)

    def _reached(self, budget: Budget, amount: int) -> BudgetReached:
        shorter = ", or shorten the longest response with --max-tokens"
        return _reached(self._spending.spent, budget, amount, f"call of {self._model}", shorter)


class RequestPurse:
    """Reserve and settle for requests other than model calls: searches, texts to embed.

    ``name`` is the search or model. ``price`` is in US dollars per million tokens or per 1,000
    requests; None if unknown.
    """

    def __init__(self, name: str, price: Price | SearchPrice | None, spending: Spending) -> None:
        self._name = name
        self._what = f"embedding request to {name}" if "/" in name else f"search by {name}"
        self._price = price
        self._spending = spending
        self._halt = Halt()

    async def put_aside(self, tokens: int = 0) -> int:
        """Reserve the maximum cost of one request of so many tokens.

        Raises BudgetReached if the budget does not cover it.
        """
        budget = self._spending.budget
        if budget is None:
            await self._spending.reserve(0, self._halt)
            return 0
        amount = self._amount(budget.unit, tokens)
        try:
            await self._spending.reserve(amount, self._halt)
        except BudgetSpent:
            raise _reached(self._spending.spent, budget, amount, self._what, "") from None
        return amount

    def settle(self, held: int, tokens: int = 0, *, is_estimated: bool = False) -> int:
        """Replace the reservation by the actual cost, and return that amount.

        Pass the amount to ``noted`` once it is in the log.
        """
        spending = self._spending
        unit: Unit = "tokens" if spending.budget is None else spending.budget.unit
        billed = self._amount(unit, tokens)
        spending.take(held, billed)
        usd = self._usd(tokens)
        took = Spent(
            calls=1,
            prompt_tokens=0 if is_estimated else tokens,
            cost_usd=usd or 0.0,
            unpriced=int(usd is None),
            estimated_calls=int(is_estimated),
            estimated_tokens=tokens if is_estimated else 0,
            estimated_usd=usd or 0.0 if is_estimated else 0.0,
        )
        spending.beside[self._name] = spending.beside.get(self._name, Spent()) + took
        return billed

    def give_back(self, held: int) -> None:
        """Release the reservation: the request was not sent, or is not billed."""
        self._spending.give_back(held)

    def noted(self, billed: int) -> None:
        """Note that what ``settle`` took is in the log, so that a kill no longer loses it."""
        self._spending.noted(billed)

    def _amount(self, unit: Unit, tokens: int) -> int:
        return tokens if unit == "tokens" else money(self._usd(tokens) or 0.0)

    def _usd(self, tokens: int) -> float | None:
        if isinstance(self._price, SearchPrice):
            return self._price.per_1000 / 1000
        return cost_usd(self._price, Usage(tokens, 0), _BILLED)


def open_request_purse(
    name: str, price: Price | SearchPrice | None, spending: Spending | None
) -> RequestPurse | None:
    """Return reservations for a search or an embedding model, if spending is tracked.

    Raises NoPrice if the budget is in money and the price is unknown.
    """
    if spending is None:
        return None
    if price is None and spending.budget is not None and spending.budget.unit == "USD":
        raise no_price([name])
    return RequestPurse(name, price, spending)


def _reached(spent: int, budget: Budget, amount: int, what: str, or_else: str) -> BudgetReached:
    one = shown(budget.unit, amount)
    if not spent:
        return BudgetReached(
            f"the budget of {budget} does not cover one {what}, which may cost {one}",
            hint=f"give a larger --budget{or_else}",
        )
    return BudgetReached(
        f"the budget of {budget} is reached: {shown(budget.unit, spent)} spent, and another "
        f"{what} may cost {one}",
        hint="finished work is stored; resume with another --budget",
    )


def open_purse(
    model: Model, price: Price | None, bounds: Bounds, spending: Spending | None
) -> Purse | None:
    """Return reservations if the model's calls can use the budget or may be billed.

    Simulated responses use nothing, and free calls use no money.
    """
    if spending is None or model.simulated:
        return None
    unit = "" if spending.budget is None else spending.budget.unit
    if unit == "USD" and price is None:
        raise no_price([model.name])
    if unit != "tokens" and price is not None and is_free(price):
        return None
    return Purse(model.name, price or FREE, bounds, spending)


def is_free(price: Price) -> bool:
    """Return True if everything is free at this price."""
    return not any((price.input, price.output, price.cached, price.reasoning))


def amount_of(unit: Unit, price: Price, usage: Usage) -> int:
    """Return what so many tokens take of a budget."""
    if unit == "tokens":
        return total_tokens(usage)
    return money(cost_usd(price, usage, _BILLED) or 0.0)


def _dearest(price: Price) -> Price:
    """Return the price at which each token has its highest possible cost."""
    prompt = max(price.input, price.cached or 0.0)
    response = max(price.output, price.reasoning or 0.0)
    return structs.replace(price, input=prompt, output=response, cached=None, reasoning=None)
