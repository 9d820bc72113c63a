"""A budget: the most that one command may spend, in money or tokens; how amounts are counted.

Money is counted in whole picodollars: a price of 0.4 US dollars per million tokens is 400,000 of
them a token, so what is reserved and settled adds up without rounding.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.ports import CallRecord

__all__ = ["Budget", "Unit", "charge", "money", "read_budget", "shown"]

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
