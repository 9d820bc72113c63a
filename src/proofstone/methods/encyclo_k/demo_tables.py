"""The chemical elements as mendeleev tells them, without what is doubtful there.

Its SQLite file is read in place: importing the package loads pandas and takes 2.4 s here, the file
20 ms. Left out, as None: values that are predictions or depend on a form the table does not fix.
"""

from __future__ import annotations

import gettext
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from proofstone.errors import NotFound
from proofstone.methods.encyclo_k.fact_tables import Template, read_template
from proofstone.records.tables import Row

# ISO codes of countries, currencies and languages as pycountry carries them, with the Chinese
# names of its translations.

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


# Countries as countryinfo tells them, without what is doubtful, disputed or soon out of date.
#
# Left out as columns: population and leaders (they change), languages (several wrong entries: codes
# of other languages, minority beside official ones), demonyms (several in one cell, rare
# spellings).

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


_COUNTRIES_WITH_ARTICLE = {
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
    return f"the {name}" if name in _COUNTRIES_WITH_ARTICLE or name.endswith(" Islands") else name


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


Values: TypeAlias = dict[str, Any]


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


# Standard Chinese names, in the order of atomic numbers from 1; beyond 103 they lie outside the
# character sets of many fonts.
_CHINESE = (
    "氢氦锂铍硼碳氮氧氟氖钠镁铝硅磷硫氯氩钾钙钪钛钒铬锰铁钴镍铜锌镓锗砷硒溴氪铷锶钇锆铌钼锝钌铑钯银镉铟锡"
    "锑碲碘氙铯钡镧铈镨钕钷钐铕钆铽镝钬铒铥镱镥铪钽钨铼锇铱铂金汞铊铅铋钋砹氡钫镭锕钍镤铀镎钚镅锔锫锎锿镄钔"
    "锘铹"
)


# The table's other series (nonmetals, metalloids, poor metals) have no agreed borders.
_FAMILIES = {
    "Alkali metals": ("alkali metals", "碱金属"),
    "Alkaline earth metals": ("alkaline earth metals", "碱土金属"),
    "Halogens": ("halogens", "卤素"),
    "Noble gases": ("noble gases", "稀有气体"),
    "Lanthanides": ("lanthanides", "镧系元素"),
    "Actinides": ("actinides", "锕系元素"),
}


# Places that lie within one another would make a false statement true.
_PLACES = {
    "England": "Great Britain",
    "Scotland": "Great Britain",
    "USSR": "the Soviet Union",
    "United States": "the United States",
}


_ANCIENT = "known to the ancients"


_GROUP_DISPUTED = {57, 71, 89, 103}  # which of them stand in group 3, and in the f or d block


_DENSEST_GAS = 0.1  # g/cm3; a gas's density holds at one temperature, which the table leaves out


_LAST_CONFIGURED = 102  # configurations beyond are calculated


_LAST_IN_FAMILY = 103  # beyond, the family is an extrapolation


def elements() -> list[Row]:
    """One row an element, 118 in all. NotFound where this mendeleev has no such file."""
    with closing(_open()) as connection:
        connection.row_factory = sqlite3.Row
        records = [dict(record) for record in connection.execute(_QUERY)]
    return [Row(f"element {record['atomic_number']}", _elements_row(record)) for record in records]


def elements_in_chinese() -> list[Row]:
    """The rows of the elements whose Chinese name is in every font: the first 103."""
    return elements()[: len(_CHINESE)]


def _open() -> sqlite3.Connection:
    spec = find_spec("mendeleev")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("mendeleev")
    path = Path(spec.submodule_search_locations[0]) / "elements.db"
    if not path.is_file():
        raise NotFound(
            "This version of mendeleev has no file elements.db.",
            hint="pip install 'mendeleev>=1.2,<2'",
        )
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def _elements_row(record: Mapping[str, Any]) -> Values:
    return {**_names(record), **_place(record), **_measured(record), **_history(record)}


def _names(record: Mapping[str, Any]) -> Values:
    number = record["atomic_number"]
    return {
        "name": record["name"].lower(),
        "name_zh": _CHINESE[number - 1] if number <= len(_CHINESE) else None,
        "symbol": record["symbol"],
        "atomic_number": number,
        "cas": record["cas"],
    }


def _place(record: Mapping[str, Any]) -> Values:
    number = record["atomic_number"]
    settled = number not in _GROUP_DISPUTED
    family, family_zh = _FAMILIES.get(record["family"], (None, None))
    known = number <= _LAST_IN_FAMILY
    return {
        "period": record["period"],
        "group": record["group_id"] if settled else None,
        "block": record["block"] if settled else None,
        "family": family if known else None,
        "family_zh": family_zh if known else None,
        "configuration": (
            _spelled(record["electronic_configuration"]) if number <= _LAST_CONFIGURED else None
        ),
    }


def _spelled(configuration: str) -> str:
    """Every subshell with its number of electrons: ``[Ar] 3d5 4s`` becomes ``[Ar] 3d5 4s1``."""
    shells = configuration.split()
    return " ".join(shell + "1" if shell[-1].isalpha() else shell for shell in shells)


def _measured(record: Mapping[str, Any]) -> Values:
    """Of elements that are not radioactive: the others' entries are often one isotope's mass, or
    estimates. What depends on the form (graphite, white tin) or sublimes is left out."""
    if record["is_radioactive"]:
        return dict.fromkeys(("atomic_weight", "density", "melting_point", "boiling_point"))
    one_form = record["forms"] == 1 and not record["sublimes"]
    is_condensed = (record["density"] or 0) >= _DENSEST_GAS
    return {
        "atomic_weight": record["atomic_weight"],
        "density": record["density"] if one_form and is_condensed else None,
        "melting_point": record["melting_point"] if one_form else None,
        "boiling_point": record["boiling_point"] if one_form else None,
    }


def _history(record: Mapping[str, Any]) -> Values:
    place = record["discovery_location"] or ""
    who = record["discoverers"] or ""
    ancient = who.lower().startswith(_ANCIENT)
    places = [_PLACES.get(part.strip(), part.strip()) for part in place.split("/")]
    return {
        "discovery_year": record["discovery_year"],
        "discovery_place": list(dict.fromkeys(filter(None, places))),
        "discoverer": None if ancient else who or None,
    }


# Fact tables that come with the extra ``[demo]``: which books each name gives.
#
# The facts are other people's (the packages mendeleev, countryinfo, pycountry); only the templates
# in ``books/`` and what is left out are ours. See docs/fact-tables.md for what is left out and why.


@dataclass(frozen=True, slots=True)
class Book:
    """One carried book: a template of ``books/`` over a package's rows."""

    file: str
    package: str
    rows: Callable[[], Sequence[Row]]

    @property
    def language(self) -> str:
        """The language of the book, from its file's name (``elements.en``)."""
        return self.file.rpartition(".")[2]

    @property
    def origin(self) -> str:
        """The package and version the rows come from."""
        try:
            return f"{self.package} {version(self.package)}"
        except PackageNotFoundError:
            return self.package

    def template(self) -> Template:
        """The book's template."""
        path = resources.files(__package__) / "books" / f"{self.file}.toml"
        return read_template(path.read_text(encoding="utf-8"), path.name)

    def read(self) -> Sequence[Row]:
        """The book's rows. NotFound where the package is not installed."""
        try:
            return self.rows()
        except ModuleNotFoundError as error:
            raise NotFound(
                f"The facts of {self.file} come from the package {self.package}, "
                "which is not installed.",
                hint="pip install 'proofstone[demo]'",
            ) from error


CARRIED: dict[str, tuple[Book, ...]] = {
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


def carried_books(name: str) -> tuple[Book, ...]:
    """The books under a name; none where no such name is carried."""
    return CARRIED.get(name, ())
