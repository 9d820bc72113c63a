"""ISO codes of countries, currencies and languages as pycountry carries them, with the Chinese
names of its translations."""

from __future__ import annotations

import gettext
from collections import Counter
from typing import Any

from proofstone.ports import Row

__all__ = ["country_codes", "currency_codes", "language_codes"]

_DISPUTED = {"AQ", "EH", "FK", "HK", "MO", "PS", "TW"}
_WITH_ARTICLE = {
    *("Bahamas", "Central African Republic", "Comoros", "Dominican Republic", "Gambia"),
    *(
        "French Southern Territories",
        "Isle of Man",
        "Maldives",
        "Netherlands",
        "Philippines",
        "Russian Federation",
    ),
    *("United Arab Emirates", "United Kingdom", "United States"),
}
# Units of account, precious metals and codes for tests; the four are money people pay with.
_X_CURRENCIES = {"XAF", "XCD", "XOF", "XPF"}
# Codes of funds and indexed units, which no one pays with.
_FUNDS = {"BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN", "UYI", "UYW"}


def country_codes() -> list[Row]:
    """One row a country of ISO 3166-1 whose name reads as a name (``Korea, Republic of`` does not,
    ``South Korea`` does), those of disputed status left out."""
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    chinese = _chinese("iso3166-1")
    rows = []
    for country in pycountry.countries:
        name = getattr(country, "common_name", country.name)
        if country.alpha_2 in _DISPUTED or not _is_plain(name):
            continue
        values = {
            "name": _with_article(name),
            "name_zh": chinese.gettext(country.name),
            "english_name": name,
            "alpha_2": country.alpha_2,
            "alpha_3": country.alpha_3,
            "numeric": country.numeric,
            "number": int(country.numeric),
            "initial": country.alpha_2[0],
        }
        rows.append(Row(f"country {country.alpha_2}", values))
    return _with_own_labels(rows)


def currency_codes() -> list[Row]:
    """One row a currency of ISO 4217; names that two of them share are left out."""
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    chinese = _chinese("iso4217")
    rows = []
    for currency in pycountry.currencies:
        code = currency.alpha_3
        is_special = code in _FUNDS or (code[0] == "X" and code not in _X_CURRENCIES)
        if is_special or not _is_plain(currency.name):
            continue
        values = {
            "name": currency.name,
            "name_zh": chinese.gettext(currency.name),
            "code": code,
            "numeric": currency.numeric,
            "number": int(currency.numeric),
            "initial": code[0],
        }
        rows.append(Row(f"currency {code}", values))
    return _with_own_labels(rows)


def language_codes() -> list[Row]:
    """One row a language that has a code of two letters in ISO 639."""
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    rows = []
    for language in pycountry.languages:
        short = getattr(language, "alpha_2", None)
        name = language.name.removesuffix(" (macrolanguage)")
        if short is None or not _is_plain(name):
            continue
        values = {
            "name": name,
            "two_letters": short,
            "three_letters": language.alpha_3,
            "initial": short[0],
        }
        rows.append(Row(f"language {language.alpha_3}", values))
    return _with_own_labels(rows)


def _chinese(domain: str) -> gettext.NullTranslations:
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    return gettext.translation(domain, pycountry.LOCALES_DIR, languages=["zh_CN"])


def _is_plain(name: str) -> bool:
    return not any(mark in name for mark in ",(/")


def _with_article(name: str) -> str:
    return f"the {name}" if name in _WITH_ARTICLE or name.endswith(" Islands") else name


def _with_own_labels(rows: list[Row]) -> list[Row]:
    """The rows whose every name is theirs alone: a shared one would make sentences ambiguous."""
    labels = ("name", "name_zh")

    def key(row: Row, label: str) -> Any:
        return label, row.values.get(label)

    counts = Counter(key(row, label) for row in rows for label in labels if label in row.values)
    return [
        row
        for row in rows
        if all(counts[key(row, label)] == 1 for label in labels if label in row.values)
    ]
