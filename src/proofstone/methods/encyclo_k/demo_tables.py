"""Read the chemical elements of mendeleev, without unreliable values.

Its SQLite file is read directly in 20 ms: importing the package loads pandas and takes 2.4 s here.
Predictions, and values that depend on an unspecified form of the element, are None.
"""

from __future__ import annotations

import gettext
import sqlite3
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proofstone.errors import NotFound
from proofstone.methods.encyclo_k.fact_tables import Template, read_template
from proofstone.records.tables import Row
from proofstone.texts.templates import bundled_text

# ISO codes of countries, currencies and languages from pycountry, with the Chinese names of its
# translations.

_LEFT_OUT: Mapping[str, Any] = tomllib.loads(bundled_text(__package__, "books/left_out.toml"))


def country_codes() -> list[Row]:
    """Return one row per country of ISO 3166-1 with a plain name, without disputed territories.

    ``South Korea`` is plain; ``Korea, Republic of`` is not.
    """
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    chinese = _chinese("iso3166-1")
    return _with_own_labels(
        Row(
            f"country {country.alpha_2}",
            {
                "name": _with_article(name, "codes"),
                "name_zh": chinese.gettext(country.name),
                "english_name": name,
                "alpha_2": country.alpha_2,
                "alpha_3": country.alpha_3,
                "numeric": country.numeric,
                "number": int(country.numeric),
                "initial": country.alpha_2[0],
            },
        )
        for country in pycountry.countries
        if _is_plain(name := getattr(country, "common_name", country.name))
        and country.alpha_2 not in _LEFT_OUT["codes"]["disputed"]
    )


def currency_codes() -> list[Row]:
    """Return one row per currency of ISO 4217; names of two currencies are left out."""
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    chinese, known = _chinese("iso4217"), _LEFT_OUT["codes"]
    return _with_own_labels(
        Row(
            f"currency {code}",
            {
                "name": currency.name,
                "name_zh": chinese.gettext(currency.name),
                "code": code,
                "numeric": currency.numeric,
                "number": int(currency.numeric),
                "initial": code[0],
            },
        )
        for currency in pycountry.currencies
        if (code := currency.alpha_3) not in known["funds"]
        and (code[0] != "X" or code in known["paid_with"])
        and _is_plain(currency.name)
    )


def language_codes() -> list[Row]:
    """Return one row per language with a two-letter code in ISO 639."""
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    return _with_own_labels(
        Row(
            f"language {language.alpha_3}",
            {
                "name": name,
                "two_letters": language.alpha_2,
                "three_letters": language.alpha_3,
                "initial": language.alpha_2[0],
            },
        )
        for language in pycountry.languages
        if _is_plain(name := language.name.removesuffix(" (macrolanguage)"))
        and getattr(language, "alpha_2", None) is not None
    )


def _chinese(domain: str) -> gettext.NullTranslations:
    import pycountry  # noqa: PLC0415 - only in the extra [demo]

    return gettext.translation(domain, pycountry.LOCALES_DIR, languages=["zh_CN"])


def _is_plain(name: str) -> bool:
    return not any(mark in name for mark in ",(/")


def _with_article(name: str, package: str) -> str:
    has_article = name in _LEFT_OUT[package]["with_article"] or name.endswith(" Islands")
    return f"the {name}" if has_article else name


def _with_own_labels(found: Iterable[Row]) -> list[Row]:
    """Return rows with unique names only: other names would make sentences ambiguous."""
    rows = list(found)
    labelled = [
        {(label, row.values[label]) for label in ("name", "name_zh") if label in row.values}
        for row in rows
    ]
    counts = Counter(label for own in labelled for label in own)
    return [
        row for row, own in zip(rows, labelled, strict=True) if all(counts[x] == 1 for x in own)
    ]


# Countries from countryinfo, without doubtful, disputed or soon outdated values.
#
# Omitted columns: population and leaders (they change), languages (several wrong entries: codes of
# other languages, minority next to official ones), demonyms (several in one cell, rare spellings).


