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
from proofstone.records import Price, Usage

__all__ = ["FREE", "Held", "Purse", "amount_of", "is_free", "open_purse"]

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
        spending = self._spending
        unit, call = budget.unit, shown(budget.unit, amount)
        if not spending.spent:
            return BudgetReached(
                f"the budget of {budget} does not cover one call of {self._model}, "
                f"which may cost {call}",
                hint="give a larger --budget, or shorten the longest reply with --max-tokens",
            )
        return BudgetReached(
            f"the budget of {budget} is reached: {shown(unit, spending.spent)} spent, and "
            f"another call of {self._model} may cost {call}",
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
