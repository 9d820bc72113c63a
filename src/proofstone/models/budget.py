"""A budget: the most that one command may spend, in money or tokens; how amounts are counted.

Money is counted in whole picodollars: a price of 0.4 US dollars per million tokens is 400,000 of
them a token, so what is reserved and settled adds up without rounding.
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
        return attempt.response is not None or attempt.error in _BREAKS
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
    for_response = (completion - reasoning) * price.output + reasoning * reasoning_price
    return (for_prompt + for_response) / _PER


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


def unbounded_response(models: Sequence[str]) -> UnboundedResponse:
    """The error for models that are sent no limit of their replies' length."""
    return UnboundedResponse(
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


# What a command has spent of its budget: the worst case is put aside before each attempt, and what
# was billed is taken after it.
#
# So the budget is never passed by what could be known. Who finds too little left waits while
# others' attempts are under way: most cost less than was put aside for them. Only when none is
# under way is the budget reached. First come, first served.

_ENDLESS = 2**62


_ROOM = 1.25  # how much more than now is recorded at once, so that recording is rare


class BudgetSpent(Exception):
    """No attempt is under way, and what is left does not cover another one."""


class Exposure(NamedTuple):
    """Attempts that may be billed and are not on record yet: how many, and how much at most."""

    calls: int
    amount: int


class Journal(Protocol):
    """Keeps the exposure where a killed process leaves it behind."""

    async def allow(self, most: Exposure) -> None:
        """Returns once it is on disk that the exposure may be as much as ``most``."""


class _Waiter(NamedTuple):
    amount: int
    future: asyncio.Future[None]


class Spending:
    """The spending of one command, over all its models and purposes; used on one loop at a time.

    ``reserve`` before an attempt, then ``settle`` with its row, or ``abandon`` where none came
    back; ``keep`` once the row is committed. Amounts are in the budget's unit. Without a budget
    nothing is refused and nothing put aside: the attempts are counted, and amounts are tokens.
    ``beside`` adds up what searches and embeddings took, by the name of the search or model.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget
        self._most = _ENDLESS if budget is None else budget.amount
        self._unit: Unit = "tokens" if budget is None else budget.unit
        self.spent = 0
        self.reserved = 0
        self.in_flight = 0
        self.refused = 0  # reservations that did not fit any more
        self.beside: dict[str, Spent] = {}
        self._journal: Journal | None = None
        self._unkept = Exposure(0, 0)  # billed, its row not committed yet
        self._charged: set[str] = set()  # models of which calls were settled
        self._allowed = Exposure(0, 0)
        self._peak = Exposure(0, 0)
        self._recording = asyncio.Lock()
        self._waiting: deque[_Waiter] = deque()

    def record_in(self, journal: Journal | None) -> None:
        """From now on nothing is sent before ``journal`` has on record what it may cost; nothing is
        under way now. None ends that."""
        self._journal, self._recording = journal, asyncio.Lock()
        self._allowed = self._peak = self._unkept = Exposure(0, 0)

    @property
    def left(self) -> int:
        """What is neither spent nor put aside; below 0 where an endpoint counted beyond bounds."""
        return self._most - self.spent - self.reserved

    @property
    def exposure(self) -> Exposure:
        """What a kill at this moment would leave unrecorded, at most."""
        unkept = self._unkept
        return Exposure(unkept.calls + self.in_flight, unkept.amount + self.reserved)

    async def reserve(self, amount: int, halt: Halt) -> None:
        """Puts ``amount`` aside. Raises BudgetSpent, and Stopped when ``halt`` comes first."""
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
        """Takes what an attempt was charged in place of what was put aside for it."""
        self._charged.add(call.model)
        self.take(reserved, charge(self._unit, call))

    def take(self, reserved: int, billed: int) -> None:
        """The same for a request that is no call of a model: a search, or texts to embed."""
        if billed:
            self._unkept = Exposure(self._unkept.calls + 1, self._unkept.amount + billed)
        self._take_back(reserved, billed)

    def abandon(self, reserved: int) -> None:
        """Takes all that was put aside for an attempt of which nothing came back."""
        self._unkept = Exposure(self._unkept.calls + 1, self._unkept.amount + reserved)
        self._take_back(reserved, reserved)

    def give_back(self, reserved: int) -> None:
        """Frees what was put aside for an attempt that was not sent."""
        self._take_back(reserved, 0)

    def keep(self, call: CallRecord) -> None:
        """A settled attempt's row is committed: a kill no longer loses it. Calls of a model that
        takes nothing, being free or made up, were never settled."""
        if call.model in self._charged:
            self.noted(charge(self._unit, call))

    def noted(self, billed: int) -> None:
        """The same for what was taken by ``take``, where all of it is in the log."""
        if billed:
            self._unkept = Exposure(self._unkept.calls - 1, self._unkept.amount - billed)

    async def tighten(self) -> None:
        """Lowers what is on record to the most since the last time; to be called now and then."""
        if self._journal is None:
            return
        async with self._recording:
            allowed, self._peak = self._peak, self.exposure
            # What falls is in force before it is written, what rises (for those who wait to be
            # recorded) only after: so what is on record is never too little.
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
        self._wake()  # an abandoned waiter may stand before us
        try:
            with halt.ends(future):
                await future
        except BaseException:  # cancelled or halted: what was given meanwhile goes back
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
        """Returns once what is on record covers the exposure."""
        if self._covered():
            return
        try:
            async with self._recording:
                if self._covered():
                    return
                now, before = self.exposure, self._allowed
                # Never more than the budget lets happen; never less than others rely on by now.
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


# One model's part in a command's spending: what its attempts can cost, put aside and settled.

FREE = Price(input=0.0, output=0.0, date="", source="simulated, or run on this machine")


_BILLED = 200


class Held(NamedTuple):
    """What is put aside for an attempt: the amount, and the tokens it stands for (None where no
    budget asks for them)."""

    amount: int
    most: Usage | None


class Purse:
    """Puts aside and settles for one model. ``bounds`` say what an attempt can cost at most."""

    def __init__(self, model: str, price: Price, bounds: Bounds, spending: Spending) -> None:
        self._model = model
        self._dearest = _dearest(price)
        self._bounds = bounds
        self._spending = spending

    async def put_aside(self, request: ModelRequest, sent: Mapping[str, Any], halt: Halt) -> Held:
        """The worst case of one attempt. Raises BudgetReached where it is not covered any more,
        UnboundedResponse where there is none, and Stopped when ``halt`` comes first. Without a
        budget the attempt is only counted."""
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
        """Takes what the attempt was charged in place of what was put aside."""
        if call.estimated_tokens is None and held.most is not None:
            self._bounds.learn(held.most, call.usage)
        self._spending.settle(held.amount, call)

    def abandon(self, held: Held) -> None:
        """Takes all of it: the attempt was sent, and nobody waits for it any more."""
        self._spending.abandon(held.amount)

    def give_back(self, held: Held) -> None:
        """Takes nothing: the attempt was not sent."""
        self._spending.give_back(held.amount)

    def _reached(self, budget: Budget, amount: int) -> BudgetReached:
        shorter = ", or shorten the longest reply with --max-tokens"
        return _reached(self._spending.spent, budget, amount, f"call of {self._model}", shorter)


class RequestPurse:
    """Puts aside and settles for requests that are no calls of a model: searches, texts to embed.

    ``name`` is the search or model; ``price`` has US dollars per million tokens or per 1,000
    requests, and is None where it is not known.
    """

    def __init__(self, name: str, price: Price | SearchPrice | None, spending: Spending) -> None:
        self._name = name
        self._what = f"embedding request to {name}" if "/" in name else f"search by {name}"
        self._price = price
        self._spending = spending
        self._halt = Halt()

    async def put_aside(self, tokens: int = 0) -> int:
        """What one request of so many tokens costs at most. Raises BudgetReached where it is not
        covered any more."""
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
        """Takes what a request took in place of what was put aside; what it took of the budget,
        which ``noted`` is to be told once it is in the log."""
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
        """Takes nothing: the request was not sent, or is not billed."""
        self._spending.give_back(held)

    def noted(self, billed: int) -> None:
        """What ``settle`` took is in the log: a kill no longer loses it."""
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
    """A purse for a search, or for a model that embeds, where somebody adds up what is spent.
    Raises NoPrice where a budget is in money and the price is not known."""
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
        f"the budget of {budget} is reached: {shown(budget.unit, spent)} spent, and "
        f"another {what} may cost {one}",
        hint="what was done is kept; resume with a further --budget",
    )


def open_purse(
    model: Model, price: Price | None, bounds: Bounds, spending: Spending | None
) -> Purse | None:
    """A purse where the model's calls can take from a budget, or may be billed: made-up replies
    take nothing, and what costs nothing takes no money."""
    if spending is None or model.simulated:
        return None
    unit = "" if spending.budget is None else spending.budget.unit
    if unit == "USD" and price is None:
        raise no_price([model.name])
    if unit != "tokens" and price is not None and is_free(price):
        return None
    return Purse(model.name, price or FREE, bounds, spending)


def is_free(price: Price) -> bool:
    """Whether nothing costs anything at this price."""
    return not any((price.input, price.output, price.cached, price.reasoning))


def amount_of(unit: Unit, price: Price, usage: Usage) -> int:
    """What so many tokens take of a budget."""
    if unit == "tokens":
        return total_tokens(usage)
    return money(cost_usd(price, usage, _BILLED) or 0.0)


def _dearest(price: Price) -> Price:
    """The price at which each token costs the most that it can."""
    prompt = max(price.input, price.cached or 0.0)
    response = max(price.output, price.reasoning or 0.0)
    return structs.replace(price, input=prompt, output=response, cached=None, reasoning=None)
