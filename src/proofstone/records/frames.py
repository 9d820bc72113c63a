"""Columns as tables of pyarrow, pandas and polars, each imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from proofstone.errors import ExtraMissing

__all__ = ["Coded", "Columns", "arrow_table", "pandas_frame", "polars_frame"]


class Coded(NamedTuple):
    """A column of few different texts: each row's place among ``names``."""

    codes: Any
    names: tuple[str, ...]


Columns = Mapping[str, Any]  # Coded, or a sequence or array of values


def arrow_table(columns: Columns) -> Any:
    """A ``pyarrow.Table``; coded columns are dictionary-encoded. Raises ExtraMissing."""
    arrow = _module("pyarrow", "parquet")
    arrays = {
        name: arrow.DictionaryArray.from_arrays(column.codes, list(column.names))
        if isinstance(column, Coded)
        else arrow.array(column)
        for name, column in columns.items()
    }
    return arrow.table(arrays)


def pandas_frame(columns: Columns) -> Any:
    """A ``pandas.DataFrame``; coded columns are categorical. Raises ExtraMissing."""
    _module("pandas", "pandas")
    _module("pyarrow", "pandas")
    return arrow_table(columns).to_pandas()


def polars_frame(columns: Columns) -> Any:
    """A ``polars.DataFrame``; coded columns are categorical. Raises ExtraMissing."""
    polars = _module("polars", "polars")
    _module("pyarrow", "polars")
    return polars.from_arrow(arrow_table(columns))


def _module(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as cause:
        raise ExtraMissing(
            f"this needs {name}, which is not installed",
            hint=f"pip install 'proofstone[{extra}]'",
        ) from cause
