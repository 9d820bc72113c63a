"""Fact tables that come with the extra ``[demo]``: which books each name gives.

The facts are other people's (the packages mendeleev, countryinfo, pycountry); only the templates
in ``books/`` and what is left out are ours. See docs/fact-tables.md for what is left out and why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import PackageNotFoundError, version

from proofstone.errors import NotFound
from proofstone.methods.encyclo_k.tables.codes import country_codes, currency_codes, language_codes
from proofstone.methods.encyclo_k.tables.countries import countries
from proofstone.methods.encyclo_k.tables.elements import elements, elements_in_chinese
from proofstone.methods.encyclo_k.tables.template import Template, read_template
from proofstone.ports import Row

__all__ = ["CARRIED", "Book", "carried_books"]


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
