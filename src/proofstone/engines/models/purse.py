"""One model's part in a command's spending: what its attempts can cost, put aside and settled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import structs

from proofstone.engines.models.bounds import Bounds, total_tokens
from proofstone.engines.models.budget import Budget, Unit, money, shown
from proofstone.engines.models.cost import cost_usd
from proofstone.engines.models.spending import BudgetSpent, Spending
from proofstone.engines.models.stopping import Halt
from proofstone.engines.models.unbudgeted import no_price, unbounded_reply
from proofstone.errors import BudgetReached
from proofstone.ports import CallRecord, Model, ModelRequest
from proofstone.records import Price, SearchPrice, Spent, Usage

__all__ = [
    "FREE",
    "Held",
    "Purse",
    "RequestPurse",
    "amount_of",
    "is_free",
    "open_purse",
    "open_request_purse",
]

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
        UnboundedReply where there is none, and Stopped when ``halt`` comes first. Without a budget
        the attempt is only counted."""
        budget = self._spending.budget
        if budget is None:
            await self._spending.reserve(0, halt)
            return Held(0, None)
        most = self._bounds.most(request, sent)
        if most.completion is None:
            raise unbounded_reply([self._model])
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
    reply = max(price.output, price.reasoning or 0.0)
    return structs.replace(price, input=prompt, output=reply, cached=None, reasoning=None)
