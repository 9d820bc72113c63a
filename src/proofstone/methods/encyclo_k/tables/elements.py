"""The chemical elements as mendeleev tells them, without what is doubtful there.

Its SQLite file is read in place: importing the package loads pandas and takes 2.4 s here, the file
20 ms. Left out, as None: values that are predictions or depend on a form the table does not fix.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from proofstone.errors import NotFound
from proofstone.ports import Row

__all__ = ["elements", "elements_in_chinese"]

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
    return [Row(f"element {record['atomic_number']}", _row(record)) for record in records]


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


def _row(record: Mapping[str, Any]) -> Values:
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
