"""What no budget can hold, and the remedy: no price is known, or replies have no end."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.errors import NoPrice, UnboundedReply

__all__ = ["no_price", "price_lines", "unbounded_reply"]


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