def countries() -> list[Row]:
    """Return one row per country, by alpha-2 code."""
    import pycountry  # noqa: PLC0415 - only in the extra [demo]
    from countryinfo import CountryInfo  # noqa: PLC0415

    found: dict[str, Mapping[str, Any]] = {}
    for record in CountryInfo.all().values():
        if record["ISO"][
            "alpha2"
        ]:  # Scotland is listed in addition to the United Kingdom, without a code
            found.setdefault(record["ISO"]["alpha2"], record)
    left_out = _LEFT_OUT["countries"]["left_out"]
    kept = {
        code: record
        for code, record in sorted(found.items())
        if code not in left_out and record.get("area")
    }
    neighbours = _neighbours(kept.values())
    current = {currency.alpha_3 for currency in pycountry.currencies}
    return [
        Row(
            f"country {code}",
            {
                "name": _name(record),
                "capital": record["capital"],
                "area": record["area"],
                "continent": record["region"],
                "region": _region(record),
                "neighbours": neighbours[record["ISO"]["alpha3"]],
                # One withdrawn code shows that the entire cell is outdated.
                "currency": cell if current.issuperset(cell := record["currencies"] or []) else [],
                # Longer codes are part of another country's (+1 242 of +1), so a false statement
                # with the shorter one would be half true.
                "calling_code": [
                    f"+{calls}"
                    for calls in record["callingCodes"]
                    if calls.isdigit() and len(calls) <= 3 and calls not in ("76", "77")
                ],
                "domain": [domain for domain in record["tld"] if domain.isascii()],
            },
        )
        for code, record in kept.items()
    ]


def _region(record: Mapping[str, Any]) -> str:
    """Return the finest region of the geoscheme (Sub-Saharan Africa is only a group of such)."""
    finest = record.get("intermediateregion") or ""
    region = finest if finest != "Channel Islands" else ""
    name: str = region or record["subregion"]
    return "the Caribbean" if name == "Caribbean" else name


def _name(record: Mapping[str, Any]) -> str:
    name: str = _LEFT_OUT["countries"]["renamed"].get(record["name"], record["name"])
    return f"the{name[3:]}" if name.startswith("The ") else _with_article(name, "countries")


