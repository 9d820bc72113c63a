"""Countries as countryinfo tells them, without what is doubtful, disputed or soon out of date.

Left out as columns: population and leaders (they change), languages (several wrong entries: codes
of other languages, minority beside official ones), demonyms (several in one cell, rare spellings).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proofstone.ports import Row

__all__ = ["countries"]

_LEFT_OUT = {
    # No permanent population or no seat of government of their own.
    *("AQ", "BV", "HM", "IO", "TF", "UM", "GS", "SJ", "CX", "CC", "TK"),
    # Status or borders in dispute, so that a sentence would take sides.
    *("EH", "FK", "GI", "HK", "MO", "PS", "TW"),
    # No longer there (AN, CS); in the table twice with different cells (VA).
    *("AN", "CS", "VA"),
}
_RENAMED = {
    "Swaziland": "Eswatini",
    "Republic of Macedonia": "North Macedonia",
    "East Timor": "Timor-Leste",
}
_WITH_ARTICLE = {
    *("Central African Republic", "Comoros", "Czech Republic", "Democratic Republic of the Congo"),
    *("Dominican Republic", "Federated States of Micronesia", "Isle of Man", "Maldives"),
    *("Netherlands", "Philippines", "Republic of the Congo", "United Arab Emirates"),
    *("United Kingdom", "United States"),
}
# Pairs of neighbours that the table gets wrong: no common border, or one through a territory.
_NO_NEIGHBOURS = {
    frozenset(pair)
    for pair in (
        *(("MMR", "BTN"), ("KWT", "IRN"), ("TCD", "SSD"), ("SRB", "ALB"), ("CYP", "GBR")),
        *(("IND", "LKA"), ("FRA", "SUR")),
    )
}


def countries() -> list[Row]:
    """One row a country, by alpha-2 code."""
    from countryinfo import CountryInfo  # noqa: PLC0415 - only in the extra [demo]

    found: dict[str, Mapping[str, Any]] = {}
    for record in CountryInfo.all().values():
        if record["ISO"]["alpha2"]:  # Scotland stands beside the United Kingdom without one
            found.setdefault(record["ISO"]["alpha2"], record)
    kept = {code: record for code, record in found.items() if _is_kept(code, record)}
    neighbours = _neighbours(kept.values())
    current = _current_currencies()
    return [
        Row(f"country {code}", _row(record, neighbours, current))
        for code, record in sorted(kept.items())
    ]


def _is_kept(code: str, record: Mapping[str, Any]) -> bool:
    return code not in _LEFT_OUT and bool(record.get("area"))


def _row(
    record: Mapping[str, Any], neighbours: Mapping[str, list[str]], current: frozenset[str]
) -> dict[str, Any]:
    currencies = record["currencies"] or []
    return {
        "name": _name(record),
        "capital": record["capital"],
        "area": record["area"],
        "continent": record["region"],
        "region": _region(record),
        "neighbours": neighbours[record["ISO"]["alpha3"]],
        # One withdrawn code shows that the whole cell is out of date.
        "currency": currencies if current.issuperset(currencies) else [],
        "calling_code": [f"+{code}" for code in record["callingCodes"] if _is_own(code)],
        "domain": [domain for domain in record["tld"] if domain.isascii()],
    }


def _region(record: Mapping[str, Any]) -> str:
    """The finest region of the geoscheme (Sub-Saharan Africa is only a group of such)."""
    finest = record.get("intermediateregion") or ""
    region = finest if finest != "Channel Islands" else ""
    name: str = region or record["subregion"]
    return "the Caribbean" if name == "Caribbean" else name


def _name(record: Mapping[str, Any]) -> str:
    name: str = _RENAMED.get(record["name"], record["name"])
    if name.startswith("The "):
        return "the" + name[3:]
    return f"the {name}" if name in _WITH_ARTICLE or name.endswith(" Islands") else name


def _is_own(calling_code: str) -> bool:
    """Whether the code is a country's whole code: the longer ones lie within another's (+1 242
    within +1), and a false statement with the shorter would be half true."""
    return calling_code.isdigit() and (len(calling_code) <= 3 and calling_code not in ("76", "77"))


def _neighbours(records: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Names of the countries across a land border, by alpha-3 code: listed by either side, since
    each side's list has gaps."""
    names = {record["ISO"]["alpha3"]: _name(record) for record in records}
    pairs = {
        frozenset((record["ISO"]["alpha3"], other))
        for record in records
        for other in record["borders"] or ()
        if other in names
    } - _NO_NEIGHBOURS
    found: dict[str, list[str]] = {code: [] for code in names}
    for one, other in sorted(sorted(pair) for pair in pairs):
        found[one].append(names[other])
        found[other].append(names[one])
    return found


def _current_currencies() -> frozenset[str]:
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    return frozenset(currency.alpha_3 for currency in pycountry.currencies)
