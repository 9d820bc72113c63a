"""What calls took, in money and tokens, with the part that is an estimate."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Spent", "usd"]


class Spent(Struct, frozen=True, gc=False, kw_only=True):
    """The sum over ``calls``. Tokens are as endpoints counted them.

    Of ``estimated_calls`` the endpoint did not say what it counted (no usage, a connection that
    broke): ``estimated_tokens`` is the most that it may have been, besides the other tokens, and
    ``estimated_usd`` what that costs, within ``cost_usd``. ``unpriced`` calls had no price and are
    not in ``cost_usd``.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    estimated_calls: int = 0
    estimated_tokens: int = 0
    estimated_usd: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        )

    @property
    def tokens(self) -> int:
        """All tokens, those estimated too."""
        return self.prompt_tokens + self.completion_tokens + self.estimated_tokens

    @property
    def cost_text(self) -> str:
        """The cost for a cell of a table: ``~`` where a part is estimated, ``+`` behind it where
        some calls have no price, ``?`` where none has; empty where nothing was called."""
        if not self.calls:
            return ""
        if self.unpriced and not self.cost_usd:
            return "?"
        some = "~" if self.estimated_usd else ""
        return f"{some}{usd(self.cost_usd)}{'+' if self.unpriced else ''}"


def usd(amount: float) -> str:
    """US dollars with at least four places, more where that would leave fewer than three digits."""
    if amount >= 100:
        return f"{amount:,.2f}"
    if amount >= 0.01 or not amount:
        return f"{amount:.4f}"
    places = 2
    while places < 12 and amount * 10**places < 100:
        places += 1
    return f"{amount:.{places}f}"