def _neighbours(records: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return names of countries across a land border, by alpha-3 code.

    A border counts if either side lists it, since the lists have gaps.
    """
    names = {record["ISO"]["alpha3"]: _name(record) for record in records}
    pairs = {
        frozenset((record["ISO"]["alpha3"], other))
        for record in records
        for other in record["borders"] or ()
        if other in names
    } - set(map(frozenset, _LEFT_OUT["countries"]["no_neighbours"]))
    found: dict[str, list[str]] = {code: [] for code in names}
    for one, other in sorted(sorted(pair) for pair in pairs):
        found[one].append(names[other])
        found[other].append(names[one])
    return found


_QUERY = """
    SELECT e.atomic_number, e.name, e.symbol, e.period, e.group_id, e.block, s.name AS family,
           e.electronic_configuration, e.atomic_weight, e.density, e.cas, e.is_radioactive,
           e.discovery_year, e.discovery_location, e.discoverers,
           p.melting_point, p.boiling_point, p.forms, p.sublimes
    FROM elements AS e
    LEFT JOIN series AS s ON s.id = e.series_id
    LEFT JOIN (
        SELECT atomic_number, melting_point, boiling_point, count(*) AS forms,
               max(coalesce(is_sublimation_point, 0)) AS sublimes
        FROM phasetransitions
        GROUP BY atomic_number
    ) AS p ON p.atomic_number = e.atomic_number
    ORDER BY e.atomic_number
"""


_ANCIENT = "known to the ancients"


_DENSEST_GAS = 0.1  # g/cm3; a gas's density depends on a temperature that the table lacks


_LAST_CONFIGURED = 102  # later configurations are calculated


_LAST_IN_FAMILY = 103  # later families are extrapolations


def elements() -> list[Row]:
    """Return one row per element, 118 in total. Raises NotFound if this mendeleev lacks the
    file."""
    with closing(_open()) as connection:
        connection.row_factory = sqlite3.Row
        records = [dict(record) for record in connection.execute(_QUERY)]
    return [Row(f"element {record['atomic_number']}", _element(record)) for record in records]


def elements_in_chinese() -> list[Row]:
    """Return the elements whose Chinese name is in every font: the first 103."""
    return elements()[: len(_LEFT_OUT["elements"]["chinese"])]


def _open() -> sqlite3.Connection:
    spec = find_spec("mendeleev")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("mendeleev")
    path = Path(spec.submodule_search_locations[0]) / "elements.db"
    if not path.is_file():
        raise NotFound(
            "this version of mendeleev has no file elements.db",
            hint="pip install 'mendeleev>=1.2,<2'",
        )
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def _element(record: Mapping[str, Any]) -> dict[str, Any]:
    """Build an element without unreliable values.

    Measured values of radioactive elements are left out: they often describe one isotope or are
    estimates. So are values that depend on the form (graphite, white tin) or on sublimation.
    """
    number, known = record["atomic_number"], _LEFT_OUT["elements"]
    settled = number not in known["group_disputed"]
    family, family_zh = known["families"].get(record["family"], (None, None))
    in_family = number <= _LAST_IN_FAMILY
    measured = not record["is_radioactive"]
    one_form = measured and record["forms"] == 1 and not record["sublimes"]
    is_condensed = (record["density"] or 0) >= _DENSEST_GAS
    places = [part.strip() for part in (record["discovery_location"] or "").split("/")]
    who = record["discoverers"] or ""
    return {
        "name": record["name"].lower(),
        "name_zh": known["chinese"][number - 1] if number <= len(known["chinese"]) else None,
        "symbol": record["symbol"],
        "atomic_number": number,
        "cas": record["cas"],
        "period": record["period"],
        "group": record["group_id"] if settled else None,
        "block": record["block"] if settled else None,
        "family": family if in_family else None,
        "family_zh": family_zh if in_family else None,
        "configuration": (
            _spelled(record["electronic_configuration"]) if number <= _LAST_CONFIGURED else None
        ),
        "atomic_weight": record["atomic_weight"] if measured else None,
        "density": record["density"] if one_form and is_condensed else None,
        "melting_point": record["melting_point"] if one_form else None,
        "boiling_point": record["boiling_point"] if one_form else None,
        "discovery_year": record["discovery_year"],
        "discovery_place": list(
            dict.fromkeys(known["places"].get(place, place) for place in places if place)
        ),
        "discoverer": None if who.lower().startswith(_ANCIENT) else who or None,
    }


def _spelled(configuration: str) -> str:
    """Write every subshell with its number of electrons: ``[Ar] 3d5 4s`` becomes ``[Ar] 3d5
    4s1``."""
    shells = configuration.split()
    return " ".join(shell + "1" if shell[-1].isalpha() else shell for shell in shells)


# Fact tables of the extra ``[demo]``: the books of each name.
#
# The facts come from the packages mendeleev, countryinfo and pycountry; the templates in ``books/``
# and the exclusions are from this project. left_out.toml explains the exclusions.


@dataclass(frozen=True, slots=True)
class Book:
    """Describe one bundled book: a template of ``books/`` over a package's rows."""

    file: str
    package: str
    rows: Callable[[], Sequence[Row]]

    @property
    def language(self) -> str:
        """Return the language of the book, from its file's name (``elements.en``)."""
        return self.file.rpartition(".")[2]

    @property
    def origin(self) -> str:
        """Return the package and version of the rows."""
        try:
            return f"{self.package} {version(self.package)}"
        except PackageNotFoundError:
            return self.package

    def template(self) -> Template:
        """Return the book's template."""
        name = f"{self.file}.toml"
        return read_template(bundled_text(__package__, f"books/{name}"), name)

    def read(self) -> Sequence[Row]:
        """Return the book's rows. Raises NotFound if the package is not installed."""
        try:
            return self.rows()
        except ModuleNotFoundError as error:
            raise NotFound(
                f"the facts of {self.file} need the package {self.package}, which is not installed",
                hint="pip install 'proofstone[demo]'",
            ) from error


BUNDLED: dict[str, tuple[Book, ...]] = {
    "elements": (
        Book("elements.en", "mendeleev", elements),
        Book("discovery.en", "mendeleev", elements),
        Book("elements.zh", "mendeleev", elements_in_chinese),
    ),
    "countries": (Book("countries.en", "countryinfo", countries),),
    "codes": (
        Book("country-codes.en", "pycountry", country_codes),
        Book("currency-codes.en", "pycountry", currency_codes),
        Book("language-codes.en", "pycountry", language_codes),
        Book("country-codes.zh", "pycountry", country_codes),
        Book("currency-codes.zh", "pycountry", currency_codes),
    ),
}


def bundled_books(name: str) -> tuple[Book, ...]:
    """Return the books of a bundled name; empty for an unknown name."""
    return BUNDLED.get(name, ())
